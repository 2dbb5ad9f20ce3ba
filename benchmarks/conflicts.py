"""Conflicts between sources: are they told from harmless differences on labelled pairs?"""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure, at_least, noted
from rag_pipeline_tests.conflict_pairs import Pair, pairs, score

_FLOORS = {"tuned on": (0.95, 0.95), "held out": (0.9, 0.85)}
"""Precision and recall. Those of the held-out third say what to expect of other texts."""


def measure(folder: Path) -> Iterator[Figure]:
    """Precision and recall on labelled pairs, those tuned on and those held out, and what a pair costs."""
    labelled = list(pairs())
    parts = {
        "tuned on": [p for p in labelled if not p.held_out],
        "held out": [p for p in labelled if p.held_out],
    }
    for name, chosen in parts.items():
        yield from _measure_part(name, chosen)
    yield noted(
        "a question with two passages takes (median)", f"{median(map(_milliseconds, labelled)):.1f} ms"
    )


def _measure_part(name: str, chosen: list[Pair]) -> Iterator[Figure]:
    precision, recall = _FLOORS[name]
    result = score(chosen)
    conflicts = sum(pair.is_conflict for pair in chosen)
    yield noted(f"{name}: pairs, of them conflicts", f"{len(chosen)}, {conflicts}")
    yield at_least(f"{name}: precision", result.precision, precision)
    yield at_least(f"{name}: recall", result.recall, recall)
    yield at_least(f"{name}: winner and rule right", result.winners, 0.95)


def _milliseconds(pair: Pair) -> float:
    started = time.perf_counter()
    pair.find()
    return 1000 * (time.perf_counter() - started)
