"""Asking: a list of steps over one record, from the request's body to the answer and its trace."""

import logging
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from rag_pipeline.errors import LedgerError
from rag_pipeline.query.answering.refusing import refusal
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.record import Asking, AskServices
from rag_pipeline.query.request import AskRequest
from rag_pipeline.query.response import AskResponse
from rag_pipeline.query.spans import step_span
from rag_pipeline.query.steps import STEPS, respond
from rag_pipeline.query.trace import Outcome, StepTiming
from rag_pipeline.query.trace_of import trace_of

logger = logging.getLogger(__name__)


class Asked(NamedTuple):
    """What the asker gets, and the whole record of how it came about."""

    response: AskResponse
    record: Asking


def ask(
    request: AskRequest | Mapping[str, Any],
    identity: Identity,
    services: AskServices,
    *,
    request_id: str | None = None,
) -> AskResponse:
    """Answer one request as the caller may know it, and record how that came about.

    A body that cannot be used, no evidence, conflicts that a person must decide and outages are outcomes of
    the response. An answer that cannot be recorded is not given: without its trace nobody could say later why
    it was given. Raises ConfigurationError where nothing is indexed, or a setting is wrong.
    """
    return ask_in_full(request, identity, services, request_id=request_id).response


def ask_in_full(
    request: AskRequest | Mapping[str, Any],
    identity: Identity,
    services: AskServices,
    *,
    request_id: str | None = None,
) -> Asked:
    """As `ask`, and what is known inside: for whoever judges answers, never for whoever asks."""
    asking = Asking(
        trace_id=uuid.uuid4().hex,
        request_id=request_id,
        body=request,
        identity=identity,
        started_at=datetime.now(UTC),
        deadline=Deadline(services.asking.deadline_seconds),
    )
    try:
        asking = _through_steps(asking, services)
    except Exception as error:
        # What a step did not foresee is raised as it is, and the request has a trace all the same.
        broken = replace(asking, outcome=Outcome.DEGRADED, reason=f"ended by {type(error).__name__}")
        _recorded(broken, services)
        raise
    if _recorded(asking, services):
        return Asked(respond(asking), asking)
    withheld = AskResponse(
        answered=False,
        outcome=Outcome.DEGRADED,
        answer=refusal(Outcome.DEGRADED, asking.request.question if asking.request else ""),
        citations=(),
        trace_id=asking.trace_id,
    )
    return Asked(withheld, asking)


def _through_steps(asking: Asking, services: AskServices) -> Asking:
    """The record after the step that set its outcome."""
    timings: list[StepTiming] = []
    with step_span("ask", trace_id=asking.trace_id):
        for name, step in STEPS:
            if asking.outcome is not None:
                break
            began = time.perf_counter()
            with step_span(name, trace_id=asking.trace_id):
                asking = step(asking, services)
            milliseconds = round((time.perf_counter() - began) * 1000, 3)
            timings.append(StepTiming(step=name, milliseconds=milliseconds))
    return replace(asking, timings=tuple(timings))


def _recorded(asking: Asking, services: AskServices) -> bool:
    """Whether the trace of a request could be stored."""
    try:
        services.trace_recorder.record(trace_of(asking))
    except LedgerError as error:
        logger.error("Trace %s cannot be recorded, so its answer is withheld: %s", asking.trace_id, error)
        return False
    return True
