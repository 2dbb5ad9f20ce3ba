"""Runs of commands on this machine, and putting to rest those whose process was killed."""

import os
import socket
from pathlib import Path

import dagster as dg
from dagster import DagsterRunStatus, RunsFilter

_PROCESS_TAG = "rag/process"
"""Machine, process id and start: a run whose process is gone can be told from one that is still going on."""


def process_tags() -> dict[str, str]:
    """The tag of a run in this process."""
    return {_PROCESS_TAG: f"{_machine()} {os.getpid()} {_start_of(os.getpid())}"}


def end_abandoned_runs(instance: dg.DagsterInstance) -> list[str]:
    """Fail the runs of commands on this machine whose process is gone, and free the pool slots they hold.

    Returns the runs' ids. Nobody else does it: Dagster watches only the runs that its daemon launched, and a
    slot that a killed command held would make every later run wait for ever.
    """
    going_on = RunsFilter(statuses=[DagsterRunStatus.STARTED, DagsterRunStatus.STARTING])
    ended = []
    for run in instance.get_runs(filters=going_on):
        machine, process, start = (run.tags.get(_PROCESS_TAG, "") + "   ").split(" ")[:3]
        if machine == _machine() and not _is_alive(int(process), start):
            instance.report_run_failed(run, "Its process was killed; what it had finished is kept.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            ended.append(run.run_id)
    return ended


def _machine() -> str:
    """This host and, since containers of one host name may count their processes apart, their name space."""
    try:
        return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - it is no path
    except OSError:  # not Linux
        return socket.gethostname()


def _start_of(process: int) -> str:
    """When a process began, in the kernel's ticks: another one may have its id later. Empty if not known."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    # The 22nd field; the second is the program's name in parentheses, which may hold anything.
    return status.rpartition(")")[2].split()[19]


def _is_alive(process: int, start: str) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _start_of(process) == start
