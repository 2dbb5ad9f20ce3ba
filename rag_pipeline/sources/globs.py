"""Path patterns: `*`, `?` and `[…]` within a name, `**` for any number of folders. Case matters."""

import fnmatch
import re
from collections.abc import Iterable, Sequence


class Glob:
    """One pattern over relative POSIX paths, which are given as their sequence of names.

    As in a shell, a wildcard does not match a leading dot unless `hidden` is set; a dot that is written in
    the pattern always matches. `docs/**` means everything below `docs`.
    """

    def __init__(self, pattern: str, *, hidden: bool) -> None:
        parts = pattern.split("/")
        if parts[-1] == "**":
            parts.append("*")
        self._hidden = hidden
        # None stands for `**`: any number of folders.
        self._steps = [None if part == "**" else _name_regex(part, hidden=hidden) for part in parts]
        self._takes_all_below = len(parts) - 2 if parts[-2:] == ["**", "*"] else None

    def matches(self, names: Sequence[str]) -> bool:
        """Whether the pattern matches the whole path."""
        return len(self._steps) in self._walk(names)

    def may_match_below(self, folder: Sequence[str]) -> bool:
        """Whether a path below this folder could match, so that the folder is worth entering."""
        return any(state < len(self._steps) for state in self._walk(folder))

    def matches_all_below(self, folder: Sequence[str]) -> bool:
        """Whether every path below this folder matches."""
        return self._hidden and self._takes_all_below in self._walk(folder)

    def _walk(self, names: Iterable[str]) -> set[int]:
        """Every number of steps that the names may have used up; no pattern makes this slow."""
        states = self._skip_folders({0})
        for name in names:
            reached = set()
            for state in states:
                if state == len(self._steps):
                    continue
                step = self._steps[state]
                if step is None:
                    if self._hidden or not name.startswith("."):
                        reached.add(state)
                elif step.fullmatch(name):
                    reached.add(state + 1)
            states = self._skip_folders(reached)
        return states

    def _skip_folders(self, states: set[int]) -> set[int]:
        for state in list(states):
            while state < len(self._steps) and self._steps[state] is None:
                state += 1
                states.add(state)
        return states


def _name_regex(part: str, *, hidden: bool) -> re.Pattern[str]:
    guard = r"(?!\.)" if not hidden and not part.startswith(".") else ""
    return re.compile(guard + fnmatch.translate(part))
