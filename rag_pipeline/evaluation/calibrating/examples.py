"""What a case found, and which of it is right."""

from collections.abc import Iterable
from dataclasses import dataclass

from rag_pipeline.query.relevance.signals import ScriptPair, Signals

# The best chunks that are wrong are the ones to tell from right ones: so many of a question without an
# answer, and of one with an answer the best one of another document.
_WRONG_OF_UNANSWERABLE = 3
_WRONG_OF_ANSWERABLE = 1


@dataclass(frozen=True, slots=True)
class Seen:
    """A chunk that was found for a case.

    `right` is None where nobody knows: another chunk of a required document may well be of use.
    """

    signals: Signals
    right: bool | None


@dataclass(frozen=True, slots=True)
class AskedCase:
    """A case whose question can be answered from its `documents`, or cannot be, and what it found.

    The best comes first.
    """

    key: str
    answerable: bool
    documents: tuple[str, ...]
    found: tuple[Seen, ...]

    @property
    def right(self) -> list[Seen]:
        """The chunks that answer the question."""
        return [one for one in self.found if one.right]

    @property
    def telling(self) -> list[Seen]:
        """The best right ones, one for each document.

        A short quote may also stand where it answers nothing.
        """
        return self.right[: len(self.documents)]

    @property
    def wrong(self) -> list[Seen]:
        """The best chunks that do not, as many as count."""
        most = _WRONG_OF_ANSWERABLE if self.answerable else _WRONG_OF_UNANSWERABLE
        return [one for one in self.found if one.right is False][:most]

    @property
    def scripts(self) -> ScriptPair | None:
        """The scripts that the case tells about: of its best right chunk, or of what it finds first."""
        telling = self.right if self.answerable else self.found
        return telling[0].signals.scripts if telling else None


def examples_of(cases: Iterable[AskedCase], scripts: ScriptPair) -> tuple[list[Signals], list[Signals]]:
    """The signals of right and of wrong chunks of a pair of scripts."""
    chosen = list(cases)
    right = [one.signals for case in chosen for one in case.telling if one.signals.scripts is scripts]
    wrong = [one.signals for case in chosen for one in case.wrong if one.signals.scripts is scripts]
    return right, wrong
