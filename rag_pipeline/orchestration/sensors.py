"""Sensors: runs and partitions follow the sources, the report follows the runs, drift is told.

They look at levels, not at events: what a source holds now against what is recorded as indexed. No run key is
used, since Dagster would never again run one that it has seen: a document put back, an edit reverted.
"""

import json
import warnings
from collections.abc import Sequence

import dagster as dg
from dagster import RunsFilter

from rag_pipeline.builds import drift
from rag_pipeline.following import Look, Verdict
from rag_pipeline.orchestration.abandoned_runs import IN_FLIGHT, end_abandoned_runs
from rag_pipeline.orchestration.assets import Pipelines, qdrant_collection, reconciliation_report
from rag_pipeline.orchestration.checks import FOLLOWED
from rag_pipeline.orchestration.jobs import index_source, reindex
from rag_pipeline.orchestration.leasing import PARTITION_TAG
from rag_pipeline.orchestration.partitions import SOURCES, sources
from rag_pipeline.sources.manifest_folder import ManifestProblem

# Dagster itself passes this parameter whenever it gives a sensor its resources.
warnings.filterwarnings(
    "ignore", message="Parameter `owners` of initializer `SensorDefinition", category=dg.BetaWarning
)

# Dagster ends a sensor's evaluation after 60 s.
_LOOK_SECONDS = 30.0


@dg.sensor(
    name="source_changes",
    job=index_source,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Runs every source that differs from what is recorded as indexed of it.",
)
def source_changes(context: dg.SensorEvaluationContext, pipeline: Pipelines) -> dg.SensorResult:
    """One look at every source. Sources with a run in flight are left alone, and Qdrant is never opened."""
    looks = pipeline.catalogue.looks(_LOOK_SECONDS)
    known = set(context.instance.get_dynamic_partitions(SOURCES))
    busy = _in_flight(context.instance)
    seen = {look.source_id for look in looks}
    changed = [one for one in looks if one.verdict is Verdict.CHANGED and one.source_id not in busy]
    problems = pipeline.catalogue.manifests().problems
    # A broken manifest stops its source, and one that cannot even tell its source may be any source's.
    unsure = known if any(one.source_id is None for one in problems) else {one.source_id for one in problems}
    gone = sorted(known - seen - busy - unsure)
    given_up = [one for one in looks if one.verdict is Verdict.GIVEN_UP]
    # Told once, or a failed check would be recorded twice a minute.
    told = json.loads(context.cursor or "[]")
    return dg.SensorResult(
        run_requests=[dg.RunRequest(partition_key=one.source_id) for one in changed] or None,
        skip_reason=None if changed else _in_words(looks, busy, problems),
        dynamic_partitions_requests=[
            sources.build_add_request(sorted(seen - known)),
            sources.build_delete_request(gone),
        ],
        asset_events=[_not_followed(one) for one in given_up if one.source_id not in told],
        cursor=json.dumps([one.source_id for one in given_up]),
    )


def _in_flight(instance: dg.DagsterInstance) -> set[str]:
    # Of any job: assets that are materialized in the UI run in one without a name of ours.
    runs = instance.get_runs(RunsFilter(statuses=IN_FLIGHT))
    return {run.tags[PARTITION_TAG] for run in runs if PARTITION_TAG in run.tags}


def _in_words(looks: list[Look], busy: set[str], problems: Sequence[ManifestProblem]) -> str:
    if not looks and not problems:
        return "There are no manifests"
    unchanged = sum(one.verdict is Verdict.UNCHANGED for one in looks)
    words = [f"{unchanged} of {len(looks)} sources unchanged"]
    for one in looks:
        if one.verdict is not Verdict.UNCHANGED:
            seen = "a run is in flight" if one.source_id in busy else f"{one.verdict}, {one.reason}"
            words.append(f"{one.source_id}: {seen}")
    words += [f"broken manifest: {one}" for one in problems]
    return "; ".join(words)


def _not_followed(given_up: Look) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=qdrant_collection.key,
        check_name=FOLLOWED,
        passed=False,
        metadata={"reason": given_up.reason},
        severity=dg.AssetCheckSeverity.ERROR,
        partition=given_up.source_id,
    )


@dg.sensor(
    name="fingerprint_drift",
    job=reindex,
    minimum_interval_seconds=300,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Tells when settings differ from those of the live generation; builds where that is wanted.",
)
def fingerprint_drift(
    context: dg.SensorEvaluationContext, pipeline: Pipelines
) -> dg.SkipReason | dg.RunRequest:
    """Live is never touched; RAG_AUTO_REINDEX starts a build beside it."""
    found = drift(pipeline.services)
    if found is None:
        return dg.SkipReason("The live generation is as the settings say")
    if not pipeline.services.settings.auto_reindex:
        return dg.SkipReason(f"The live generation has other settings: {found}. Run the job reindex")
    if not pipeline.services.build_is_due:
        return dg.SkipReason(f"A generation with today's settings is there, or is being built: {found}")
    if context.instance.get_runs(RunsFilter(job_name=reindex.name, statuses=IN_FLIGHT)):
        return dg.SkipReason("A build is going on")
    return dg.RunRequest()


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    target=None,
    description="Ends the runs whose process was killed, so that no other run waits for what they held.",
)
def killed_commands(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """End the runs whose process is gone."""
    ended = end_abandoned_runs(context.instance)
    return dg.SkipReason(f"Ended {', '.join(ended)}" if ended else "No run was killed")


report_follows_sources = dg.AutomationConditionSensorDefinition(
    "report_follows_sources",
    target=[reconciliation_report],
    description="Materializes the report whenever a source was indexed.",
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=30,
)

ALL = (source_changes, fingerprint_drift, report_follows_sources, killed_commands)
