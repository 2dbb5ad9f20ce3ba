"""Numbers as they are written: figures, English and Chinese number words, and what they mean.

The patterns are for use inside longer ones, with re.IGNORECASE; all take time linear in the text.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import prod
from typing import Final

_UNDER_TWENTY: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
""".split()  # noqa: SIM905
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ADDED: Final[Mapping[str, int]] = {
    **{word: number for number, word in enumerate(_UNDER_TWENTY)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
}
_LARGE: Final[Mapping[str, int]] = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_CHINESE_DIGITS: Final[Mapping[str, int]] = {
    **{character: number for number, character in enumerate("零一二三四五六七八九")},
    "〇": 0, "两": 2, "兩": 2,
}  # fmt: skip
_CHINESE_PLACES: Final[Mapping[str, int]] = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS: Final[Mapping[str, int]] = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_SCALES: Final[Mapping[str, int]] = {
    "hundred": 100, **_LARGE, "k": 10**3, "m": 10**6, "bn": 10**9, **_CHINESE_PLACES, **_MYRIADS,
}  # fmt: skip

_JOINT = r"(?:-|\s+)"
_AND = rf"(?:\s+and\s+|{_JOINT})"
_WORD = rf"(?:{'|'.join([*_ADDED, 'hundred', 'dozen', *_LARGE])})\b"
_UNDER_HUNDRED = (
    rf"(?:(?:{'|'.join(_TENS)})(?:{_JOINT}(?:{'|'.join(_UNDER_TWENTY[1:10])}))?"
    rf"|(?:{'|'.join(_UNDER_TWENTY)}))\b"
)
# One hundred and two hundred are two numbers.
_UNDER_THOUSAND = (
    rf"(?:(?:{_UNDER_HUNDRED}{_JOINT})?(?:dozen|hundred\b(?:{_AND}{_UNDER_HUNDRED}"
    rf"(?!{_JOINT}(?:dozen|hundred)\b))?)|{_UNDER_HUNDRED})\b"
)
_LARGE_WORD = rf"(?:{'|'.join(_LARGE)})\b"
ENGLISH_NUMBER: Final = (
    # The look ahead saves most words from being tried in every way.
    rf"\b(?>(?=(?:(?:half\s+)?an?\s+)?{_WORD})(?:(?:half\s+)?an?\s+(?=hundred|dozen|{_LARGE_WORD}))?"
    rf"(?:(?:{_UNDER_THOUSAND}{_JOINT})?{_LARGE_WORD}(?:{_JOINT}{_UNDER_THOUSAND}{_JOINT}{_LARGE_WORD}){{0,3}}"
    rf"(?:{_AND}{_UNDER_THOUSAND}(?!{_JOINT}(?:dozen|hundred|{_LARGE_WORD})))?|{_UNDER_THOUSAND}))"
)
"""A number in English words."""

CHINESE_CHARACTER: Final = f"[{''.join((*_CHINESE_DIGITS, *_CHINESE_PLACES, *_MYRIADS))}]"
CHINESE_NUMBER: Final = rf"{CHINESE_CHARACTER}{{1,40}}+"
"""A number in Chinese words. A longer run is none, and is taken for several."""

_GROUPED_FIGURES = r"\d{1,3}(?:[,'\u00a0\u202f]\d{3})+(?!\d)(?:\.\d+)?"
DECIMAL_COMMA: Final = r"(?<!\d,)\d++,\d{1,2}(?!\d|,\d)"
"""6,50: one number where its unit stands beside it, elsewhere perhaps two of a list."""
FIGURES: Final = rf"(?:{_GROUPED_FIGURES}|\d++(?:\.\d++)?)"
FIGURES_OF_UNIT: Final = rf"(?:{_GROUPED_FIGURES}|{DECIMAL_COMMA}|{FIGURES})"
"""Figures whose unit stands beside them."""
SCALE: Final = (
    rf"(?:(?:hundred|{'|'.join(_LARGE)}|bn|k)(?![a-z])|(?:百|千(?![克米瓦帕赫卡])|[万萬亿億]){{1,3}}+)"
)
"""What multiplies the figures before it. 千 does not where it belongs to a unit, as in 千克."""

NUMBER: Final = (
    rf"(?:(?<![A-Za-z0-9.,]){FIGURES_OF_UNIT}(?:\s*{SCALE})?"
    rf"|{ENGLISH_NUMBER}|(?<!{CHINESE_CHARACTER}){CHINESE_NUMBER})"
)
"""A number in figures or words with its unit beside it."""

_GROUPED = re.compile(_GROUPED_FIGURES)
_OF_A_NUMBER = re.compile(rf"\d|{CHINESE_CHARACTER}|\b{_WORD}", re.IGNORECASE)
_SCALED = re.compile(r"(?P<figures>\d[\d.,'\u00a0\u202f]*)\s*(?P<scale>\D*)")


def holds_number(text: str) -> bool:
    """Whether a text may hold a number, in figures or words. That most sentences hold none is soon told."""
    return _OF_A_NUMBER.search(text) is not None


def find_with_number(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern of which every match holds a number; none need be sought where none is."""
    return pattern.finditer(text) if holds_number(text) else iter(())


def parse_number(written: str) -> Decimal:
    """What a number means that one of the patterns here matched. Behind figures m is a million."""
    written = without_case(written.strip())
    if match := _SCALED.fullmatch(written):
        return _figures(match["figures"].strip(), match["scale"])
    return _english(written) if written[0].isascii() else _chinese(written)


def without_case(written: str) -> str:
    """What a pattern matched with re.IGNORECASE, as the pattern has it: ſ for an s, ı and İ for an i."""
    return written.casefold().replace("ı", "i").replace("\u0307", "")


def _figures(written: str, scale: str) -> Decimal:
    if _GROUPED.fullmatch(written):
        number = Decimal(re.sub(r"[,'\u00a0\u202f]", "", written))
    else:
        number = Decimal(written.replace(",", "."))
    if not scale:
        return number
    return number * (_SCALES.get(scale) or prod(_SCALES[character] for character in scale))


def _english(written: str) -> Decimal:
    total = part = 0
    words = re.findall(r"[a-z]+", written)
    for word in words:
        if word in _LARGE:
            total += (part or 1) * _LARGE[word]
            part = 0
        elif word in ("hundred", "dozen"):
            part = (part or 1) * (100 if word == "hundred" else 12)
        else:
            # "and", and the article of "a hundred", add nothing.
            part += _ADDED.get(word, 0)
    number = Decimal(total + part)
    return number / 2 if words[0] == "half" else number


def _chinese(written: str) -> Decimal:
    if all(character in _CHINESE_DIGITS for character in written):
        return Decimal("".join(str(_CHINESE_DIGITS[character]) for character in written))
    total = section = digit = last_scale = 0
    for character in written:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
            if not digit:
                last_scale = 10
        elif character in _CHINESE_PLACES:
            last_scale = _CHINESE_PLACES[character]
            section += (digit or 1) * last_scale
            digit = 0
        else:
            last_scale = _MYRIADS[character]
            # 三万亿 multiplies the myriads before it, 一亿三万 leaves them alone.
            higher, lower = divmod(total, last_scale)
            counted = lower + section + digit
            total = higher * last_scale + counted * last_scale if counted else (total or 1) * last_scale
            section = digit = 0
    # The last digit counts the next lower scale: 一百五 is 150, 三万五 is 35,000.
    return Decimal(total + section + digit * max(1, last_scale // 10))
