"""The peak memory of a process with all its children, as the kernel tells it."""

import multiprocessing
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_pipeline.normalize.memory import resident_bytes

_SAMPLE_SECONDS = 0.05


def peak_resident_bytes(work: Callable[..., None], *args: Any) -> int:
    """Run `work`, which must be importable by name, in a process of its own; resident bytes at the peak.

    Pages that processes share count once for each. Raises RuntimeError where the work fails.
    """
    process = multiprocessing.get_context("spawn").Process(target=work, args=args)
    process.start()
    assert process.pid is not None
    peak = 0
    while process.is_alive():
        peak = max(peak, sum(resident_bytes(pid) for pid in _tree(process.pid)))
        time.sleep(_SAMPLE_SECONDS)
    if process.exitcode != 0:
        raise RuntimeError(f"the measured process ended with exit code {process.exitcode}")
    return peak


def _tree(root: int) -> list[int]:
    """The process and all its descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may hold spaces; state and parent come after it.
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
        children[parent].append(int(stat.parent.name))
    found = [root]
    for pid in found:
        found += children[pid]
    return found
