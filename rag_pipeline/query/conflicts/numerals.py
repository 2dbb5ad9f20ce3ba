"""Numbers as they are written: figures, English and Chinese number words.

The patterns are for use inside longer ones; all of them take time linear in the text.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

_SMALL: Final[Mapping[str, int]] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS: Final[Mapping[str, int]] = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_SCALES: Final[Mapping[str, int]] = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WORDS: Final = {**_SMALL, **_TENS, **_SCALES, "dozen": 12}

_CHINESE_DIGITS: Final[Mapping[str, int]] = {
    **{character: number for number, character in enumerate("零一二三四五六七八九")},
    "〇": 0, "两": 2,
}  # fmt: skip
_CHINESE_SCALES: Final[Mapping[str, int]] = {"十": 10, "百": 100, "千": 1_000}
_CHINESE_MYRIADS: Final[Mapping[str, int]] = {"万": 10_000, "亿": 100_000_000}

_FIGURES = r"(?:\d{1,3}(?:[,'\u00a0\u202f]\d{3}){1,4}(?![\d])(?:\.\d{1,6})?|\d{1,12}(?:[.,]\d{1,6})?)"
_ENGLISH = (
    rf"\b(?:{'|'.join([*_SMALL, *_TENS, 'hundred', 'thousand', 'dozen'])}|an?[ ](?:hundred|thousand|dozen))\b"
    rf"(?:[ -](?:and[ ])?(?:{'|'.join([*_SMALL, *_TENS, *_SCALES])})\b){{0,7}}+"
)
_CHINESE = r"(?<![〇零一二三四五六七八九十百千万亿两])[〇零一二三四五六七八九十百千万亿两]{1,12}+"

NUMBER: Final = rf"(?:(?<![A-Za-z0-9.,]){_FIGURES}(?:[ ]?[万亿千百]++)?|{_ENGLISH}|{_CHINESE})"
"""A number in figures or words. Needs re.IGNORECASE."""

_WRITTEN = re.compile(r"(?P<figures>[\d.,'\u00a0\u202f]+)[ ]?(?P<scale>[万亿千百]*)")
_GROUPED = re.compile(r"\d{1,3}(?:[,'\u00a0\u202f]\d{3})+(?:\.\d+)?")


def parse_number(written: str) -> Decimal | None:
    """What a number means that NUMBER matched; None where the words make no number."""
    written = written.strip()
    if match := _WRITTEN.fullmatch(written):
        return _figures(match["figures"]) * _chinese_scale(match["scale"])
    if written and all(
        character in _CHINESE_DIGITS or character in _CHINESE_SCALES or character in _CHINESE_MYRIADS
        for character in written
    ):
        return _chinese(written)
    return _english(written.lower())


def _figures(written: str) -> Decimal:
    if _GROUPED.fullmatch(written):
        return Decimal(re.sub(r"[,'\u00a0\u202f]", "", written))
    # A single comma that does not group thousands is a decimal one.
    return Decimal(written.replace(",", "."))


def _chinese_scale(scale: str) -> int:
    factor = 1
    for character in scale:
        factor *= _CHINESE_SCALES.get(character) or _CHINESE_MYRIADS[character]
    return factor


def _chinese(written: str) -> Decimal:
    if all(character in _CHINESE_DIGITS for character in written):
        return Decimal("".join(str(_CHINESE_DIGITS[character]) for character in written))
    total = section = digit = last_scale = 0
    for character in written:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
            if not digit:
                last_scale = 10
        elif character in _CHINESE_SCALES:
            last_scale = _CHINESE_SCALES[character]
            section += (digit or 1) * last_scale
            digit = 0
        else:
            last_scale = _CHINESE_MYRIADS[character]
            total = (total + section + digit or 1) * last_scale
            section = digit = 0
    # The last digit counts the next lower scale: 一百五 is 150, 三万五 is 35,000.
    return Decimal(total + section + digit * max(1, last_scale // 10))


def _english(written: str) -> Decimal | None:
    total = section = 0
    for word in re.split(r"[ -]+", written):
        if word in ("and", "a", "an"):
            continue
        number = _WORDS.get(word)
        if number is None:
            return None
        if word in ("hundred", "dozen"):
            section = (section or 1) * number
        elif word in _SCALES:
            total += (section or 1) * number
            section = 0
        else:
            section += number
    return Decimal(total + section)
