"""Peak memory of indexing: ten times the documents must not take much more."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, at_most, noted
from benchmarks.material import generated_pages
from benchmarks.peak_memory import peak_resident_bytes
from benchmarks.running import index_timed
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_FEW, _MANY = 500, 5_000
_MOST_GROWTH = 1.3
_MEBIBYTE = 1024 * 1024


def measure(folder: Path) -> Iterator[Figure]:
    """Peak resident memory of the indexing process and its workers; the server's is not counted."""
    with running_server(folder / "server") as server:
        few, many = (_peak(folder / str(pages), server, pages) for pages in (_FEW, _MANY))
    yield noted(f"peak with {_FEW:,} documents", f"{few / _MEBIBYTE:,.0f} MiB")
    yield noted(f"peak with {_MANY:,} documents", f"{many / _MEBIBYTE:,.0f} MiB")
    yield at_most(f"{_MANY:,} documents over {_FEW:,}", many / few, _MOST_GROWTH, " x")


def _peak(folder: Path, server: StoreLocation, pages: int) -> int:
    base = KnowledgeBase(folder)
    base.write("generated", dict(generated_pages(pages)))
    base.manifest("generated")
    return peak_resident_bytes(_index, folder, server, f"memory_{pages}")


def _index(folder: Path, server: StoreLocation, alias: str) -> None:
    index_timed(KnowledgeBase(folder, server, alias, workers=2), "generated")
