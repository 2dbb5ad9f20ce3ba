"""Measuring and limiting a process's memory, and tying its life to its parent's. Complete on Linux only."""

import ctypes
import resource
import signal
import sys
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PAGE: Final = resource.getpagesize()


def resident_bytes(pid: int | None) -> int:
    """The resident memory of a process in bytes; 0 where it is gone or the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def limit_data(limit: int) -> None:
    """Let this process's data grow to `limit` bytes at most; beyond, allocations fail with MemoryError.

    Data counts what is reserved, which is more than what is used, so the limit must leave room.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def die_with_parent() -> None:
    """Have this process killed when its parent ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
