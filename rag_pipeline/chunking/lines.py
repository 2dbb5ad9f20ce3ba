"""Taking text apart by lines."""

import re

# A line with its end and the blank lines after it; before the first line also those before it. Possessive, so
# that long runs of blank lines or spaces cost linear time.
_BLANK = r"(?:[^\S\n]*+\n)*+"
_LINE = re.compile(rf"{_BLANK}[^\n]*+\n?+{_BLANK}(?:\s++\Z)?+")


def solid_lines(text: str) -> list[str]:
    """The lines with their ends, put together the text. Blank lines stay with the line before them."""
    return [line for line in _LINE.findall(text) if line]
