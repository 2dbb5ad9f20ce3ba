"""A conflict: evidence of different documents that gives different values for what was asked."""

from dataclasses import dataclass
from enum import StrEnum


class ValueKind(StrEnum):
    """What kind of thing a value states."""

    DURATION = "duration"
    MONEY = "money"
    PERCENTAGE = "percentage"
    COUNT = "count"
    DATE = "date"
    VERSION = "version"
    PERMISSION = "permission"


class Precedence(StrEnum):
    """What decided which side of a conflict is followed."""

    TRUST_TIER = "trust_tier"
    EFFECTIVE_AT = "effective_at"
    SPECIFICITY = "specificity"


class Policy(StrEnum):
    """What becomes of a conflict: the winner is followed and the other named, or a person decides."""

    PREFER = "prefer"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Position:
    """What one piece of evidence says: the value as it is written, and the sentence that says it.

    `followed`: it is the winner, or its document gives one of the winner's values too.
    """

    label: str
    document_id: str
    shown: str
    sentence: str
    followed: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """Different values of a kind. `winner` is the label that is followed; none where nothing decides."""

    kind: ValueKind
    positions: tuple[Position, ...]
    winner: str | None
    decided_by: Precedence | None
    policy: Policy
    withheld: tuple[str, ...] = ()
    """The evidence of the documents that lost which gives a losing value: nothing else is taken from it."""

    @property
    def lost(self) -> tuple[Position, ...]:
        """The sides that are not followed; none where nothing decides."""
        return tuple(one for one in self.positions if self.winner is not None and not one.followed)
