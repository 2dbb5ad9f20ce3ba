"""What the pipeline itself costs a chunk, and whether that grows with the size of a source."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.bare import time_bare_work
from benchmarks.figures import Figure, at_most, noted
from benchmarks.material import handbook_editions
from benchmarks.running import fixed_seconds, index_timed
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_REPEATS = {40: 5, 2_000: 2}
"""How often each size is measured: the small one more often, since little noise is much of it."""
_MOST_MS = 5.0
_MOST_GROWTH = 1.2


def measure(folder: Path) -> Iterator[Figure]:
    """Wall time less conversion, embedding, writing and Dagster's start, over the number of chunks."""
    overheads: list[float] = []
    with running_server(folder / "server") as server:
        for pages, repeats in _REPEATS.items():
            measured = [_overhead_ms(folder, server, pages, number) for number in range(1, repeats + 1)]
            overheads.append(median(measured))
            yield noted(f"{pages:,} pages, each time", ", ".join(f"{one:.2f} ms" for one in measured))
            yield at_most(f"{pages:,} pages: own overhead a chunk", overheads[-1], _MOST_MS, " ms")
    small, large = overheads
    yield at_most("growth from the small source to the large", large / small, _MOST_GROWTH, " x")


def _overhead_ms(folder: Path, server: StoreLocation, pages: int, number: int) -> float:
    alias = f"overhead_{pages}_{number}"
    base = KnowledgeBase(folder / alias, server, alias, workers=2)
    base.write("handbook", dict(handbook_editions(pages)))
    base.manifest("handbook")
    fixed = fixed_seconds(base)
    whole = index_timed(base, "handbook").seconds
    bare = time_bare_work(base, "handbook")
    return (whole - fixed - bare.total) / bare.points * 1_000
