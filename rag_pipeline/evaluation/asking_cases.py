"""Asking the cases of question sets, one after the other, and judging what comes of each."""

import logging
import time
from collections.abc import Callable, Sequence

from rag_pipeline.errors import RagPipelineError
from rag_pipeline.evaluation.case import Case
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.result import CaseResult
from rag_pipeline.evaluation.scoring import Observed, judged, lost
from rag_pipeline.evaluation.surroundings import Surroundings
from rag_pipeline.evaluation.watching import forbidden_documents
from rag_pipeline.query.asking import ask_in_full
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.request import AskRequest
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)

OnCase = Callable[[CaseResult], None]
"""Told of each case once it was asked."""


def ask_cases(
    sets: Sequence[NamedSet], services: Services, generation: str, on_case: OnCase = lambda _: None
) -> list[CaseResult]:
    """Ask every case of a generation. One that raises is a result too, and stops no other."""
    surroundings = Surroundings(services, generation)
    results = []
    for named in sets:
        for case in named.questions.cases:
            results.append(_result(named.name, case, surroundings, generation))
            on_case(results[-1])
    return results


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


def _result(set_name: str, case: Case, surroundings: Surroundings, generation: str) -> CaseResult:
    started = time.perf_counter()
    try:
        observed = _observed(case, surroundings, generation)
    except Exception as error:  # noqa: BLE001 - whatever a case raises is what is wrong with it
        logger.warning("The case %s/%s ended by an error: %s", set_name, case.id, error)
        # Errors of ours are written for people; of others only their kind is safe to show.
        told = str(error) if isinstance(error, RagPipelineError) else type(error).__name__
        return lost(set_name, case, told, _milliseconds(started))
    return judged(set_name, case, observed)


def _observed(case: Case, surroundings: Surroundings, generation: str) -> Observed:
    request, identity = asked_as(case)
    surroundings.outage = case.outage
    surroundings.points_seen.clear()
    started = time.perf_counter()
    asked = ask_in_full(request, identity, surroundings)
    milliseconds = _milliseconds(started)
    trace = surroundings.trace_recorder.take()
    forbidden: Sequence[str] = ()
    if asked.record.scope and surroundings.points_seen:
        surroundings.outage = None
        seen = frozenset(surroundings.points_seen)
        with surroundings.open_store(wait_seconds=surroundings.asking.deadline_seconds) as client:
            forbidden = forbidden_documents(client, generation, seen, asked.record.scope)
    return Observed(asked.response, asked.record, trace, tuple(forbidden), milliseconds)


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
