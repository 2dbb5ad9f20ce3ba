"""The pipeline's wall time over that of the bare work, on mixed formats with the bundled model."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.comparing import compare, quietest
from benchmarks.figures import Figure, at_most, noted
from benchmarks.material import SAMPLE_CORPUS, handbook_pages
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_REPEATS = 3
_PAGES = 25
_SUFFIXES = {".docx", ".xlsx", ".pptx", ".pdf"}
_MOST = 1.25


def measure(folder: Path) -> Iterator[Figure]:
    """From the call of `index` in a warm interpreter until the report is written."""
    with running_server(folder / "server") as server:
        compared = compare(partial(_new_base, folder, server), "mixed", _REPEATS)
    for number, one in enumerate(compared, 1):
        yield noted(f"repetition {number}", str(one))
    least = quietest(compared)
    yield at_most("pipeline over bare work", least.whole / least.bare.total, _MOST, " x")
    without = (least.whole - least.fixed) / least.bare.total
    yield noted("the same without Dagster's fixed start", f"{without:.2f} x")


def _new_base(folder: Path, server: StoreLocation, number: int) -> KnowledgeBase:
    alias = f"wall_{number}"
    base = KnowledgeBase(folder / alias, server, alias, embedding_provider="local", workers=2)
    pages = {file.name: file.read_bytes() for file in handbook_pages(_PAGES)}
    samples = {file.name: file.read_bytes() for file in SAMPLE_CORPUS.rglob("*") if file.suffix in _SUFFIXES}
    base.write("mixed", pages | samples)
    base.manifest("mixed")
    return base
