"""The steps of asking, in order. Each reads the record, adds its part, and may end the way."""

from collections.abc import Sequence
from dataclasses import replace

from rag_pipeline.errors import EmbeddingUnavailable, InvalidRequest, LedgerError, StoreError
from rag_pipeline.query.answering import answering
from rag_pipeline.query.answering.answering import Answering
from rag_pipeline.query.answering.refusing import degraded_notice, refusal
from rag_pipeline.query.conflicts.conflict import Policy
from rag_pipeline.query.conflicts.finding import find_conflicts
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.gathering import best_of_each, ranked, with_manifests
from rag_pipeline.query.planning import plan_queries
from rag_pipeline.query.planning_by_model import ModelPlanner
from rag_pipeline.query.record import Asking, AskServices, Step
from rag_pipeline.query.request import AskRequest, parse_request
from rag_pipeline.query.response import (
    AskResponse,
    as_of_note,
    both_sides,
    cited,
    decided,
    differing,
    differing_note,
    quoted,
    sides,
    sound,
)
from rag_pipeline.query.retrieving import retrieve_within
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.trace import Outcome, RejectedEvidence
from rag_pipeline.query.visibility import grants, hidden_sources, in_force
from rag_pipeline.sources.document import source_of

# How much of a request's time a model may plan for: one that hangs must leave enough to search and quote.
_PLANNING_SHARE = 0.25

# Tries of a store or embedding endpoint that does not answer, within the request's deadline.
_TRIES = 2
FOUND_PER_QUERY = 10
"""What each query brings to the ranking, where trust and freshness may still turn the order. As many as the
calibration was fitted to: the more are looked at, the more that is of no use passes the threshold."""


def validate_request(asking: Asking, services: AskServices) -> Asking:
    """The body as a request, or the end."""
    if isinstance(asking.body, AskRequest):
        return replace(asking, request=asking.body)
    try:
        return replace(asking, request=parse_request(asking.body))
    except InvalidRequest as error:
        return _invalid(asking, str(error))


def resolve_identity(asking: Asking, services: AskServices) -> Asking:
    """The bounds of every search: who asks, as the trusted layer says, and what the request narrows."""
    request = _request(asking)
    filters = request.filters
    return replace(
        asking,
        scope=Scope(
            identity=asking.identity,
            as_of=request.as_of or asking.started_at,
            environment=request.environment,
            audience=request.audience,
            source_ids=filters.sources or (),
            document_ids=filters.documents or (),
            source_types=filters.source_types or (),
            languages=filters.languages or (),
        ),
    )


def select_sources(asking: Asking, services: AskServices) -> Asking:
    """The sources that the caller may see and the request is about.

    A source that the caller may not see is answered like one that is not there.
    """
    scope = _scope(asking)
    manifests = services.manifests()
    visible = {source_id for source_id, one in manifests.items() if grants(one, scope)}
    hidden = hidden_sources(manifests, scope)
    if unknown := sorted(set(scope.source_ids) - visible):
        return _invalid(asking, f"filters.sources: there is no source {', '.join(unknown)} that you may see")
    if strangers := sorted(one for one in scope.document_ids if source_of(one) not in visible):
        return _invalid(
            asking, f"filters.documents: there is no document {', '.join(strangers)} that you may see"
        )
    sources = sorted(
        one
        for one in visible.difference(hidden)
        if (not scope.source_ids or one in scope.source_ids)
        and (not scope.source_types or manifests[one].source_type in scope.source_types)
    )
    asking = replace(
        asking,
        manifests=manifests,
        sources=tuple(sources),
        scope=replace(scope, hidden_sources=hidden),
    )
    return asking if sources else _no_evidence(asking, "no source that the caller may see is asked for")


def plan(asking: Asking, services: AskServices) -> Asking:
    """What is searched for."""
    request = _request(asking)
    deadline = Deadline(asking.deadline.remaining * _PLANNING_SHARE)
    planner = ModelPlanner(services.chat_model, deadline) if services.chat_model else None
    queries = plan_queries(request.question, request.queries, planner=planner)
    asked = planner is not None and planner.asked
    return replace(asking, queries=tuple(queries), planned_by_model=asked)


def search(asking: Asking, services: AskServices) -> Asking:
    """What each query finds, each by itself and all within the same bounds."""
    for attempt in range(1, _TRIES + 1):
        try:
            found = retrieve_within(
                _scope(asking), asking.queries, services, deadline=asking.deadline, limit=FOUND_PER_QUERY
            )
            return replace(asking, results=tuple(found.results), generation=found.generation)
        except (StoreError, EmbeddingUnavailable, LedgerError) as error:
            if attempt == _TRIES or not asking.deadline.remaining:
                return _ended(asking, Outcome.DEGRADED, f"{type(error).__name__}: {error}")
    raise AssertionError("the loop above returns")


def gather(asking: Asking, services: AskServices) -> Asking:
    """What was found, each chunk once, with the manifest of its source."""
    candidates, rejected = with_manifests(best_of_each(asking.results), asking.manifests or {})
    used = {one.chunk.chunk_id for one in candidates}
    refused = [
        RejectedEvidence(
            chunk_id=one.chunk_id, document_id=one.document_id, reason=one.reason, relevance=one.relevance
        )
        for result in asking.results
        for one in result.rejected
        # What one query rejects another may have found, or a neighbour brought along.
        if one.chunk_id not in used
    ]
    return _with_rejected(replace(asking, candidates=tuple(candidates)), [*refused, *rejected])


def filter_candidates(asking: Asking, services: AskServices) -> Asking:
    """What the manifests let through, asked once more of everything that goes on.

    The search left the others out already; if one came through all the same, not even its id is told.
    """
    scope = _scope(asking)
    allowed = tuple(one for one in asking.candidates if in_force(one.manifest, scope))
    asking = replace(asking, candidates=allowed)
    return asking if allowed else _no_evidence(asking, "nothing that was found is relevant enough")


