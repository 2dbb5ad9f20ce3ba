"""What happens by the clock: a nightly reconciliation, hourly retries, a weekly rebuild."""

from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg

from rag_pipeline.orchestration.assets import Pipelines
from rag_pipeline.orchestration.jobs import index_source, reindex
from rag_pipeline.orchestration.partitions import SOURCES


@dg.schedule(
    job=index_source,
    cron_schedule="0 2 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Compares every source with the exact content of Qdrant, and heals what differs.",
)
def nightly_reconcile(
    context: dg.ScheduleEvaluationContext,
) -> Sequence[dg.RunRequest] | dg.SkipReason:
    """A run of every source; one that finds nothing to do writes nothing."""
    known = context.instance.get_dynamic_partitions(SOURCES)
    if not known:
        return dg.SkipReason("There are no sources yet")
    return [dg.RunRequest(partition_key=source_id) for source_id in sorted(known)]


@dg.schedule(
    job=index_source,
    cron_schedule="15 * * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Tries transient failures again that are due.",
)
def hourly_retry(
    context: dg.ScheduleEvaluationContext, pipeline: Pipelines
) -> Sequence[dg.RunRequest] | dg.SkipReason:
    """A run of every source that has a failure whose next attempt is due."""
    known = set(context.instance.get_dynamic_partitions(SOURCES))
    due = [one for one in pipeline.services.ledger.dead_letters.due(datetime.now(UTC)) if one in known]
    if not due:
        return dg.SkipReason("No failure is due for another attempt")
    return [dg.RunRequest(partition_key=source_id) for source_id in due]


weekly_reindex = dg.ScheduleDefinition(
    name="weekly_reindex",
    job=reindex,
    cron_schedule="0 4 * * 0",
    run_config={"ops": {"build_generation": {"config": {"promote": True}}}},
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Builds a whole new generation and promotes it if it passes its gates. Off by default.",
)

ALL = (nightly_reconcile, hourly_retry, weekly_reindex)
