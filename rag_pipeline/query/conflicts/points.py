"""Dates and versions: values whose parts are numbers of their own."""

import re
from collections.abc import Iterator

from rag_pipeline.query.calendar_dates import DATES, date_parts
from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.value import Value

# https://example.com/2024/03/01/news and ?since=2024-03-01 say nothing of what they stand beside.
_IN_ADDRESS = re.compile(r"(?<=[^\d\s][/=])")

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
    for way in DATES:
        for match in way.finditer(text):
            if not _IN_ADDRESS.match(text, match.start()):
                yield Value(ValueKind.DATE, match[0], match.start(), match.end(), parts=date_parts(match))


def find_versions(text: str) -> Iterator[Value]:
    """The versions that a text names, as their numbers."""
    for match in _VERSION.finditer(text):
        group = match.lastgroup or "three"
        start, end = (match.start(), match.end()) if group == "marked" else match.span(group)
        parts = tuple(int(number) for number in match[group].split("."))
        yield Value(ValueKind.VERSION, text[start:end], start, end, parts=parts)
