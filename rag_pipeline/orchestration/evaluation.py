"""The asset that asks question sets of the live generation, with a check a gate, and the job that runs it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import dagster as dg
from pydantic import Field

from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.filing import evaluate_and_file, report_file
from rag_pipeline.evaluation.gates import FIXED, load_gates
from rag_pipeline.evaluation.question_sets import has_sets, load_sets
from rag_pipeline.evaluation.result import Evaluation, GateResult, Severity
from rag_pipeline.orchestration.assets import GROUP, STORE_POOL, Pipelines, qdrant_collection
from rag_pipeline.orchestration.failing import said_to_people
from rag_pipeline.orchestration.metadata import evaluation_metadata, gate_metadata
from rag_pipeline.pipeline import Pipeline

ASSET = dg.AssetKey("evaluation_report")
EVERY_GATE = "every_gate"

evaluate = dg.define_asset_job(
    "evaluate",
    selection=dg.AssetSelection.assets(ASSET),
    description="Ask the question sets of the live generation, and fail where a gate does not hold.",
)


class EvaluateConfig(dg.Config):
    """The question sets to ask, all if none is named, and of which generation, the live one if empty."""

    sets: list[str] = Field(default_factory=list)
    generation: str = ""


@dg.schedule(
    job=evaluate,
    cron_schedule="30 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Asks the question sets once the nightly reconciliation has run.",
)
def nightly_evaluation(
    context: dg.ScheduleEvaluationContext, pipeline: Pipelines
) -> dg.RunRequest | dg.SkipReason:
    """A run, where there is something to ask."""
    folder = pipeline.services.settings.evaluations_folder
    return dg.RunRequest() if has_sets(folder) else dg.SkipReason(f"There is no question set in {folder}")


def evaluation_report(pipeline: Pipeline) -> dg.AssetsDefinition:
    """The asset, with a check for every gate that always holds and for every floor in `gates.yaml`."""
    checks = _checks(pipeline.services.settings.evaluations_folder)

    # Blocking, so that a gate of severity error fails the run; there is nothing downstream.
    @dg.asset(
        key=ASSET,
        deps=[qdrant_collection],
        group_name=GROUP,
        kinds={"table"},
        pool=STORE_POOL,
        check_specs=[
            dg.AssetCheckSpec(name, asset=ASSET, description=description, blocking=True)
            for name, description in checks.items()
        ],
    )
    def report(
        context: dg.AssetExecutionContext, config: EvaluateConfig, pipeline: Pipelines
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks Dagster takes no other annotation
        """What the question sets find of the live generation: by category, and against the last time."""
        folder = pipeline.services.settings.evaluations_folder
        if not config.sets and not has_sets(folder):
            nothing = f"There is no question set in {folder}, so nothing was asked."
            context.log.warning(nothing)
            return dg.MaterializeResult(
                metadata={"summary": nothing},
                check_results=[_check_result(_not_asked(name, nothing, passed=False)) for name in checks],
            )
        with said_to_people():
            if any("/" in name or name.endswith(".yaml") for name in config.sets):
                raise BadQuestionSet(f"Sets are named as in {folder}, without a path or .yaml.")
            found = evaluate_and_file(
                pipeline.services, load_sets(folder, config.sets), generation=config.generation or None
            )
        return dg.MaterializeResult(
            metadata=evaluation_metadata(found, str(report_file(pipeline.services, found))),
            check_results=list(_results(found, checks)),
        )

    return report


def _checks(folder: Path) -> Mapping[str, str]:
    """What each check says, by its name."""
    try:
        floors = load_gates(folder).floors
    except BadQuestionSet:
        # The run tells it; Dagster must load all the same.
        floors = ()
    return {
        EVERY_GATE: "No gate of severity error is broken, those that became known since Dagster loaded too.",
        **FIXED,
        **{one.name: f"{one.metric} of {one.each} is {one.least} or better." for one in floors},
    }


def _results(evaluation: Evaluation, checks: Mapping[str, str]) -> Iterator[dg.AssetCheckResult]:
    gates = {one.name: one for one in evaluation.gates} | {EVERY_GATE: _every_gate(evaluation)}
    for name in checks:
        # Missing where it was removed from the file since Dagster loaded, or needs what is not set up.
        yield _check_result(gates.get(name) or _not_asked(name, "It was not asked in this run.", passed=True))


def _every_gate(evaluation: Evaluation) -> GateResult:
    broken = [one for one in evaluation.gates if not one.passed and one.severity is Severity.ERROR]
    return GateResult(
        name=EVERY_GATE,
        passed=evaluation.passed,
        severity=Severity.ERROR,
        message="; ".join(f"{one.name}: {one.message}" for one in broken) or "every gate holds",
        cases=tuple(dict.fromkeys(case for one in broken for case in one.cases)),
    )


def _check_result(gate: GateResult) -> dg.AssetCheckResult:
    error = gate.severity is Severity.ERROR
    return dg.AssetCheckResult(
        check_name=gate.name,
        asset_key=ASSET,
        passed=gate.passed,
        severity=dg.AssetCheckSeverity.ERROR if error else dg.AssetCheckSeverity.WARN,
        metadata=gate_metadata(gate),
    )


def _not_asked(name: str, message: str, *, passed: bool) -> GateResult:
    return GateResult(name=name, passed=passed, severity=Severity.WARN, message=message)
