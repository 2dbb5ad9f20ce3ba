"""Measuring and limiting the memory of a process."""

import resource
from pathlib import Path
from typing import Final

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
