"""The pipeline beside the bare work, on a machine that others use too."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.bare import BareTimes, time_bare_work
from benchmarks.running import fixed_seconds, index_timed
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Comparison:
    """Wall times in seconds: of the pipeline, of its run without documents, and of the bare work."""

    whole: float
    fixed: float
    bare: BareTimes
    stages: Mapping[str, float]
    """Where the pipeline's time went, by stage."""

    def __str__(self) -> str:
        bare = self.bare
        stages = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in self.stages.items())
        return (
            f"pipeline {self.whole:.2f} s ({stages}, Dagster's start {self.fixed:.2f}); "
            f"bare {bare.total:.2f} s (converting {bare.conversion:.2f}, embedding {bare.embedding:.2f}, "
            f"writing {bare.upsert:.2f}); {bare.points:,} chunks"
        )


def compare(new_base: Callable[[int], KnowledgeBase], source: str, repeats: int) -> Iterator[Comparison]:
    """Time the pipeline on a new knowledge base, then the bare work, and so on in turn."""
    for number in range(1, repeats + 1):
        base = new_base(number)
        fixed = fixed_seconds(base)
        run = index_timed(base, source)
        yield Comparison(run.seconds, fixed, time_bare_work(base, source), run.stages)


def quietest(compared: Sequence[Comparison]) -> Comparison:
    """The least of each time: other programs can only add to one, and spare each side at some time."""
    bare = min((one.bare for one in compared), key=lambda times: times.total)
    whole = min(compared, key=lambda one: one.whole)
    return Comparison(whole.whole, min(one.fixed for one in compared), bare, whole.stages)
