"""A drafted answer: what it says, and which evidence each claim rests on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer and the labels (S1…) of the evidence that it cites."""

    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before validation. Not answered: the evidence does not answer the question."""

    answered: bool
    text: str
    claims: tuple[Claim, ...]
