"""Telling whether a process that wrote down who it is still lives."""

import os
import socket
from pathlib import Path


def this_process() -> str:
    """Who this process is, in one line: machine, process id and start.

    The start tells it from a later process that has its id by then.
    """
    _, start = _state_and_start(os.getpid())
    return f"{_machine()} {os.getpid()} {start}"


def is_gone(process: str) -> bool:
    """Whether a process is known to be dead, by what its `this_process` said.

    False for one of another machine, of which nothing can be known.
    """
    machine, number, start = _parts(process)
    if machine != _machine() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, and is someone else's
        return False
    state, found = _state_and_start(int(number))
    # A zombie is dead; it only waits for its parent to ask how it ended.
    return found != start or state in {"Z", "X"}


def in_words(process: str) -> str:
    """A process as people look for it."""
    machine, number, _ = _parts(process)
    return f"process {number} on {machine.partition('/')[0]}"


def _parts(process: str) -> tuple[str, str, str]:
    machine, _, rest = process.partition(" ")
    number, _, start = rest.partition(" ")
    return machine, number, start


def _machine() -> str:
    """This host and, since containers of one host name may count their processes apart, their name space."""
    try:
        return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - it is no path
    except OSError:  # not Linux
        return socket.gethostname()


def _state_and_start(process: int) -> tuple[str, str]:
    """The kernel's letter for a process's state and the ticks at which it began; empty if not known."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return "", ""
    # The 3rd and the 22nd field; the second is the program's name in parentheses, which may hold anything.
    fields = status.rpartition(")")[2].split()
    return fields[0], fields[19]
