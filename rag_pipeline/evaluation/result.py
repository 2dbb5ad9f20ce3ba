"""What an evaluation found: of every case, in sums, and at the gates. All of it is stored as JSON."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from rag_pipeline.evaluation.case import Category
from rag_pipeline.query.response import Citation
from rag_pipeline.query.trace import Outcome, Trace


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class CaseResult(_Record):
    """One case as it was asked.

    `scores` hold the metrics that apply to the case, each 0 to 1, by name. A case that raised has an `error`
    and neither a trace nor scores. `failures` say in words what was wrong; nothing if it passed.
    """

    case_id: str
    set_name: str
    category: Category
    language: str
    sources: tuple[str, ...]
    question: str
    groups: tuple[str, ...]
    expected: tuple[Outcome, ...]
    required: tuple[str, ...]
    """The documents that had to be found."""
    reference: str | None = None
    outcome: Outcome | None = None
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    milliseconds: float
    scores: Mapping[str, float]
    failures: tuple[str, ...]
    error: str | None = None
    trace: Trace | None = None
    """With the texts of its evidence, whatever RAG_TRACE_TEXTS says."""

    @property
    def key(self) -> str:
        """The case among all sets."""
        return f"{self.set_name}/{self.case_id}"

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
        return not self.failures and self.error is None


class Metric(_Record):
    """A mean over the cases to which a metric applies, with its 95 % bootstrap interval.

    Latencies are quantiles in milliseconds; all others are 0 to 1.
    """

    name: str
    n: int
    value: float
    low: float
    high: float


class Dimension(StrEnum):
    """By what cases are grouped."""

    ALL = "all"
    CATEGORY = "category"
    LANGUAGE = "language"
    SOURCE = "source"


class Slice(_Record):
    """The metrics of some cases: of all, of a category, a language or a source."""

    dimension: Dimension
    name: str
    n: int
    passed: int
    errored: int
    refused: int
    metrics: tuple[Metric, ...]

    def metric(self, name: str) -> Metric | None:
        """The metric of this name; None where it applies to no case."""
        return next((one for one in self.metrics if one.name == name), None)


class LifecycleResult(_Record):
    """A lifecycle case: what was wrong, in words; nothing if it passed."""

    case_id: str
    set_name: str
    action: str
    document: str
    failures: tuple[str, ...]
    error: str | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
        return not self.failures and self.error is None


class Severity(StrEnum):
    """Whether a gate that does not hold stops a promotion or only warns."""

    ERROR = "error"
    WARN = "warn"


class GateResult(_Record):
    """One gate: what was measured, what is allowed, and the cases that are to blame."""

    name: str
    passed: bool
    severity: Severity
    message: str
    value: float | None = None
    bound: float | None = None
    cases: tuple[str, ...] = ()


class Comparison(_Record):
    """How this evaluation differs from another one, on the cases that both have."""

    other: str
    """What it is compared with, in words."""
    n: int
    better: tuple[str, ...]
    """Cases that passed here and not there."""
    worse: tuple[str, ...]
    """Cases that passed there and not here."""
    metrics: Mapping[str, tuple[float, float, float]]
    """By name: the mean here, the mean there, and the probability of such a loss by chance."""


class Evaluation(_Record):
    """One run of question sets against one generation."""

    evaluation_id: str
    started_at: datetime
    seconds: float
    alias: str
    generation: str
    fingerprint: str
    embedding_model: str
    answering_model: str
    sets: tuple[str, ...]
    slices: tuple[Slice, ...]
    cases: tuple[CaseResult, ...]
    lifecycle: tuple[LifecycleResult, ...] = ()
    gates: tuple[GateResult, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no gate that stops a promotion is broken."""
        return all(one.passed or one.severity is Severity.WARN for one in self.gates)

    @property
    def overall(self) -> Slice:
        """The slice of all cases."""
        return next(one for one in self.slices if one.dimension is Dimension.ALL)
