"""Dates and versions: values whose parts are numbers of their own."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.value import Value

_MONTHS: Final[Mapping[str, int]] = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DATE = re.compile(
    r"(?<![\d.-])(?P<iso_year>\d{4})-(?P<iso_month>\d\d)-(?P<iso_day>\d\d)(?![\d-])"
    r"|(?:(?<!\d)(?P<zh_year>\d{4})[ ]?年[ ]?)?(?<!\d)(?P<zh_month>\d{1,2})[ ]?月[ ]?"
    r"(?P<zh_day>\d{1,2})[ ]?[日号]"
    r"|(?<!\d)(?P<zh_year_only>\d{4})[ ]?年[ ]?(?P<zh_month_only>\d{1,2})[ ]?月"
    rf"|(?<![\d.])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ ](?:of[ ])?{_MONTH.format('month')}"
    r"(?:,?[ ](?P<year>\d{4})\b)?"
    rf"|\b{_MONTH.format('us_month')}[ ](?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"(?:,?[ ](?P<us_year>\d{4})\b)?"
    rf"|\b{_MONTH.format('month_only')}[ ](?P<year_only>\d{{4}})\b",
    re.IGNORECASE,
)

_NUMBERS = r"\d{1,6}(?:\.\d{1,6}){0,3}"
_VERSION = re.compile(
    rf"(?<![A-Za-z0-9.])v[ ]?(?P<marked>{_NUMBERS})(?![\d.]*\d)"
    rf"|(?:\b(?:version|release|firmware|build)s?|版本号?|固件)"
    rf"(?:[ ]?(?:is|to|number|为|是|到|：|:|>=|至少))?[ ]?v?(?P<named>{_NUMBERS})(?![A-Za-z%])"
    rf"|(?<![\d.])(?P<before>\d{{1,6}}(?:\.\d{{1,6}}){{1,3}})(?=[ ]?(?:版|及以上版本))"
    r"|(?<![\w.:/-])(?P<three>\d{1,5}\.\d{1,5}\.\d{1,6})(?![\w]|\.\d|[ ]?%)",
    re.IGNORECASE,
)


def find_dates(text: str) -> Iterator[Value]:
    """The calendar dates that a text names, as (year, month, day)."""
    for match in _DATE.finditer(text):
        parts = _date_parts(match)
        _, month, day = parts
        if month and 1 <= month <= 12 and (day is None or 1 <= day <= 31):
            yield Value(ValueKind.DATE, match[0].strip(), match.start(), match.end(), parts=parts)


def find_versions(text: str) -> Iterator[Value]:
    """The versions that a text names, as their numbers."""
    for match in _VERSION.finditer(text):
        group = match.lastgroup or "three"
        start, end = (match.start(), match.end()) if group == "marked" else match.span(group)
        parts = tuple(int(number) for number in match[group].split("."))
        yield Value(ValueKind.VERSION, text[start:end], start, end, parts=parts)


def _date_parts(match: re.Match[str]) -> tuple[int | None, int | None, int | None]:
    if match["iso_year"]:
        return int(match["iso_year"]), int(match["iso_month"]), int(match["iso_day"])
    if match["zh_month"]:
        return _whole(match["zh_year"]), int(match["zh_month"]), int(match["zh_day"])
    if match["zh_month_only"]:
        return int(match["zh_year_only"]), int(match["zh_month_only"]), None
    if match["month"]:
        return _whole(match["year"]), _month(match["month"]), int(match["day"])
    if match["us_month"]:
        return _whole(match["us_year"]), _month(match["us_month"]), int(match["us_day"])
    return int(match["year_only"]), _month(match["month_only"]), None


def _month(name: str) -> int:
    return _MONTHS[name[:3].lower()]


def _whole(written: str | None) -> int | None:
    return int(written) if written else None
