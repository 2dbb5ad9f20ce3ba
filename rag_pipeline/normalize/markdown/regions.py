"""Which parts of a Markdown text are code or tables, where markup means itself."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

# No pattern of ours matches it, and no text that passed cleaning holds it.
MASK: Final = "\x00"
_TICKS: Final = re.compile(r"(?<![\\`])(`+)(?!`)|\n[^\S\n]*\n")
_FENCE: Final = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})")
_NOT_NEWLINE: Final = re.compile(r"[^\n]")


class Regions(NamedTuple):
    """A text's blocks: `masked` is the text with its code blanked out, `tables` are numbers of lines."""

    tokens: list[Token]
    offsets: list[int]
    masked: str
    tables: frozenset[int]


def find_regions(text: str) -> Regions:
    """Parse a text whose newlines are `\\n`."""
    tokens = _parser().parse(text)
    lines = text.split("\n")
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    parts = list(lines)
    for first, end in _code_lines(tokens, lines):
        for number in range(first, min(end, len(parts))):
            parts[number] = MASK * len(parts[number])
    tables = frozenset(
        number for token in tokens if token.type == "table_open" and token.map for number in range(*token.map)
    )
    return Regions(tokens, offsets, _without_code_spans("\n".join(parts)), tables)


def _code_lines(tokens: list[Token], lines: list[str]) -> Iterator[tuple[int, int]]:
    """Ranges of lines that are code, those of fences inside of HTML blocks included."""
    for token in tokens:
        if token.map is None:
            continue
        if token.type in ("fence", "code_block"):
            yield token.map[0], token.map[1]
        elif token.type == "html_block":
            yield from _fences(lines, *token.map)


def _fences(lines: list[str], first: int, end: int) -> Iterator[tuple[int, int]]:
    opened: tuple[int, str] | None = None
    for number in range(first, end):
        match = _FENCE.match(lines[number])
        if opened is None and match:
            opened = number, match.group(1)
        elif opened and lines[number].strip().startswith(opened[1]):
            yield opened[0], number + 1
            opened = None


def _without_code_spans(text: str) -> str:
    """The text with its inline code blanked out; a span does not reach over an empty line."""
    parts: list[str] = []
    at = 0
    for first, last in _code_spans(text):
        parts += (text[at:first], _NOT_NEWLINE.sub(MASK, text[first:last]))
        at = last
    return "".join([*parts, text[at:]])


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    paragraph: list[re.Match[str]] = []
    for match in _TICKS.finditer(text):
        if match.group(1):
            paragraph.append(match)
        else:
            yield from _pairs(paragraph)
            paragraph = []
    yield from _pairs(paragraph)


def _pairs(ticks: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Spans from runs of backticks to the next runs that are as long."""
    later: dict[int, list[int]] = {}
    for number in reversed(range(len(ticks))):
        later.setdefault(len(ticks[number].group(1)), []).append(number)
    number = 0
    while number < len(ticks):
        same = later[len(ticks[number].group(1))]
        while same and same[-1] <= number:
            same.pop()
        if same:
            yield ticks[number].start(), ticks[same[-1]].end()
            number = same[-1]
        number += 1


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable("inline")
