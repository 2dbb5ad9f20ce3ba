"""The numbers, dates, amounts and codes of a text, the same ones alike however they are spelled."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rag_pipeline.embedding.text import valid_text
from rag_pipeline.query.calendar_dates import DATES, date_parts
from rag_pipeline.query.numbers import (
    CHINESE_NUMBER,
    DECIMAL_COMMA,
    ENGLISH_NUMBER,
    FIGURES,
    SCALE,
    holds_number,
    parse_number,
)
from rag_pipeline.query.units import CURRENCY_BEFORE, UNIT_AFTER, unit_of, units_named

_TIME = re.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])[:：](?P<minute>[0-5]\d)(?::[0-5]\d)?(?![:\d])(?:\s*(?P<half>[ap])\.?m\b)?"
    r"|\b(?P<whole_hour>1[0-2]|0?[1-9])\s*(?P<its_half>[ap])\.?m\b",
    re.IGNORECASE,
)
# Kept as they are written: 3.10 is another version than 3.1, and P1 is no number.
_VERSION = re.compile(
    r"(?<![\w.])\d+(?:\.\d+){2,}(?!\.?\d)|(?:\bv\.?|\bversions?\s+|\breleases?\s+|版本\s*)(?P<written>\d+(?:\.\d+)*)",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![a-z0-9])(?:[a-z]+\d[a-z0-9]*|\d+[a-z]+\d[a-z0-9]*)(?![a-z0-9])", re.IGNORECASE)
_NUMBER = re.compile(
    rf"(?:(?P<currency>{CURRENCY_BEFORE})\s*)?(?P<percent>百分之\s*)?"
    r"(?:(?P<sign>(?<![\w)\].,-])[-−](?=\d))?(?P<number>(?<![\d.])"
    # 3,4 may be two numbers, 3,4 % is one.
    rf"(?P<digits>{DECIMAL_COMMA}(?(currency)|(?=\s*(?:{SCALE}|{UNIT_AFTER})))|{FIGURES})"
    rf"(?:\s*(?:{SCALE}|(?(currency)m(?![a-z])|(?!))))?"
    rf"|{ENGLISH_NUMBER}|(?P<chinese>{CHINESE_NUMBER})))"
    rf"(?:st\b|nd\b|rd\b|th\b)?(?:[\s-]*(?P<unit>{UNIT_AFTER}))?(?P<counter>[个次名份条页倍项种台件张位人家级层]?)",
    re.IGNORECASE,
)

_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|of|from|until|by|before|after|during|and|to) \Z|[(（]\Z", re.IGNORECASE
)
_LONGEST_BEFORE_YEAR = len(" during ")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, date, time or code.

    `key` is its normal form, `unit` the currency, percentage, measure or unit of time beside it, `shown` its
    words, `digits` the digits as they are written, `span` where it stands in the valid text. What is `vague`
    may be mere grammar ("one of them", 一般): it supports others and needs no support itself. What may be a
    `year` stands as one: in 2024, 2024年.
    """

    key: str
    unit: str | None
    shown: str
    digits: str | None = None
    vague: bool = False
    year: bool = False
    span: tuple[int, int] = field(default=(0, 0), compare=False)

    @property
    def is_code(self) -> bool:
        """Whether it is a name that holds digits."""
        return self.key.startswith("code:")


@lru_cache(maxsize=2_048)
def quantities(text: str) -> tuple[Quantity, ...]:
    """All quantities of a text, in no certain order."""
    text = valid_text(text)
    if not holds_number(text):
        return ()
    found: list[Quantity] = []
    for pattern, quantity in (*((way, _date) for way in DATES), (_TIME, _time), (_VERSION, _version),
                              (_CODE, _code), (_NUMBER, _number)):  # fmt: skip
        if matches := list(pattern.finditer(text)):
            found += map(quantity, matches)
            # What is read must not be read again, in parts, as numbers.
            text = pattern.sub(lambda match: " " * len(match[0]), text)
    return tuple(found)


def is_stated(wanted: Quantity, given: Sequence[Quantity], text: str) -> bool:
    """Whether a text, whose quantities are given, states the wanted one.

    A date is stated by the same or a more exact one, a year and a 月 by any date in it. A number's unit may
    stand anywhere in the text, as in a table's header, unless the number always has another one beside it.
    """
    if wanted.key.startswith("date:"):
        return any(_is_part_of(wanted.key, other.key) or _is_same_version(other, wanted) for other in given)
    same = [other for other in given if other.key == wanted.key or _is_same_version(other, wanted)]
    if any(_is_year_or_month(wanted, other) for other in given):
        return True
    if any(wanted.unit in (None, other.unit) for other in same):
        return True
    return any(other.unit is None for other in same) and wanted.unit in units_named(text)


def _date(match: re.Match[str]) -> Quantity:
    year, month, day = date_parts(match)
    return Quantity(
        f"date:{year or '????'}-{month:02}-{day or 0:02}", None, match[0], match[0], span=match.span()
    )


def _is_same_version(one: Quantity, other: Quantity) -> bool:
    """Whether a version is meant and is written alike: that it is one need not be said twice."""
    return one.digits == other.digits and any(each.key.startswith("version:") for each in (one, other))


def _is_part_of(wanted: str, given: str) -> bool:
    """Whether all that one date says, the other says too."""
    if not given.startswith("date:"):
        return False
    pairs = zip(wanted.split("-"), given.split("-"), strict=True)
    return all(one == other or one in ("date:????", "00") for one, other in pairs)


def _is_year_or_month(wanted: Quantity, given: Quantity) -> bool:
    """Whether a number is the year of a date, or 三月 its month."""
    if not given.key.startswith("date:"):
        return False
    year, month, _ = given.key.removeprefix("date:").split("-")
    if wanted.unit == "calendar month":
        return wanted.key == month.lstrip("0")
    return wanted.key == year and wanted.year


def _time(match: re.Match[str]) -> Quantity:
    hour, half = int(match["hour"] or match["whole_hour"]), match["half"] or match["its_half"]
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    return Quantity(f"time:{hour}:{match['minute'] or '00'}", None, match[0], span=match.span())


def _version(match: re.Match[str]) -> Quantity:
    written = match["written"] or match[0]
    return Quantity(f"version:{written}", None, match[0], written, span=match.span())


def _code(match: re.Match[str]) -> Quantity:
    return Quantity(f"code:{match[0].lower()}", None, match[0], span=match.span())


def _number(match: re.Match[str]) -> Quantity:
    value = parse_number(match["number"])
    beside = match["currency"] or match["unit"]
    unit = "%" if match["percent"] else unit_of(beside) if beside else None
    key = f"{-value if match['sign'] else value:f}"
    if "." in key:
        key = key.rstrip("0").rstrip(".")
    vague = unit is None and _is_vague(match)
    year = match["unit"] == "年" or (unit is None and _stands_as_year(match))
    return Quantity(key, unit, match[0].strip(), match["digits"], vague, year, match.span())


def _stands_as_year(match: re.Match[str]) -> bool:
    start = match.start("number")
    return _BEFORE_YEAR.search(match.string, max(0, start - _LONGEST_BEFORE_YEAR), start) is not None


def _is_vague(match: re.Match[str]) -> bool:
    if match["chinese"]:
        lone = len(match["chinese"]) == 1 and not (match["counter"] and match["chinese"] != "一")
        return lone or match["chinese"] in ("千万", "万一")
    return match["number"].lower() == "one"
