"""Indexing a source as the command does, and timing it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.indexing import index_sources
from rag_pipeline_tests.knowledge_base import KnowledgeBase

_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class TimedRun:
    """A source's account and the wall time of indexing it, in seconds.

    The time is that of `rag-pipeline index SOURCE` less Python's start and imports: it begins with reading
    the manifests and ends with the report, after every check has passed.
    """

    report: SourceReport
    seconds: float
    stages: Mapping[str, float]
    """Seconds of each stage, by what it shows as its progress."""


class _StageClock:
    """A Progress that only measures how long each stage takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage = ""

    def start(self, source_id: str, stage: str, total: int, unit: str) -> None:
        self._stage = stage
        self.seconds[stage] = -time.perf_counter()

    def advance(self, count: int = 1) -> None:
        pass

    def finish(self) -> None:
        self.seconds[self._stage] += time.perf_counter()


def index_timed(base: KnowledgeBase, source: str) -> TimedRun:
    """Index one source through Dagster in this process. Raises RuntimeError unless it reconciles."""
    clock = _StageClock()
    started = time.perf_counter()
    outcome = index_sources(base.settings, [source], clock)
    seconds = time.perf_counter() - started
    if not outcome.reconciled:
        raise RuntimeError(f"{source} was not reconciled: {outcome.errors or outcome.reports[source]}")
    return TimedRun(outcome.reports[source], seconds, clock.seconds)


def fixed_seconds(base: KnowledgeBase) -> float:
    """Wall time of indexing a source without documents: what every run costs whatever it holds.

    The knowledge base's instance, ledger and collection are created by a first run that does not count.
    """
    base.manifest(_NOTHING)
    index_timed(base, _NOTHING)
    return index_timed(base, _NOTHING).seconds
