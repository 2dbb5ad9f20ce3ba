"""One request on its way through the steps, and what the steps need around them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from qdrant_client import QdrantClient

from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.answering.answering import Answering
from rag_pipeline.query.answering.draft import Claim
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.conflicts.conflict import Conflict
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.gathering import Candidate, Ranked
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.ranking import RankingRules
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.request import AskRequest
from rag_pipeline.query.results import QueryResult
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline.query.trace import Outcome, RejectedEvidence, StepTiming, Trace
from rag_pipeline.sources.manifest import Manifest


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The settings of asking."""

    alias: str
    """What readers read by."""
    deadline_seconds: float
    max_evidence: int
    context_tokens: int
    trace_texts: bool
    generation: str | None = None
    """The generation to ask in place of the one that the alias names, to judge it before readers see it."""


class Recorder(Protocol):
    """Where traces go."""

    def record(self, trace: Trace) -> None:
        """Keep a trace; raises LedgerError where that fails."""


class AskServices(Protocol):
    """What the steps need: all of it is opened when first used."""

    @property
    def asking(self) -> AskOptions:
        """The settings of asking."""

    @property
    def ledger(self) -> Ledger:
        """What is indexed."""

    @property
    def trace_recorder(self) -> Recorder:
        """Where traces go."""

    @property
    def ranking(self) -> RankingRules:
        """What decides the order of evidence."""

    @property
    def chat_model(self) -> ChatModel | None:
        """The language model that words answers; none: answers are quotations."""

    @property
    def baselines(self) -> Baselines:
        """What signals are measured against, kept from one request to the next."""

    def retrieval_options(self, *, limit: int) -> RetrievalOptions:
        """How much a search hands on of what it finds."""

    def manifests(self) -> Mapping[str, Manifest]:
        """The manifests as they are now, by source id."""

    def embedder_of(self, model: Mapping[str, Any]) -> Embedder:
        """The embedder of a generation."""

    def open_store(self, *, wait_seconds: float) -> AbstractContextManager[QdrantClient]:
        """Qdrant; an embedded store's lock is waited for no longer than this."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What is known of a request so far. Each step adds its part; the first outcome ends the way."""

    trace_id: str
    request_id: str | None
    body: AskRequest | Mapping[str, Any]
    identity: Identity
    started_at: datetime
    deadline: Deadline
    request: AskRequest | None = None
    scope: Scope | None = None
    manifests: Mapping[str, Manifest] | None = None
    sources: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    planned_by_model: bool = False
    generation: str | None = None
    results: tuple[QueryResult, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    evidence: tuple[Ranked, ...] = ()
    rejected: tuple[RejectedEvidence, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    answering: Answering | None = None
    answer: str = ""
    claims: tuple[Claim, ...] = ()
    outcome: Outcome | None = None
    reason: str = ""
    timings: tuple[StepTiming, ...] = ()


Step = Callable[[Asking, AskServices], Asking]
"""One step of asking: the record as it was before and the surroundings, to the record after it."""
