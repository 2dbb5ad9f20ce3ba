"""The stored record of one request: enough to walk back from the answer to the files.

What was asked is always kept; texts of documents and answers only where RAG_TRACE_TEXTS is on.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Outcome(StrEnum):
    """How a request ended."""

    ANSWERED = "answered"
    NO_EVIDENCE = "no_evidence"
    INSUFFICIENT = "insufficient"
    NEEDS_REVIEW = "needs_review"
    REFUSED = "refused"
    DEGRADED = "degraded"
    INVALID_REQUEST = "invalid_request"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StepTiming(_Record):
    """A step of the workflow and how long it took, in milliseconds."""

    step: str
    milliseconds: float


class UsedEvidence(_Record):
    """Evidence that was ranked: ids, hashes and scores. `text` only where RAG_TRACE_TEXTS is on.

    `reasons` explain the score, part by part.
    """

    label: str
    evidence_id: str
    document_id: str
    source_id: str
    chunk_id: str
    content_hash: str
    text_hash: str
    relevance: float
    score: float
    reasons: dict[str, float]
    text: str | None = None


class RejectedEvidence(_Record):
    """A candidate that did not become evidence, and why."""

    chunk_id: str
    document_id: str
    reason: str
    relevance: float | None = None


class RecordedPosition(_Record):
    """What one piece of evidence says in a conflict. The sentence only where texts are kept."""

    label: str
    document_id: str
    shown: str
    followed: bool
    sentence: str | None = None


class RecordedConflict(_Record):
    """Sources that differ, and the rule that was applied: `winner` is followed because of `decided_by`."""

    kind: str
    winner: str | None
    decided_by: str | None
    policy: str
    positions: list[RecordedPosition]


class Attempt(_Record):
    """One draft of an answer, and what its validation found wrong with it. Nothing wrong: it was used."""

    by: Literal["extractive", "openai"]
    model: str | None
    problems: list[str]
    text: str | None = None


class CitedClaim(_Record):
    """A claim of the final answer and the evidence that it cites. Its text only where texts are kept."""

    evidence_ids: list[str]
    claim: str | None = None


class Trace(_Record):
    """One request, from question to outcome."""

    trace_id: str
    request_id: str
    session_id: str | None
    identity: str
    started_at: datetime
    finished_at: datetime
    steps: list[StepTiming]
    question: str
    queries: list[str]
    scope: dict[str, Any]
    sources: list[str]
    generation: str | None
    evidence: list[UsedEvidence]
    rejected: list[RejectedEvidence]
    notes: list[str]
    """What went wrong on the way without ending it, such as a reranker that failed."""
    tool_calls: list[dict[str, Any]]
    conflicts: list[RecordedConflict]
    think_note: str | None
    prompt_version: int | None
    attempts: list[Attempt]
    citations: list[CitedClaim]
    outcome: Outcome
    reason: str
