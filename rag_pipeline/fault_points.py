"""The instants of the work at which a crash would matter most, by name.

Passing one does nothing. A test installs a hook in a process of its own and kills it there, to show that
whatever was done until then is put right by the next run.
"""

from collections.abc import Callable


def _go_on(instant: str) -> None:
    pass


_hook: Callable[[str], None] = _go_on


def passing(instant: str) -> None:
    """Say that the work has come so far; `instant` names what has just taken effect."""
    _hook(instant)


def install(hook: Callable[[str], None]) -> None:
    """Let this process call `hook` with the name of every instant that it passes from now on."""
    global _hook
    _hook = hook
