"""Runs of commands on this machine, and putting to rest those whose process was killed."""

import dagster as dg
from dagster import DagsterRunStatus, RunsFilter

from rag_pipeline.processes import is_gone, this_process

_PROCESS_TAG = "rag/process"
"""Who runs it: a run whose process is gone can be told from one that is still going on."""


def process_tags() -> dict[str, str]:
    """The tag of a run in this process."""
    return {_PROCESS_TAG: this_process()}


def end_abandoned_runs(instance: dg.DagsterInstance) -> list[str]:
    """Fail the runs of commands on this machine whose process is gone, and free the pool slots they hold.

    Returns the runs' ids. Nobody else does it: Dagster watches only the runs that its daemon launched, and a
    slot that a killed command held would make every later run wait for ever.
    """
    going_on = RunsFilter(statuses=[DagsterRunStatus.STARTED, DagsterRunStatus.STARTING])
    ended = []
    for run in instance.get_runs(filters=going_on):
        if is_gone(run.tags.get(_PROCESS_TAG, "")):
            instance.report_run_failed(run, "Its process was killed; what it had finished is kept.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            ended.append(run.run_id)
    return ended
