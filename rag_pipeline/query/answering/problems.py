"""What validation may find wrong with a draft, and how bad that is."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_LONGEST_SHOWN: Final = 80


class Severity(Enum):
    """What can become of a draft with such a problem."""

    WRONG = auto()
    """It must not be shown: something in it cannot come from the evidence."""
    FOREIGN_LINK = auto()
    """It may be shown without the link."""
    DOUBTFUL = auto()
    """It may be right, which no rule here can tell: a person has to look."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong, as a plain sentence that quotes no text of documents."""

    severity: Severity
    sentence: str


def wrong(sentence: str) -> Problem:
    """Something that makes a draft unusable."""
    return Problem(Severity.WRONG, sentence)


def doubtful(sentence: str) -> Problem:
    """Something that a person has to look at."""
    return Problem(Severity.DOUBTFUL, sentence)


def shown(text: str) -> str:
    """A model's word as it may stand in a sentence: short, on one line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"
