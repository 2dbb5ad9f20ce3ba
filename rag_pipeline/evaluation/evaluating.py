"""One evaluation: ask every case of a generation, measure, compare, and hold the gates against it."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rag_pipeline.errors import ConfigurationError
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
from rag_pipeline.evaluation.result import CaseResult, Comparison, Evaluation, GateResult
from rag_pipeline.ledger.evaluations import StoredEvaluation
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.query.retrieval import calibration_in_force
from rag_pipeline.services import Services


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
    cases = ask_cases(sets, services, judged.name, on_case)
    lifecycle = run_lifecycle(sets, services) if options.lifecycle else []
    judgement: list[GateResult] = []
    if services.judge:
        said = judge(cases, services.judge)
        cases = said.added_to(cases)
        judgement.append(judge_gate(said, gates))
    slices = slices_of(cases)
    found = [
        *case_gates(cases, gates),
        gold_gate(stale_gold(sets, services, judged.name)),
        *_probes(services, judged),
        *judgement,
    ]
    if options.lifecycle:
        found.append(lifecycle_gate(lifecycle))
    found += floor_gates(slices, cases, gates)
    comparisons = _before(services, cases, options.baseline)
    if not judged.live and (live := services.ledger.generations.live(services.settings.alias)):
        against = compare(cases, ask_cases(sets, services, live.name, on_case), f"live, {live.name}")
        found += live_gates(against, gates)
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
    """An evaluation without words of documents and answers: what is stored, and can be compared with."""
    return evaluation.model_copy(
        update={
            "cases": tuple(
                one.model_copy(update={"answer": "", "citations": (), "trace": None})
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


def _before(services: Services, cases: Sequence[CaseResult], baseline: Evaluation | None) -> list[Comparison]:
    """The comparison with the baseline, or else with the last evaluation that was stored."""
    if baseline is None:
        stored = services.ledger.evaluations.latest(services.settings.alias)
        if stored is None:
            return []
        baseline = Evaluation.model_validate(stored.record)
    return [compare(cases, baseline.cases, f"the evaluation of {baseline.started_at:%Y-%m-%d %H:%M}")]


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
