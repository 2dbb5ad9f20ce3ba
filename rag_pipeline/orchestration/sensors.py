"""Sensors: partitions follow the manifests, the report the sources, and killed commands block nobody."""

import dagster as dg

from rag_pipeline.orchestration.abandoned_runs import end_abandoned_runs
from rag_pipeline.orchestration.assets import Pipelines, reconciliation_report
from rag_pipeline.orchestration.partitions import SOURCES, sources


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    target=None,
    description="Gives every manifest its partition, so that it can be materialized.",
)
def source_partitions(
    context: dg.SensorEvaluationContext, pipeline: Pipelines
) -> dg.SensorResult | dg.SkipReason:
    """Ask for the partitions that are missing."""
    manifests = pipeline.manifests()
    missing = sorted(manifests.manifests.keys() - set(context.instance.get_dynamic_partitions(SOURCES)))
    if not missing:
        broken = f", {len(manifests.problems)} problems in manifests" if manifests.problems else ""
        return dg.SkipReason(f"{len(manifests.manifests)} sources have their partition{broken}")
    return dg.SensorResult(dynamic_partitions_requests=[sources.build_add_request(missing)])


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    target=None,
    description="Ends the runs of killed commands, so that no other run waits for what they held.",
)
def killed_commands(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """End the runs whose process is gone."""
    ended = end_abandoned_runs(context.instance)
    return dg.SkipReason(f"Ended {', '.join(ended)}" if ended else "No command was killed")


report_follows_sources = dg.AutomationConditionSensorDefinition(
    "report_follows_sources",
    target=[reconciliation_report],
    description="Materializes the report whenever a source was indexed.",
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=30,
)
