"""Asking the cases of question sets, one after the other, and judging what comes of each."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qdrant_client import QdrantClient

from rag_pipeline.errors import RagPipelineError
from rag_pipeline.evaluation.case import Case
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.result import CaseResult
from rag_pipeline.evaluation.scoring import Observed, judged, lost
from rag_pipeline.evaluation.surroundings import Surroundings
from rag_pipeline.evaluation.watching import forbidden_documents
from rag_pipeline.query.asking import Asked, ask_in_full
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.request import AskRequest
from rag_pipeline.query.trace import Trace
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)

OnCase = Callable[[], None]
"""Told whenever a case was asked."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A case as it was answered, and the points that Qdrant handed back meanwhile; or why there is none."""

    case: Case
    milliseconds: float
    asked: Asked | None = None
    trace: Trace | None = None
    points: frozenset[str] = frozenset()
    error: str = ""


def ask_cases(
    sets: Sequence[NamedSet], services: Services, generation: str, on_case: OnCase = lambda: None
) -> list[CaseResult]:
    """Ask every case of a generation. One that raises is a result too, and stops no other."""
    surroundings = Surroundings(services, generation)
    asked = []
    for named in sets:
        for case in named.questions.cases:
            asked.append((named.name, _asked(named.name, case, surroundings)))
            on_case()
    # Together at the end: an embedded store takes longer to open than to ask.
    with services.open_store(wait_seconds=services.settings.lock_wait_s) as client:
        return [_result(set_name, one, client, generation) for set_name, one in asked]


def asked_as(case: Case) -> tuple[AskRequest, Identity]:
    """The request of a case, and who makes it."""
    request = AskRequest(
        question=case.question,
        queries=case.queries,
        as_of=case.as_of,
        audience=case.audience,
        environment=case.environment,
    )
    return request, Identity("evaluation", frozenset(case.groups), case.tenant)


def _asked(set_name: str, case: Case, surroundings: Surroundings) -> _Asked:
    request, identity = asked_as(case)
    surroundings.outage = case.outage
    surroundings.points_seen.clear()
    started = time.perf_counter()
    try:
        asked = ask_in_full(request, identity, surroundings)
        milliseconds = _milliseconds(started)
        trace = surroundings.trace_recorder.take()
    except Exception as error:  # noqa: BLE001 - whatever a case raises is what is wrong with it
        # Errors of ours are written for people; of others only their kind is safe to show.
        told = str(error) if isinstance(error, RagPipelineError) else type(error).__name__
        logger.warning("The case %s/%s ended by an error: %s", set_name, case.id, told)
        return _Asked(case, _milliseconds(started), error=told)
    return _Asked(case, milliseconds, asked, trace, frozenset(surroundings.points_seen))


def _result(set_name: str, one: _Asked, client: QdrantClient, generation: str) -> CaseResult:
    if one.asked is None or one.trace is None:
        return lost(set_name, one.case, one.error, one.milliseconds)
    scope = one.asked.record.scope
    forbidden = forbidden_documents(client, generation, one.points, scope) if scope else []
    return judged(
        set_name,
        one.case,
        Observed(one.asked.response, one.asked.record, one.trace, tuple(forbidden), one.milliseconds),
    )


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
