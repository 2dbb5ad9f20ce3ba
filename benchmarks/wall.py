"""The pipeline's wall time over that of the bare work, on mixed formats with the bundled model."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.bare import BareTimes, time_bare_work
from benchmarks.figures import Figure, at_most, noted
from benchmarks.material import SAMPLE_CORPUS, handbook_pages
from benchmarks.running import fixed_seconds, index_timed
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_REPEATS = 3
_PAGES = 25
_SUFFIXES = {".docx", ".xlsx", ".pptx", ".pdf"}
_MOST = 1.25


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Wall times of one repetition, in seconds."""

    whole: float
    fixed: float
    bare: BareTimes

    @property
    def ratio(self) -> float:
        return self.whole / self.bare.total

    @property
    def ratio_without_start(self) -> float:
        return (self.whole - self.fixed) / self.bare.total

    def __str__(self) -> str:
        bare = self.bare
        return (
            f"{self.whole:.1f} s, of which Dagster's start {self.fixed:.1f} s; bare {bare.total:.1f} s "
            f"(converting {bare.conversion:.1f}, embedding {bare.embedding:.1f}, writing {bare.upsert:.2f}; "
            f"{bare.points} chunks)"
        )


def measure(folder: Path) -> Iterator[Figure]:
    """The median of some repetitions; pipeline and bare work alternate, so that both get the same machine."""
    with running_server(folder / "server") as server:
        compared = [_compare(folder, server, number) for number in range(1, _REPEATS + 1)]
    for number, one in enumerate(compared, 1):
        yield noted(f"repetition {number}", str(one))
    yield at_most("pipeline over bare work", median(one.ratio for one in compared), _MOST, " x")
    without = median(one.ratio_without_start for one in compared)
    yield noted("the same without Dagster's fixed start", f"{without:.2f} x")


def _compare(folder: Path, server: StoreLocation, number: int) -> _Comparison:
    alias = f"wall_{number}"
    base = KnowledgeBase(folder / alias, server, alias, embedding_provider="local", workers=2)
    pages = {file.name: file.read_bytes() for file in handbook_pages(_PAGES)}
    samples = {file.name: file.read_bytes() for file in SAMPLE_CORPUS.rglob("*") if file.suffix in _SUFFIXES}
    base.write("mixed", pages | samples)
    base.manifest("mixed")
    fixed = fixed_seconds(base)
    whole = index_timed(base, "mixed").seconds
    return _Comparison(whole, fixed, time_bare_work(base, "mixed"))
