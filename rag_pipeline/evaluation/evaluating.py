"""One evaluation: ask every case of a generation, measure, compare, and hold the gates against it."""

import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pydantic import ValidationError

from rag_pipeline.errors import BadQuestionSet, ConfigurationError
from rag_pipeline.evaluation.asked_generation import asked_generation
from rag_pipeline.evaluation.asking_cases import OnCase, ask_cases
from rag_pipeline.evaluation.comparing import compare
from rag_pipeline.evaluation.gates import (
    Gates,
    case_gates,
    floor_gates,
    gold_gate,
    judge_gate,
    lifecycle_gate,
    live_gates,
)
from rag_pipeline.evaluation.gold import stale_gold
from rag_pipeline.evaluation.judging import judge
from rag_pipeline.evaluation.lifecycle import run_lifecycle
from rag_pipeline.evaluation.metrics import slices_of
from rag_pipeline.evaluation.probes import calibration_gate, unusable_calibration, vectors_gate
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.result import Evaluation, GateResult
from rag_pipeline.ledger.evaluations import StoredEvaluation
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.query.retrieval import calibration_in_force
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)

_NOT_KEPT: Final = "(not kept)"
# Evaluations that are looked through for one by the same sets.
_LOOKED_BACK: Final = 20


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What an evaluation does besides asking.

    `lifecycle`: run the lifecycle cases too, which index documents on a scratch collection. `baseline` is an
    evaluation to compare with; without one it is the last that was stored.
    """

    lifecycle: bool = True
    baseline: Evaluation | None = None


def evaluate(
    sets: Sequence[NamedSet],
    services: Services,
    gates: Gates,
    *,
    generation: str | None = None,
    options: EvaluationOptions = EvaluationOptions(),
    on_case: OnCase = lambda: None,
) -> Evaluation:
    """Ask all cases of a generation, the live one if none is named, and store what was found.

    Another generation than live is compared with live, case by case, on the same questions. Raises
    ConfigurationError where there is no such generation, BadQuestionSet for a set that cannot be used.
    """
    started_at, clock = datetime.now(UTC), time.monotonic()
    judged = asked_generation(services, generation)
    if not any(one.questions.cases for one in sets):
        raise BadQuestionSet(f"There is no question in {', '.join(one.name for one in sets) or 'any set'}.")
    # First what is cheap and may fail, so that no answers are lost to it.
    earlier = options.baseline or _last(services, sets)
    found = [gold_gate(stale_gold(sets, services, judged.name)), *_probes(services, judged)]
    cases = ask_cases(sets, services, judged.name, on_case)
    lifecycle = run_lifecycle(sets, services) if options.lifecycle else []
    if services.judge:
        said = judge(cases, services.judge)
        cases = said.added_to(cases)
        found.append(judge_gate(said, gates))
    slices = slices_of(cases)
    if options.lifecycle:
        found.append(lifecycle_gate(lifecycle))
    found = [*case_gates(cases, gates), *found, *floor_gates(slices, cases, gates)]
    comparisons = [compare(cases, earlier.cases, _told(earlier))] if earlier else []
    if not judged.live and (live := services.ledger.generations.live(services.settings.alias)):
        of_live = ask_cases(sets, services, live.name)
        against = compare(cases, of_live, f"live, {live.name}")
        found += live_gates(against, of_live, cases, gates)
        comparisons.append(against)
    evaluation = Evaluation(
        evaluation_id=uuid.uuid4().hex,
        started_at=started_at,
        seconds=round(time.monotonic() - clock, 3),
        alias=judged.alias,
        generation=judged.name,
        fingerprint=judged.fingerprint,
        embedding_model=services.embedder_of(judged.settings["model"]).identity.key,
        answering_model=services.chat_model.name if services.chat_model else "extractive",
        sets=tuple(one.name for one in sets),
        slices=slices,
        cases=tuple(cases),
        lifecycle=tuple(lifecycle),
        gates=tuple(found),
        comparisons=tuple(comparisons),
    )
    _store(services, evaluation)
    return evaluation


def without_words(evaluation: Evaluation) -> Evaluation:
    """An evaluation without words of documents and answers: what is stored, and can be compared with.

    What was wrong with a case may quote gold, or what its asker must not know; only that it was is kept.
    """
    return evaluation.model_copy(
        update={
            "cases": tuple(
                one.model_copy(
                    update={
                        "answer": "",
                        "citations": (),
                        "reference": None,
                        "trace": None,
                        "failures": (_NOT_KEPT,) * len(one.failures),
                    }
                )
                for one in evaluation.cases
            )
        }
    )


def _probes(services: Services, generation: Generation) -> list[GateResult]:
    embedder = services.embedder_of(generation.settings["model"])
    with services.open_store(wait_seconds=services.settings.lock_wait_s) as client:
        vectors = vectors_gate(client, generation.name, embedder)
    return [vectors, _calibration_gate(services, generation)]


def _calibration_gate(services: Services, generation: Generation) -> GateResult:
    options = services.retrieval_options()
    try:
        calibration = calibration_in_force(generation, options, services.baselines, services.ledger)
    except ConfigurationError as error:
        return unusable_calibration(str(error))
    return calibration_gate(generation, calibration)


def _last(services: Services, sets: Sequence[NamedSet]) -> Evaluation | None:
    """The newest evaluation by the same sets, of live if there is one."""
    names = sorted(one.name for one in sets)
    live = services.ledger.generations.live(services.settings.alias)
    newest = services.ledger.evaluations.newest(services.settings.alias, _LOOKED_BACK)
    same = [one for one in newest if sorted(one.record.get("sets", ())) == names]
    for stored in sorted(same, key=lambda one: live is None or one.generation != live.name):
        try:
            return Evaluation.model_validate(stored.record)
        except ValidationError:
            logger.warning(
                "The evaluation %s is of another version, and not compared with", stored.evaluation_id
            )
    return None


def _told(evaluation: Evaluation) -> str:
    return f"the evaluation of {evaluation.started_at:%Y-%m-%d %H:%M}, {evaluation.generation}"


def _store(services: Services, evaluation: Evaluation) -> None:
    services.ledger.evaluations.record(
        StoredEvaluation(
            evaluation_id=evaluation.evaluation_id,
            alias=evaluation.alias,
            generation=evaluation.generation,
            started_at=evaluation.started_at,
            passed=evaluation.passed,
            record=without_words(evaluation).model_dump(mode="json"),
        )
    )
