"""The pipeline's wall time over that of the bare work, on mixed formats with the bundled model."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.comparing import Comparison, compare, quietest
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
    compared: list[Comparison] = []
    with running_server(folder / "server") as server:
        for one in compare(partial(_new_base, folder, server), "mixed", _REPEATS):
            compared.append(one)
            yield noted(f"repetition {len(compared)}", str(one))
    least = quietest(compared)
    yield at_most("pipeline over bare work", least.whole / least.bare.total, _MOST, " x")
    without = (least.whole - least.fixed) / least.bare.total
    yield noted("the same without Dagster's fixed start", f"{without:.2f} x")
    yield noted("the same with one embedding time for both", f"{_ratio_at_equal_embedding(compared):.2f} x")


def _ratio_at_equal_embedding(compared: Sequence[Comparison]) -> float:
    """Both embed the same texts in the same batches: that part, by far the longest, differs only by noise."""
    embedding = min(min(one.stages["embedding"], one.bare.embedding) for one in compared)
    own = min(one.whole - one.stages["embedding"] for one in compared)
    bare = min(one.bare.total - one.bare.embedding for one in compared)
    return (own + embedding) / (bare + embedding)


def _new_base(folder: Path, server: StoreLocation, number: int) -> KnowledgeBase:
    alias = f"wall_{number}"
    base = KnowledgeBase(folder / alias, server, alias, embedding_provider="local", workers=2)
    pages = {file.name: file.read_bytes() for file in handbook_pages(_PAGES)}
    samples = {file.name: file.read_bytes() for file in SAMPLE_CORPUS.rglob("*") if file.suffix in _SUFFIXES}
    base.write("mixed", pages | samples)
    base.manifest("mixed")
    return base
