"""Dates and times as a spreadsheet shows them.

A format that leaves the order of day and month to the reader's own computer is shown as ISO 8601, which reads
the same everywhere.
"""

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

# Formats 14 and 22 of the built-in ones and Windows' own long date and time follow the reader's settings.
_OF_THE_READER: Final = re.compile(r"mm-dd-yy|m/d/yy h:mm|.*\[\$-F[84]00\].*", re.IGNORECASE)
_DAY_ZERO: Final = date(1899, 12, 30)
_TOKEN: Final = re.compile(
    r'"(?P<literal>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[(?P<elapsed>h+|m+|s+)\]|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[[^\]]*\]|(?P<half>AM/PM|A/P|上午/下午)|(?P<year>y+|e+)|(?P<month>m+)|(?P<day>d+)|(?P<weekday>a{3,4})"
    r"|(?P<hour>h+)|(?P<second>s+)|\.(?P<part>0+)|(?P<skip>General|[gb@]+)|(?P<plain>.)",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE_DAYS: Final = "一二三四五六日"


class _Token(NamedTuple):
    kind: str
    text: str


def date_shown(value: date | time | timedelta, number_format: str) -> str:
    """A date, time or duration as its cell shows it."""
    duration = value if isinstance(value, timedelta) else None
    moment = _moment(value)
    if _OF_THE_READER.fullmatch(number_format):
        return _iso(value, moment)
    tokens = _tokens(number_format)
    half = any(token.kind == "half" for token in tokens)
    shown = "".join(_shown(token, moment, duration, half) for token in tokens).strip()
    return shown or _iso(value, moment)


def _moment(value: date | time | timedelta) -> datetime:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, time):
        return datetime.combine(_DAY_ZERO, value)
    return datetime.combine(_DAY_ZERO, time()) + value


def _iso(value: date | time | timedelta, moment: datetime) -> str:
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, time):
        return value.isoformat("seconds")
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat(" ", "seconds")


@lru_cache(maxsize=1024)
def _tokens(number_format: str) -> tuple[_Token, ...]:
    """The tokens of the first section; `m` becomes a minute beside hours and seconds."""
    tokens = [
        _Token(match.lastgroup, match[match.lastgroup])
        for match in _TOKEN.finditer(number_format)
        if match.lastgroup is not None
    ]
    end = next((at for at, token in enumerate(tokens) if token == _Token("plain", ";")), len(tokens))
    tokens = tokens[:end]
    parts = [
        at for at, token in enumerate(tokens) if token.kind not in ("literal", "escaped", "plain", "half")
    ]
    for number, at in enumerate(parts):
        before = tokens[parts[number - 1]] if number else _Token("", "")
        after = tokens[parts[number + 1]] if number + 1 < len(parts) else _Token("", "")
        hours = before.kind == "hour" or (before.kind == "elapsed" and before.text[0] in "hH")
        if tokens[at].kind == "month" and len(tokens[at].text) <= 2 and (hours or after.kind == "second"):
            tokens[at] = _Token("minute", tokens[at].text)
    return tuple(tokens)


def _shown(token: _Token, moment: datetime, duration: timedelta | None, half: bool) -> str:
    width = len(token.text)
    match token.kind:
        case "year":
            return f"{moment:%y}" if width <= 2 and token.text[0] in "yY" else f"{moment.year:04d}"
        case "month":
            names = {3: f"{moment:%b}", 4: f"{moment:%B}", 5: f"{moment:%b}"[0]}
            return names.get(width, f"{moment.month:0{min(width, 2)}d}")
        case "day":
            names = {3: f"{moment:%a}", 4: f"{moment:%A}"}
            return names.get(width, f"{moment.day:0{min(width, 2)}d}")
        case "weekday":
            return ("周" if width == 3 else "星期") + _CHINESE_DAYS[moment.weekday()]
        case "hour":
            return f"{(moment.hour + 11) % 12 + 1 if half else moment.hour:0{min(width, 2)}d}"
        case "minute":
            return f"{moment.minute:0{min(width, 2)}d}"
        case "second":
            return f"{moment.second:0{min(width, 2)}d}"
        case "part":
            return f".{moment.microsecond:06d}"[: width + 1]
        case "elapsed":
            seconds = int((duration or moment - datetime.combine(_DAY_ZERO, time())).total_seconds())
            return f"{seconds // {'h': 3600, 'm': 60, 's': 1}[token.text[0].lower()]:0{width}d}"
        case "half":
            morning, _, evening = token.text.partition("/")
            return morning if moment.hour < 12 else evening
        case "skip":
            return ""
        case _:
            return token.text
