"""What the pipeline itself costs a chunk, and whether that grows with the size of a source."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.comparing import compare, quietest
from benchmarks.figures import Figure, at_most, noted
from benchmarks.material import handbook_editions
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
            new_base = partial(_new_base, folder, server, pages)
            least = quietest(list(compare(new_base, "handbook", repeats)))
            own = least.whole - least.fixed - least.bare.total
            overheads.append(own / least.bare.points * 1_000)
            yield noted(f"{pages:,} pages, least of {repeats}", str(least))
            yield at_most(f"{pages:,} pages: own overhead a chunk", overheads[-1], _MOST_MS, " ms")
    small, large = overheads
    yield at_most("growth from the small source to the large", large / small, _MOST_GROWTH, " x")


def _new_base(folder: Path, server: StoreLocation, pages: int, number: int) -> KnowledgeBase:
    alias = f"overhead_{pages}_{number}"
    base = KnowledgeBase(folder / alias, server, alias, workers=2)
    base.write("handbook", dict(handbook_editions(pages)))
    base.manifest("handbook")
    return base