def rank(asking: Asking, services: AskServices) -> Asking:
    """The best candidates as evidence, by relevance, trust and freshness."""
    evidence, rejected = ranked(
        asking.candidates,
        rules=services.ranking,
        trace_id=asking.trace_id,
        now=asking.started_at,
        limit=services.asking.max_evidence,
    )
    return _with_rejected(replace(asking, evidence=tuple(evidence)), rejected)


def detect_conflicts(asking: Asking, services: AskServices) -> Asking:
    """Where evidence differs on what is asked; a conflict that nothing decides is a person's."""
    found = find_conflicts(
        _request(asking).question, [one.evidence for one in asking.evidence], services.ranking.conflicts
    )
    asking = replace(asking, conflicts=found)
    open_ones = [one for one in found if one.policy is Policy.ESCALATE or one.winner is None]
    if not open_ones:
        return asking
    question = _request(asking).question
    claims = sound(sides(open_ones), _by_label(asking), question)
    return replace(
        asking,
        answer="\n".join(part for part in (_as_of(asking), both_sides(question, claims)) if part),
        claims=claims,
        outcome=Outcome.NEEDS_REVIEW,
        reason="sources differ: " + ", ".join(sorted({one.kind.value for one in open_ones})),
    )


def think(asking: Asking, services: AskServices) -> Asking:
    """Whether the evidence suffices, where a model judges it; what lost a conflict is left out."""
    lost = {label for conflict in asking.conflicts for label in conflict.withheld}
    begun = answering.answering(
        _request(asking).question,
        [one.evidence for one in asking.evidence if one.evidence.label not in lost],
        model=services.chat_model,
        deadline=asking.deadline,
        context_tokens=services.asking.context_tokens,
        keep_texts=services.asking.trace_texts,
        # What a caller asks to be searched for need be no part of the question.
        clauses=() if _request(asking).queries else asking.queries[1:],
    )
    return _answered(asking, answering.think(begun))


def draft(asking: Asking, services: AskServices) -> Asking:
    """An answer from the evidence that stands, worded by the model or quoted."""
    return _answered(asking, answering.draft(_answering(asking)))


def validate(asking: Asking, services: AskServices) -> Asking:
    """The answer as it may be shown: its draft, if valid, and what the conflicts add to it."""
    asking = _answered(asking, answering.validate(_answering(asking)))
    record = _answering(asking)
    if record.draft is None:
        return asking
    question = record.question
    evidence = _by_label(asking)
    won = sound(decided(asking.conflicts, record.draft.text), evidence, question)
    others = sound(differing(asking.conflicts), evidence, question)
    parts = [
        _as_of(asking),
        degraded_notice(question) if record.model_down else "",
        quoted(won),
        record.draft.text,
        differing_note(question, others),
    ]
    return replace(
        asking,
        answer="\n".join(part for part in parts if part),
        claims=(*won, *record.draft.claims, *others),
    )


STEPS: Sequence[tuple[str, Step]] = (
    ("validate request", validate_request),
    ("resolve identity", resolve_identity),
    ("select allowed sources", select_sources),
    ("plan queries", plan),
    ("retrieve", search),
    ("normalize evidence", gather),
    ("filter evidence", filter_candidates),
    ("score and rank", rank),
    ("detect conflicts", detect_conflicts),
    ("think", think),
    ("answer under citation constraints", draft),
    ("validate citations", validate),
)


def respond(asking: Asking) -> AskResponse:
    """The public part of a finished record."""
    if asking.outcome is None:
        raise ValueError("a request that no step ended has no response")
    return AskResponse(
        answered=asking.outcome in (Outcome.ANSWERED, Outcome.DEGRADED) and bool(asking.claims),
        outcome=asking.outcome,
        answer=asking.answer,
        citations=cited(asking.claims, _by_label(asking)),
        trace_id=asking.trace_id,
    )


def _answered(asking: Asking, record: Answering) -> Asking:
    """What came of answering so far; an outcome without an answer ends the way with one sentence."""
    asking = replace(asking, answering=record)
    if record.outcome is None or record.draft:
        return replace(asking, outcome=record.outcome, reason=record.reason)
    return _ended(asking, record.outcome, record.reason)


def _by_label(asking: Asking) -> dict[str, Evidence]:
    return {one.evidence.label: one.evidence for one in asking.evidence}


def _as_of(asking: Asking) -> str:
    """What an answer about another day begins with; nothing where today is meant."""
    request = _request(asking)
    return as_of_note(request.question, _scope(asking).as_of) if request.as_of else ""


def _with_rejected(asking: Asking, more: Sequence[RejectedEvidence]) -> Asking:
    return replace(asking, rejected=(*asking.rejected, *more))


def _invalid(asking: Asking, reason: str) -> Asking:
    return replace(asking, outcome=Outcome.INVALID_REQUEST, reason=reason, answer=reason)


def _no_evidence(asking: Asking, reason: str) -> Asking:
    return _ended(asking, Outcome.NO_EVIDENCE, reason)


def _ended(asking: Asking, outcome: Outcome, reason: str) -> Asking:
    return replace(asking, outcome=outcome, answer=refusal(outcome, _request(asking).question), reason=reason)


def _request(asking: Asking) -> AskRequest:
    if asking.request is None:
        raise ValueError("the request is validated first")
    return asking.request


def _scope(asking: Asking) -> Scope:
    if asking.scope is None:
        raise ValueError("the identity is resolved first")
    return asking.scope


def _answering(asking: Asking) -> Answering:
    if asking.answering is None:
        raise ValueError("the answer is begun by the step think")
    return asking.answering
