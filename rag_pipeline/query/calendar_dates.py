"""Calendar dates as they are written: ISO, English and Chinese, in figures and words."""

import re
from typing import Final

from rag_pipeline.query.numbers import CHINESE_CHARACTER, parse_number, without_case

_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d\d)(?![0-9a-z])"
_MONTH = r"(?P<month>1[0-2]|0?[1-9])"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])"
_ENGLISH_DAY = rf"{_DAY}(?:st|nd|rd|th)?"
_CHINESE_START = rf"(?<!\d)(?<!{CHINESE_CHARACTER})"
_CHINESE_YEAR = r"(?P<year>\d{4}|[〇零一二三四五六七八九]{4})"
_CHINESE_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
_CHINESE_DAY = (
    r"(?P<day>3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])\s*[日号號]"
)
# 2024.3.1 may be a version too; it is one where the text says so.
_NO_VERSION = r"(?<!version\s)(?<!release\s)(?<!版本)(?<!版本\s)"

DATES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![0-9a-z_.-]){_NO_VERSION}(?P<year>\d{{4}})(?P<dash>[-/.]){_MONTH}(?P=dash){_DAY}"
        r"(?!\d|[.-]\d|(?P=dash)\d)",
        rf"{_CHINESE_START}{_CHINESE_YEAR}\s*年\s*{_CHINESE_MONTH}\s*月(?:\s*{_CHINESE_DAY})?",
        rf"{_CHINESE_START}{_CHINESE_MONTH}\s*月\s*{_CHINESE_DAY}",
        rf"(?<![a-z]){_NAME}\s+{_ENGLISH_DAY}(?![0-9a-z]|:\d)(?:,?\s+{_YEAR})?",
        rf"(?<![0-9a-z.]){_ENGLISH_DAY}(?:\s+of)?\s+{_NAME}(?:,?\s+{_YEAR})?",
        rf"(?<![a-z]){_NAME}(?:\s+of)?,?\s+{_YEAR}",
    )
)
"""The ways to write a date. What an earlier one takes is none of a later one: March 2024 in 1 March 2024."""


def date_parts(match: re.Match[str]) -> tuple[int | None, int, int | None]:
    """Year, month and day of what one of DATES matched; None for a year or day that is left out."""
    found = match.groupdict()
    month = _NAMES.index(without_case(found["name"])[:3]) + 1 if found.get("name") else _whole(found["month"])
    return _whole_or_none(found.get("year")), month, _whole_or_none(found.get("day"))


def _whole(written: str) -> int:
    return int(parse_number(written))


def _whole_or_none(written: str | None) -> int | None:
    return _whole(written) if written else None
