"""Words that turn a statement into its opposite: allowed and forbidden, at least and at most."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.permissions import find_permissions
from rag_pipeline.query.conflicts.value import ALLOWED, Bound
from rag_pipeline.query.conflicts.values import find_values
from rag_pipeline.query.numbers import without_case

# Each pattern names the one side and the other. What find_permissions knows is added to the first.
_PAIRS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(rf"(?P<one>{one})|(?P<other>{other})", re.IGNORECASE)
    for name, one, other in (
        ("permission", r"\b(?:possible|permitted|allowed|included|eligible|available)\b",
         r"\b(?:impossible|disallowed|excluded|ineligible|unavailable|forbidden|prohibited|banned)\b"),
        ("extent", r"\bat least\b|\bnot? (?:less|fewer) than\b|\bminimum\b|至少|最少|不少于|不低于|最低",
         r"\bat (?:the )?most\b|\bup to\b|\bnot? (?:more|longer) than\b|\bmaximum\b"
         r"|最多|至多|不超过|不多于|最高"),
        ("order", r"\b(?:before|until|prior to|not? later than)\b|之前|以前|不晚于|(?<=[日月年天])前",
         r"\b(?:after|not? (?:before|earlier than)|following)\b|之后|以后|不早于|(?<=[日月年天])后"),
        ("change", r"\b(?:rises?|rose|increase[sd]?)\b|上涨|上调|增加|提高",
         r"\b(?:falls?|fell|decrease[sd]?|drop(?:s|ped)?)\b|下跌|下调|减少|降低|下降"),
        ("duty", r"\b(?:must(?! not)|required|mandatory|obligatory)\b|必须|务必",
         r"\b(?:need not|optional|voluntary)\b|不必|无需|无须|不用|自愿"),
    )
}  # fmt: skip
# Of these a statement names all that it means.
_NAMES: Final[Mapping[str, re.Pattern[str]]] = {
    "place": re.compile(
        r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)\b(?! of)"
        r"|第[一二三四五六七八九十]+",
        re.IGNORECASE,
    ),
    "frequency": re.compile(r"\b(?:once|twice)(?= (?:an?|per|every|each)\b)", re.IGNORECASE),
    "weekday": re.compile(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期)[一二三四五六日天]", re.IGNORECASE
    ),
}
_LIMITS: Final = frozenset({Bound.MINIMUM, Bound.MAXIMUM})
_NUMERIC: Final = frozenset(ValueKind) - {ValueKind.PERMISSION}


@dataclass(frozen=True, slots=True)
class Stance:
    """Which sides a text takes, which ones of a row it names, and which limits it sets to which amounts."""

    sides: frozenset[tuple[str, bool]]
    names: frozenset[tuple[str, str]]
    limits: frozenset[tuple[object, Bound]]

    @property
    def forbids(self) -> bool:
        """Whether it says that something is not allowed or not possible."""
        return ("permission", False) in self.sides

    @property
    def only_forbids(self) -> bool:
        """Whether it forbids, and allows nothing."""
        return self.forbids and ("permission", True) not in self.sides

    def opposes(self, source: "Stance") -> bool:
        """Whether it takes the other side of something than its source, which takes only one."""
        return (
            any((name, not side) in source.sides for name, side in self.sides - source.sides
                if (name, not side) not in self.sides)
            or any(kind in {named for named, _ in source.names} for kind, _ in self.names - source.names)
            or any(amount in {limited for limited, _ in source.limits}
                   for amount, _ in self.limits - source.limits)
        )  # fmt: skip


@lru_cache(maxsize=2_048)
def stance_of(text: str) -> Stance:
    """The stance of a sentence."""
    return Stance(frozenset(_sides(text)), frozenset(_names(text)), frozenset(_limits(text)))


def _sides(text: str) -> Iterator[tuple[str, bool]]:
    rest = text
    for value in find_permissions(text):
        yield "permission", value.unit == ALLOWED
        rest = rest[: value.start] + " " * (value.end - value.start) + rest[value.end :]
    for name, pattern in _PAIRS.items():
        for match in pattern.finditer(rest if name == "permission" else text):
            yield name, match["one"] is not None


def _names(text: str) -> Iterator[tuple[str, str]]:
    for kind, pattern in _NAMES.items():
        for match in pattern.finditer(text):
            yield kind, without_case(match[0])


def _limits(text: str) -> Iterator[tuple[object, Bound]]:
    for value in find_values(text, _NUMERIC):
        if value.bound in _LIMITS:
            yield (value.kind, value.unit, value.low, value.high), value.bound
