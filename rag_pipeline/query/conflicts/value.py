"""A value that a text states, in a form that can be compared."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from rag_pipeline.query.conflicts.conflict import ValueKind

ALLOWED = "allowed"
FORBIDDEN = "forbidden"
"""The units of a permission."""


class Bound(StrEnum):
    """Which side a value limits."""

    PLAIN = "plain"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    CONDITION = "condition"
    """When something applies: "for stays of more than 30 days" does not say how long anything takes."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value at text[start:end].

    `unit` makes amounts comparable: seconds, months or business days; a currency; what is counted; allowed or
    forbidden. `low` and `high` are the same but for a range. Dates hold (year, month, day) and versions their
    numbers in `parts`; a part that the text leaves out is None.
    """

    kind: ValueKind
    shown: str
    start: int
    end: int
    unit: str = ""
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(0)
    parts: tuple[int | None, ...] = ()
    bound: Bound = Bound.PLAIN

    def agrees_with(self, other: "Value") -> bool:
        """Whether both say the same, as far as both say something: 1 March agrees with 1 March 2026."""
        if self.kind is not other.kind:
            return False
        if self.parts or other.parts:
            shared = zip(self.parts, other.parts, strict=False)
            return all(one == two or one is None or two is None for one, two in shared)
        same_amount = (self.low, self.high) == (other.low, other.high)
        free = self.kind is ValueKind.MONEY and not self.high
        return same_amount and (free or self.unit == other.unit)

    def comparable_with(self, other: "Value") -> bool:
        """Whether a difference would be a contradiction: at least two years and at most five are none."""
        bounds = {self.bound, other.bound}
        return (
            self.kind is other.kind
            and Bound.CONDITION not in bounds
            and bounds != {Bound.MINIMUM, Bound.MAXIMUM}
            and (self.kind is not ValueKind.COUNT or self.unit == other.unit)
        )


def amount(
    kind: ValueKind, written: str, start: int, unit: str, one: Decimal, other: Decimal | None = None
) -> Value:
    """An amount that a text states from `start`, or a range from one to the other."""
    shown = written.rstrip()
    low, high = sorted((one, one if other is None else other))
    return Value(kind, shown, start, start + len(shown), unit=unit, low=low, high=high)
