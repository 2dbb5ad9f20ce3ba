"""Amounts of money, shares in percent, and things that are counted."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.terms import MEASURES, noun_of
from rag_pipeline.query.conflicts.value import Value, amount
from rag_pipeline.query.numbers import (
    FIGURES_OF_UNIT,
    NUMBER,
    SCALE,
    find_with_number,
    parse_number,
    without_case,
)
from rag_pipeline.query.scripts import HAN
from rag_pipeline.query.units import CURRENCY_AFTER, CURRENCY_BEFORE, PERCENT, unit_of

_RANGE = r"(?:[ ]?(?:-|–|—|~|至|到)[ ]?|[ ]to[ ])"
_MONEY = re.compile(
    rf"(?P<before>{CURRENCY_BEFORE})[ ]?(?P<first>{FIGURES_OF_UNIT})"
    rf"(?:{_RANGE}(?P<second>{FIGURES_OF_UNIT}))?[ ]?(?P<scale>{SCALE}|m\b)?"
    rf"|(?:(?P<low>{NUMBER}){_RANGE})?(?P<high>{NUMBER})[ ]?(?P<behind>{CURRENCY_AFTER})",
    re.IGNORECASE,
)
_FREE = re.compile(
    r"\b(?:free[ ]of[ ](?:charge|cost)|at[ ]no[ ](?:cost|charge)"
    r"|(?:is|are|always)[ ]free\b(?![ ](?:to|from)))"
    r"|\bno[ ](?:[a-z]{3,20}[ ]){0,2}(?:fees?|charges?)\b"
    rf"|免费|全免|不(?:另|再)?收取?(?:任何|额外)?[{HAN}]{{0,6}}费用?",
    re.IGNORECASE,
)

_PERCENT = re.compile(
    rf"(?:(?P<low>{NUMBER}){_RANGE})?(?P<high>{NUMBER})[ ]?{PERCENT}"
    rf"|(?P<of>[百千万])分之(?P<share>{NUMBER})"
    r"|(?P<off>[一二三四五六七八九]|\d(?:\.\d)?)折(?!叠)"
    r"|\b(?P<fraction>an?[ ](?:quarter|third|tenth|half)|half)(?=[ ]of\b)",
    re.IGNORECASE,
)
_PARTS_OF: Final[Mapping[str, int]] = {"百": 1, "千": 10, "万": 100}
_FRACTIONS: Final[Mapping[str, Decimal]] = {
    "half": Decimal(50), "third": Decimal(100) / 3, "quarter": Decimal(25), "tenth": Decimal(10),
}  # fmt: skip

_CLASSIFIERS = "个|名|位|人|台|件|次|份|张|条|只|辆|间|家|本|页|项|套|箱|块|株|盒|款|种|门|艘|棵|枚|遍|轮"
_SAME_MEASURES: Final[Mapping[str, str]] = {
    "米": "m", "厘米": "cm", "毫米": "mm", "公里": "km", "千米": "km", "公斤": "kg", "千克": "kg", "克": "g",
    "℃": "°C", "度": "°C",
}  # fmt: skip
_MEASURES = "|".join(sorted((*MEASURES, *_SAME_MEASURES), key=len, reverse=True))
_COUNT = re.compile(
    rf"(?P<high>{NUMBER})(?:[ ]?(?P<measure>{_MEASURES})(?![A-Za-z])"
    rf"|[ ]?(?P<zh>(?:{_CLASSIFIERS}|(?<=[0-9 ])位)[{HAN}]{{0,6}})"
    r"|[ ](?P<en>[a-z]{2,20}(?:[ -][a-z]{3,20}){0,2}))",
    re.IGNORECASE,
)


def find_money(text: str) -> Iterator[Value]:
    """The amounts of money that a text names; nothing to pay is the amount 0."""
    for match in find_with_number(_MONEY, text):
        currency = unit_of(match["before"] or match["behind"]) or ""
        if match["before"]:
            scale = match["scale"] or ""
            low = parse_number(match["first"] + scale)
            high = parse_number(match["second"] + scale) if match["second"] else low
        else:
            high = parse_number(match["high"])
            low = parse_number(match["low"]) if match["low"] else high
        yield amount(ValueKind.MONEY, match[0], match.start(), currency, low, high)
    for match in _FREE.finditer(text):
        yield amount(ValueKind.MONEY, match[0], match.start(), "", Decimal(0))


def find_percentages(text: str) -> Iterator[Value]:
    """The shares and discounts that a text names, in percent; 九折 is 10 % off, and no fee is 0 %."""
    for match in _PERCENT.finditer(text):
        if match["fraction"]:
            low = high = _FRACTIONS[without_case(match["fraction"]).split()[-1]]
        elif match["off"]:
            low = high = (10 - parse_number(match["off"])) * 10
        elif match["share"]:
            low = high = parse_number(match["share"]) / _PARTS_OF[match["of"]]
        else:
            high = parse_number(match["high"])
            low = parse_number(match["low"]) if match["low"] else high
        yield amount(ValueKind.PERCENTAGE, match[0], match.start(), "%", low, high)
    for match in _FREE.finditer(text):
        yield amount(ValueKind.PERCENTAGE, match[0], match.start(), "%", Decimal(0))


def find_counts(text: str) -> Iterator[Value]:
    """Numbers of things, and measures. What is counted is the unit; a number of nothing named is no count."""
    for match in find_with_number(_COUNT, text):
        number = parse_number(match["high"])
        if match["measure"]:
            unit = _SAME_MEASURES.get(match["measure"], match["measure"])
            yield amount(ValueKind.COUNT, match[0], match.start(), unit, number)
        else:
            phrase = match["en"] or match["zh"]
            noun, counted = noun_of(phrase, singular=number == 1)
            if noun:
                shown = text[match.start() : match.end() - len(phrase) + len(counted)]
                yield amount(ValueKind.COUNT, shown, match.start(), noun, number)
