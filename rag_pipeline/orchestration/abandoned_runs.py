"""Runs on this machine, and putting to rest those whose process was killed."""

from typing import Final

import dagster as dg
from dagster import DagsterRunStatus, RunsFilter

from rag_pipeline.processes import is_gone, this_process

_PROCESS_TAG = "rag/process"
"""Who runs it: a run whose process is gone can be told from one that is still going on."""


_FINISHED = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)

IN_FLIGHT: Final = [status for status in DagsterRunStatus if status not in _FINISHED]
"""The statuses of runs that are going on, or will."""


def process_tags() -> dict[str, str]:
    """The tag of a run in this process."""
    return {_PROCESS_TAG: this_process()}


def end_abandoned_runs(instance: dg.DagsterInstance) -> list[str]:
    """Fail the runs on this machine whose process is gone, and free the pool slots they hold.

    Returns the runs' ids. Nobody else does it: Dagster does not know the processes of commands, nor those
    that its own code server launched before the machine, or all of Dagster, was killed. A slot that one of
    them held would make every later run wait for ever.
    """
    ended = []
    for run in instance.get_runs(filters=RunsFilter(statuses=IN_FLIGHT)):
        if is_gone(_process_of(run, instance)):
            instance.report_run_failed(run, "Its process was killed; what it had finished is kept.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            ended.append(run.run_id)
    return ended


def _process_of(run: dg.DagsterRun, instance: dg.DagsterInstance) -> str:
    """Who carries a run out, as far as it said; one that is run again begins with the tags of the first."""
    own = run.tags.get(_PROCESS_TAG, "")
    first = instance.get_run_by_id(run.parent_run_id) if run.parent_run_id else None
    return "" if first and first.tags.get(_PROCESS_TAG) == own else own
