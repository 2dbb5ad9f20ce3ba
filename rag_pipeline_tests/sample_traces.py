"""Traces for tests, as the asking workflow would leave them."""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from rag_pipeline.query.trace import Attempt, CitedClaim, Outcome, StepTiming, Trace, UsedEvidence
from rag_pipeline_tests.knowledge_base import KnowledgeBase


def trace_of(evidence: Iterable[UsedEvidence] = (), **fields: Any) -> Trace:
    """An answer that cites all of its evidence, in one claim."""
    used = list(evidence)
    now = datetime.now(UTC)
    values: dict[str, Any] = {
        "trace_id": used[0].evidence_id.rpartition(":")[0] if used else uuid.uuid4().hex,
        "request_id": "request-1",
        "session_id": "session-1",
        "identity": "0123abcd",
        "started_at": now,
        "finished_at": now,
        "steps": [StepTiming(step="retrieve", milliseconds=3.5)],
        "question": "How long may hardware be returned?",
        "queries": ["How long may hardware be returned?"],
        "scope": {"as_of": "2026-11-30T00:00:00Z", "environment": None},
        "sources": ["refunds"],
        "generation": None,
        "evidence": used,
        "rejected": [],
        "notes": [],
        "tool_calls": [],
        "conflicts": [],
        "think_note": None,
        "prompt_version": None,
        "attempts": [Attempt(by="extractive", model=None, problems=[], text="Within 30 days.")],
        "citations": [CitedClaim(evidence_ids=[one.evidence_id for one in used], claim="Within 30 days.")],
        "outcome": Outcome.ANSWERED,
        "reason": "",
    }
    return Trace(**(values | fields))


def used_evidence(document_id: str, *, trace_id: str, label: str = "S1", **fields: Any) -> UsedEvidence:
    """Evidence that is in no store."""
    values: dict[str, Any] = {
        "label": label,
        "evidence_id": f"{trace_id}:{label}",
        "document_id": document_id,
        "source_id": document_id.partition("/")[0],
        "chunk_id": f"{document_id}:0123456789ab:0",
        "content_hash": "0123456789ab" + "0" * 52,
        "text_hash": "f" * 64,
        "relevance": 0.8,
        "score": 1.05,
        "reasons": {"relevance": 0.8, "trust": 0.25},
        "text": "Hardware goes back within 30 days.",
    }
    return UsedEvidence(**(values | fields))


def trace_from(base: KnowledgeBase, *document_ids: str, **fields: Any) -> Trace:
    """An answer from the first chunks of indexed documents, as they are in the live generation."""
    trace_id = uuid.uuid4().hex
    payloads = {one["document_id"]: one for one in base.points().values() if one["chunk_index"] == 0}
    evidence = [
        used_evidence(
            document_id,
            trace_id=trace_id,
            label=f"S{number}",
            **{
                name: payloads[document_id][name]
                for name in ("chunk_id", "content_hash", "text_hash", "text")
            },
        )
        for number, document_id in enumerate(document_ids, start=1)
    ]
    return trace_of(evidence, generation=base.collection, **fields)
