"""Dates and times as people write them in YAML, told apart to the second and always in UTC."""

import re
from datetime import UTC, date, datetime

# Jekyll and YAML write "2026-01-05 10:00:00 +0100"; fromisoformat wants no space before the offset.
_SPACE_BEFORE_OFFSET = re.compile(r"\s+(?=[+-]\d\d?(?::?\d\d)?$|Z$)")
_LOOSE_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})$")


def parse_moment(value: object) -> datetime:
    """A date, a datetime or its ISO 8601 text as an aware datetime in UTC.

    A date means 00:00 UTC of that day, a time without an offset is taken as UTC. Raises ValueError.
    """
    if isinstance(value, str):
        value = _parse_text(value.strip())
    if not isinstance(value, datetime):
        if not isinstance(value, date):
            raise ValueError("must be a date (2026-01-31) or a date and time (2026-01-31T09:30:00Z)")
        value = datetime(value.year, value.month, value.day)
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999") from None


def _parse_text(text: str) -> date:
    if loose := _LOOSE_DATE.fullmatch(text):
        year, month, day = map(int, loose.groups())
        try:
            return date(year, month, day)
        except ValueError as error:
            raise ValueError(f"is not a date: {error}") from None
    try:
        return datetime.fromisoformat(_SPACE_BEFORE_OFFSET.sub("", text))
    except ValueError:
        raise ValueError(
            "is not a date (2026-01-31) or a date and time (2026-01-31T09:30:00Z) in ISO 8601"
        ) from None
