"""Amounts of money, shares in percent, and things that are counted."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.numerals import NUMBER, parse_number
from rag_pipeline.query.conflicts.terms import MEASURES, noun_of
from rag_pipeline.query.conflicts.value import Value

_CURRENCIES: Final[Mapping[str, str]] = {
    "€": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR",
    "$": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD", "美元": "USD", "美金": "USD",
    "£": "GBP", "pound": "GBP", "pounds": "GBP", "英镑": "GBP",
    # In business texts of this pair of languages the sign is the yuan; yen are named.
    "¥": "CNY", "￥": "CNY", "rmb": "CNY", "yuan": "CNY", "元": "CNY", "块": "CNY", "块钱": "CNY",
    "人民币": "CNY",
    "yen": "JPY", "日元": "JPY", "港元": "HKD", "港币": "HKD",
}  # fmt: skip
_CODES = "EUR|USD|GBP|CNY|RMB|JPY|CHF|HKD|SEK|NOK|DKK|ISK|PLN|CZK|CAD|AUD|NZD|SGD|INR|TWD"
_SCALES: Final[Mapping[str, int]] = {"k": 1_000, "million": 1_000_000, "m": 1_000_000, "": 1}

_BEFORE = rf"(?:\b(?:{_CODES})[ ]?|US\$|[€$£¥￥][ ]?|人民币[ ]?)"
_BEHIND = (
    rf"(?:(?:{_CODES})\b|euros?\b|dollars?\b|pounds?\b|yuan\b|yen\b"
    r"|欧元|美元|美金|英镑|日元|港元|港币|元|块钱?|[€$£])"
)
_RANGE = r"(?:[ ]?(?:-|–|—|~|至|到)[ ]?|[ ]to[ ])"
_PLAIN_FIGURES = r"\d{1,3}(?:[,'\u00a0\u202f]\d{3}){1,4}(?!\d)(?:\.\d{1,6})?|\d{1,12}(?:[.,]\d{1,6})?"
_MONEY = re.compile(
    rf"(?P<before>{_BEFORE})(?P<first>{_PLAIN_FIGURES})(?:{_RANGE}(?P<second>{_PLAIN_FIGURES}))?"
    rf"[ ]?(?P<scale>k\b|m\b|million\b|[万亿千百]*)"
    rf"|(?:(?P<low>{NUMBER}){_RANGE})?(?P<high>{NUMBER})[ ]?(?P<behind>{_BEHIND})",
    re.IGNORECASE,
)
_FREE = re.compile(
    r"\b(?:free[ ]of[ ](?:charge|cost)|at[ ]no[ ](?:cost|charge)"
    r"|(?:is|are|always)[ ]free\b(?![ ](?:to|from)))"
    r"|\bno[ ](?:[a-z]{3,20}[ ]){0,2}(?:fees?|charges?)\b"
    r"|免费|全免|不(?:另|再)?收取?(?:任何|额外)?[\u4e00-\u9fff]{0,6}费用?",
    re.IGNORECASE,
)

_PERCENT = re.compile(
    rf"(?:(?P<low>{NUMBER}){_RANGE})?(?P<high>{NUMBER})[ ]?(?:%|％|percent\b|per[ ]cent\b|pct\b)"
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
    rf"|[ ]?(?P<zh>(?:{_CLASSIFIERS}|(?<=[0-9 ])位)[\u4e00-\u9fff]{{0,6}})"
    r"|[ ](?P<en>[a-z]{2,20}(?:[ -][a-z]{3,20}){0,2}))",
    re.IGNORECASE,
)


def find_money(text: str) -> Iterator[Value]:
    """The amounts of money that a text names; nothing to pay is the amount 0."""
    for match in _MONEY.finditer(text):
        written = match["before"] or match["behind"]
        name = written.strip().lower()
        currency = _CURRENCIES.get(name, name.upper())
        if match["before"]:
            factor = _scale(match["scale"])
            high = _times(match["second"] or match["first"], factor)
            low = _times(match["first"], factor)
        else:
            high = _times(match["high"], 1)
            low = _times(match["low"] or match["high"], 1)
        if low is not None and high is not None:
            yield _value(ValueKind.MONEY, match, currency, low, high)
    for match in _FREE.finditer(text):
        yield _value(ValueKind.MONEY, match, "", Decimal(0), Decimal(0))


def find_percentages(text: str) -> Iterator[Value]:
    """The shares and discounts that a text names, in percent; 九折 is 10 % off, and no fee is 0 %."""
    for match in _PERCENT.finditer(text):
        low = high = None
        if match["fraction"]:
            low = high = _FRACTIONS[match["fraction"].lower().split()[-1]]
        elif match["off"]:
            tenths = parse_number(match["off"])
            low = high = None if tenths is None else (10 - tenths) * 10
        elif match["share"]:
            share = parse_number(match["share"])
            low = high = None if share is None else share / _PARTS_OF[match["of"]]
        else:
            high = parse_number(match["high"])
            low = parse_number(match["low"]) if match["low"] else high
        if low is not None and high is not None:
            yield _value(ValueKind.PERCENTAGE, match, "%", low, high)
    for match in _FREE.finditer(text):
        yield _value(ValueKind.PERCENTAGE, match, "%", Decimal(0), Decimal(0))


def find_counts(text: str) -> Iterator[Value]:
    """Numbers of things, and measures. What is counted is the unit; a number of nothing named is no count."""
    for match in _COUNT.finditer(text):
        number = parse_number(match["high"])
        if number is None:
            continue
        if match["measure"]:
            unit = _SAME_MEASURES.get(match["measure"], match["measure"])
            yield _value(ValueKind.COUNT, match, unit, number, number)
        else:
            phrase = match["en"] or match["zh"]
            noun, counted = noun_of(phrase, singular=number == 1)
            if noun:
                end = match.end() - len(phrase) + len(counted)
                value = _value(ValueKind.COUNT, match, noun, number, number)
                yield replace(value, shown=text[match.start() : end], end=end)


def _scale(written: str) -> int:
    if written.lower() in _SCALES:
        return _SCALES[written.lower()]
    factor = parse_number(f"1{written}")
    return int(factor) if factor else 1


def _times(written: str, factor: int) -> Decimal | None:
    number = parse_number(written)
    return None if number is None else number * factor


def _value(kind: ValueKind, match: re.Match[str], unit: str, low: Decimal, high: Decimal) -> Value:
    shown, start = match[0].strip(), match.start()
    return Value(kind, shown, start, start + len(shown), unit=unit, low=min(low, high), high=max(low, high))
