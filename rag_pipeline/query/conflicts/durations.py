"""Durations. A week is 7 days, a year 12 months; a month is no number of days, and a business day no day."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.value import Value, amount
from rag_pipeline.query.numbers import NUMBER, find_with_number, parse_number
from rag_pipeline.query.units import unit_of

SECONDS: Final = "second"
MONTHS: Final = "month"
BUSINESS_DAYS: Final = "business day"
BUSINESS_HOURS: Final = "business hour"

_LENGTHS: Final[Mapping[str | None, tuple[str, int]]] = {
    "second": (SECONDS, 1), "minute": (SECONDS, 60), "hour": (SECONDS, 3_600), "day": (SECONDS, 86_400),
    "week": (SECONDS, 604_800), "fortnight": (SECONDS, 1_209_600),
    "month": (MONTHS, 1), "calendar month": (MONTHS, 1), "year": (MONTHS, 12), "decade": (MONTHS, 120),
    "business day": (BUSINESS_DAYS, 1), "trading day": (BUSINESS_DAYS, 1),
    "business hour": (BUSINESS_HOURS, 1),
}  # fmt: skip
_OF_BUSINESS: Final = frozenset({"business", "working", "work", "bank", "office"})

_CHINESE_UNIT = (
    r"(?P<zh>个月|个?工作小时|个?工作日|个?交易日|个?自然日|个?日历日|个?小时|个?钟头|个?星期|个?礼拜"
    r"|分钟|秒钟?|天|周(?![一二三四五六末年])|年(?![末初底中])|日(?=之?[内后前]|以[内上下])|(?<=[0-9 ]个)月)"
)
_ENGLISH_UNIT = (
    r"(?:[ ]?-?(?P<of>[a-z]{3,12})[ -])?[ -]?"
    r"(?P<en>seconds?|secs?|minutes?|mins?|hours?|hrs?|h|days?|weeks?|fortnights?|months?|years?|yrs?|decades?)\b"
)
_AMOUNT = re.compile(
    rf"(?<!第)(?<!第 )(?:(?P<low>{NUMBER})(?:[ ]?(?:-|–|—|~|～|至|到)[ ]?|[ ](?:to|or|and)[ ]))?"
    rf"(?P<high>{NUMBER})[ ]?(?:{_CHINESE_UNIT}(?P<half_more>半)?|{_ENGLISH_UNIT})",
    re.IGNORECASE,
)
# "a month" alone is mostly a rate, as in 5 EUR a month.
_ONE = re.compile(
    r"\b(?:within|after|in|for|of|than|least|most|to|every|is|takes?|until)[ ](?P<one>an?[ ]"
    r"(?:(?P<of>[a-z]{3,12})[ ])?(?P<en>minute|hour|day|week|month|year|decade))\b"
    r"|\b(?P<fortnight>a[ ]fortnight)\b",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\b(?:half[ ](?:an?[ ])|(?:a[ ])?half[ -])(?P<en>hour|day|year)\b|半个?(?P<zh>小时|钟头|天|月|年)",
    re.IGNORECASE,
)
_LATEST_YEAR_LENGTH = 200


def find_durations(text: str) -> Iterator[Value]:
    """The durations that a text names, in order of the pattern that finds them."""
    for match in find_with_number(_AMOUNT, text):
        if value := _amount(match):
            yield value
    for match in _ONE.finditer(text):
        unit, factor = _length(match["en"] or "fortnight", match["of"])
        group = "one" if match["one"] else "fortnight"
        yield amount(ValueKind.DURATION, match[group], match.start(group), unit, Decimal(factor))
    for match in _HALF.finditer(text):
        unit, factor = _length(match["en"] or match["zh"])
        yield amount(ValueKind.DURATION, match[0], match.start(), unit, Decimal(factor) / 2)


def _amount(match: re.Match[str]) -> Value | None:
    high = parse_number(match["high"])
    low = parse_number(match["low"]) if match["low"] else high
    if match["zh"] == "年" and high > _LATEST_YEAR_LENGTH:
        return None
    unit, factor = _length(match["zh"] or match["en"], match["of"])
    if match["half_more"]:
        high, low = high + Decimal("0.5"), low + Decimal("0.5")
    return amount(ValueKind.DURATION, match[0], match.start(), unit, low * factor, high * factor)


def _length(written: str, of: str | None = None) -> tuple[str, int]:
    unit = unit_of(written)
    if of and of.lower() in _OF_BUSINESS and unit in ("day", "hour"):
        unit = f"business {unit}"
    return _LENGTHS[unit]
