"""The trace of a finished request: what each step found out, as it is kept."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rag_pipeline.query.answering.prompts import PROMPT_VERSION
from rag_pipeline.query.conflicts.conflict import Conflict
from rag_pipeline.query.gathering import Ranked
from rag_pipeline.query.record import Asking
from rag_pipeline.query.request import MAX_QUESTION
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.trace import CitedClaim, RecordedConflict, RecordedPosition, Trace, UsedEvidence


def trace_of(asking: Asking) -> Trace:
    """The record to keep of a request that has ended; raises ValueError if it has not."""
    if asking.outcome is None:
        raise ValueError("a request that no step ended has no trace")
    answering = asking.answering
    return Trace(
        trace_id=asking.trace_id,
        request_id=asking.request_id or asking.trace_id,
        session_id=asking.request.session_id if asking.request else None,
        identity=asking.identity.digest,
        started_at=asking.started_at,
        finished_at=datetime.now(UTC),
        steps=list(asking.timings),
        question=_question(asking),
        queries=list(asking.queries),
        scope=_scope(asking.scope),
        sources=list(asking.sources),
        generation=asking.generation,
        evidence=[_used(one) for one in asking.evidence],
        rejected=list(asking.rejected),
        notes=list(dict.fromkeys(note for result in asking.results for note in result.notes)),
        tool_calls=[],
        conflicts=[_conflict(one) for one in asking.conflicts],
        think_note=answering.think_note if answering else None,
        prompt_version=PROMPT_VERSION if _model_asked(asking) else None,
        attempts=list(answering.attempts) if answering else [],
        citations=[
            CitedClaim(
                evidence_ids=[f"{asking.trace_id}:{label}" for label in claim.labels],
                claim=claim.text,
            )
            for claim in asking.claims
        ],
        outcome=asking.outcome,
        reason=asking.reason,
    )


def _model_asked(asking: Asking) -> bool:
    answering = asking.answering
    return asking.planned_by_model or (
        answering is not None
        and (answering.think_note is not None or any(one.by == "openai" for one in answering.attempts))
    )


def _question(asking: Asking) -> str:
    """What was asked; of a request that could not be used, as much of it as a request may have."""
    if asking.request:
        return asking.request.question
    given = asking.body.get("question") if isinstance(asking.body, dict) else None
    return given[:MAX_QUESTION].encode(errors="replace").decode() if isinstance(given, str) else ""


# The caller is told as a hash, and what may not be seen not at all.
_UNTOLD = frozenset({"identity", "hidden_sources"})


def _scope(scope: Scope | None) -> dict[str, Any]:
    if scope is None:
        return {}
    narrowed = {name: value for name, value in asdict(scope).items() if value and name not in _UNTOLD}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in narrowed.items()} | {
        "as_of": scope.as_of.isoformat()
    }


def _used(one: Ranked) -> UsedEvidence:
    evidence = one.evidence
    return UsedEvidence(
        label=evidence.label,
        evidence_id=evidence.evidence_id,
        document_id=evidence.document_id,
        source_id=evidence.source_id,
        chunk_id=evidence.chunk_id,
        content_hash=evidence.content_hash,
        text_hash=one.text_hash,
        relevance=evidence.relevance,
        score=evidence.score,
        reasons=dict(one.parts),
        text=evidence.text,
    )


def _conflict(conflict: Conflict) -> RecordedConflict:
    return RecordedConflict(
        kind=conflict.kind,
        winner=conflict.winner,
        decided_by=conflict.decided_by,
        policy=conflict.policy,
        positions=[RecordedPosition(**asdict(position)) for position in conflict.positions],
    )
