"""Names for what is imported: short, plain, and each given once."""

import re
import unicodedata
from typing import Final

_OTHERS: Final = re.compile(r"[^a-z0-9_]+")
_LONGEST: Final = 80


def slug(text: str) -> str:
    """The text's Latin letters and digits in lower case, hyphens between; empty where it has none."""
    # What is cut off here would be cut off below: a text may be a megabyte long.
    plain = unicodedata.normalize("NFKD", text[: 10 * _LONGEST]).encode("ascii", "ignore").decode().lower()
    return _OTHERS.sub("-", plain).strip("-_")[:_LONGEST].rstrip("-_")


class Names:
    """Gives every name once: what is called alike gets a number."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def give(self, wanted: str) -> str:
        """The wanted name, or with the first number behind it that is free."""
        number = self._last.get(wanted, 0) + 1
        name = wanted if number == 1 else f"{wanted}-{number}"
        while name != wanted and name in self._last:
            number += 1
            name = f"{wanted}-{number}"
        self._last[wanted] = number
        self._last.setdefault(name, 1)
        return name
