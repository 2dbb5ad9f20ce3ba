"""Conflicts between sources: are they told from harmless differences on labelled pairs?"""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure, at_least, noted
from rag_pipeline_tests.conflict_pairs import FLOORS, Pair, pairs, part_of, score


def measure(folder: Path) -> Iterator[Figure]:
    """Precision and recall on labelled pairs, those tuned on and those that were not; what a pair costs."""
    # Before anything else asks them: what was read of a passage is remembered.
    milliseconds = median(map(_milliseconds, pairs()))
    yield noted("processor time of a question with two passages (median)", f"{milliseconds:.1f} ms")
    for name, (precision, recall) in FLOORS.items():
        chosen = part_of(name)
        result = score(chosen)
        conflicts = sum(pair.is_conflict for pair in chosen)
        yield noted(f"{name}: pairs, of them conflicts", f"{len(chosen)}, {conflicts}")
        yield at_least(f"{name}: precision", result.precision, precision)
        yield at_least(f"{name}: recall", result.recall, recall)
        yield at_least(f"{name}: winner and rule right", result.winners, 0.95)


def _milliseconds(pair: Pair) -> float:
    started = time.process_time()
    pair.find()
    return 1000 * (time.process_time() - started)
