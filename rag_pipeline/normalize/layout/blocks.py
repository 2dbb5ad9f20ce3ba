"""Grouping a page's lines, in reading order, to paragraphs, items of lists, code and rows. Pure functions."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Final

from rag_pipeline.normalize.layout.flow import ends_sentence, has_leaders
from rag_pipeline.normalize.layout.frames import Frame
from rag_pipeline.normalize.layout.lists import Marker, Markers
from rag_pipeline.normalize.layout.page_text import Line
from rag_pipeline.normalize.layout.words import is_mono
from rag_pipeline.normalize.tables.table import Table

# The distance from line to line within a paragraph, in line heights, ends somewhere between these.
_LEAST_SPACING: Final = 1.25
_MOST_SPACING: Final = 4.0
# A paragraph's lines are not further apart than this many times the usual distance of lines as high.
_LOOSE: Final = 1.3
# With fewer lines that look alike, their own distance cannot be told.
_ENOUGH_LINES: Final = 8
_SAME_HEIGHT: Final = 0.2
# An indent of a first line, in line heights.
_LEAST_INDENT: Final = 0.6
_MOST_INDENT: Final = 5.0
# A line that leaves so much of the width free ends a paragraph, whatever follows.
_SHORT: Final = 0.3
# Texts beside each other whose heights differ by more than this are no row: a title beside small print.
_ONE_ROW: Final = 1.4
# An address in a monospaced font is no code.
_LINK: Final = re.compile(r"^[\W\d]*(?:https?://|www\.)\S+$|^\S+@\S+$")
_STYLE: Final = re.compile(
    r"[-,_ ]?(?:PS)?(?:MT)?(?:Ultra|Extra|Semi|Demi)?"
    r"(?:Bold|Italic|Oblique|Ital|It|Light|Medium|Regular|Regu|Roman|Black|Heavy|Medi|Book|Thin|Bd|Cond|PS|MT)+$",
    re.IGNORECASE,
)
# The width of a column shows in so many of a paragraph's last lines.
_LOOK_BACK: Final = 12
_CAPTION: Final = re.compile(
    r"^[\[【(（]?(?:fig(?:ure|\.)?|table|tab\.|example|listing|algorithm|chart|scheme|exhibit|abb(?:ildung|\.)|"
    r"tabelle|tableau|figura|tabla|tabela|рис(?:унок|\.)|таблица|图|圖|表|図|그림|표|شكل|جدول)\s*"
    r"(?:\d|[A-Z][-.]?\d|[IVX]+\b)",
    re.IGNORECASE,
)


class Role(Enum):
    """What a block of lines is."""

    TEXT = "text"
    ITEM = "item"
    CODE = "code"
    CAPTION = "caption"
    ENTRY = "entry"
    """A line of a table of contents."""
    ROW = "row"
    """Texts beside each other: a label and its value."""
    HEADING = "heading"
    FOOTNOTE = "footnote"


@dataclass(slots=True)
class TextBlock:
    """Lines that belong together. `gap` is the space above in line heights, None where a column begins.

    `parts` are the lines by page and column, as (page, frame, lines): a paragraph that goes on in another has
    several.
    """

    role: Role
    parts: list[tuple[int, Frame, list[Line]]]
    gap: float | None = None
    marker: Marker | None = None
    level: int = 0

    @property
    def lines(self) -> list[Line]:
        """All lines of the block."""
        return [line for _, _, lines in self.parts for line in lines]

    @property
    def text(self) -> str:
        """The text of its lines, one below the other."""
        return "\n".join(line.text for line in self.lines)

    @property
    def height(self) -> float:
        """The height of its lines."""
        return median(line.height for line in self.lines)


@dataclass(slots=True)
class TableBlock:
    """A table in its place among the blocks."""

    page: int
    table: Table


Block = TextBlock | TableBlock


@dataclass(frozen=True, slots=True)
class Spacing:
    """How far a paragraph's lines are apart at most, in their heights, by their font and rounded height."""

    usual: float
    by_look: dict[tuple[str, int], float] = field(default_factory=dict)

    def most(self, line: Line) -> float:
        """The largest distance of a line from the one above it in its paragraph."""
        return self.by_look.get((line.font, round(line.height)), self.usual)


def spacing_of(columns: Iterable[Sequence[Line]]) -> Spacing:
    """The spacing of a document from lines in reading order: a little over its narrow distances."""
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    for lines in columns:
        for above, line in pairwise(lines):
            distance = _distance(above, line)
            if 0.5 < distance < _MOST_SPACING and _overlap(above, line) > 0 and _alike(above, line):
                found[line.font, round(line.height)].append(distance)
    limits = {look: _limit(values) for look, values in found.items() if len(values) >= _ENOUGH_LINES}
    return Spacing(_limit([value for values in found.values() for value in values]), limits)


def _limit(distances: Sequence[float]) -> float:
    narrow = sorted(distances)[len(distances) // 4] if distances else _LEAST_SPACING
    return min(max(narrow * _LOOSE, _LEAST_SPACING), _MOST_SPACING)


def blocks_of(
    rows: Sequence[Sequence[Line | Table]],
    *,
    page: int,
    frame: Frame,
    spacing: Spacing,
    markers: Markers,
    code: bool,
) -> Iterator[Block]:
    """The blocks of rows in reading order. `code` says that text of a monospaced font is code."""
    builder = _Builder(page, frame, spacing, markers, code)
    for row in rows:
        yield from builder.add(row)
    yield from builder.flush()


class _Builder:
    """Adds row after row to the block that is open, or closes it."""

    def __init__(self, page: int, frame: Frame, spacing: Spacing, markers: Markers, code: bool) -> None:
        self._page, self._frame, self._spacing, self._markers = page, frame, spacing, markers
        self._code = code
        self._open: TextBlock | None = None
        self._last: Line | None = None

    def add(self, row: Sequence[Line | Table]) -> Iterator[Block]:
        for item in row:
            if isinstance(item, Table):
                yield from self.flush()
                yield TableBlock(self._page, item)
                self._last = None
        lines = [item for item in row if isinstance(item, Line)]
        if not lines:
            return
        if len(lines) > 1 and max(line.height for line in lines) <= _ONE_ROW * min(
            line.height for line in lines
        ):
            yield from self._begin(Role.ROW, lines)
            return
        for line in lines:
            yield from self._add_line(line)

    def _add_line(self, line: Line) -> Iterator[Block]:
        marker = self._markers.of(line)
        role = self._role(line, marker)
        if self._open and role in (Role.TEXT, Role.CODE) and self._continues(self._open, line, role):
            self._open.parts[0][2].append(line)
            self._last = line
            return
        yield from self._begin(role, [line], marker if role is Role.ITEM else None)

    def flush(self) -> Iterator[Block]:
        if self._open:
            yield self._open
        self._open = None

    def _begin(self, role: Role, lines: list[Line], marker: Marker | None = None) -> Iterator[Block]:
        yield from self.flush()
        gap = None
        if self._last is not None and lines[0].box[1] > self._last.box[1]:
            gap = (lines[0].box[1] - self._last.box[3]) / max(lines[0].height, 0.1)
        self._open = TextBlock(role, [(self._page, self._frame, list(lines))], gap, marker)
        self._last = lines[-1]

    def _role(self, line: Line, marker: Marker | None) -> Role:
        if self._code and line.mono and not _LINK.match(line.text):
            return Role.CODE
        if has_leaders(line.text):
            return Role.ENTRY
        if _CAPTION.match(line.text):
            return Role.CAPTION
        return Role.ITEM if marker else Role.TEXT

    def _continues(self, block: TextBlock, line: Line, role: Role) -> bool:
        lines = block.parts[0][2]
        above = lines[-1]
        if role is Role.CODE or block.role is Role.CODE:
            return role is block.role and -0.5 < _distance(above, line) < _MOST_SPACING
        if block.role is Role.ENTRY or line.raised or not _alike(above, line):
            return False
        if block.role is Role.ROW:
            # What a cell cannot hold goes on below it.
            above = max(lines, key=lambda cell: (_overlap(cell, line), cell.height))
        if not 0.5 < _distance(above, line) < self._spacing.most(line) or _overlap(above, line) <= 0:
            return False
        if block.role is Role.ITEM:
            return line.box[0] > lines[0].box[0] - _LEAST_INDENT * line.height and not _ended(lines, line)
        return not _ended(lines, line) and not _indented(lines, line)


def _alike(above: Line, line: Line) -> bool:
    """Whether two lines have the same size, weight and typeface."""
    return (
        abs(above.height - line.height) <= max(above.height, line.height) * _SAME_HEIGHT
        and above.bold == line.bold
        and (above.font == line.font or _same_typeface(_typeface(above), _typeface(line)))
    )


def _same_typeface(one: str, other: str) -> bool:
    return one == other or not one or not other


def _typeface(line: Line) -> str:
    """The family of a line's font; empty for running text with much code in it, which goes with any."""
    return "" if is_mono(line.font) and not line.mono else _family(line.font)


@cache
def _family(font: str) -> str:
    """A font's name without its style. The fonts of TeX are one: formulas take letters from several."""
    if font.startswith(("CM", "SFR", "MSBM", "MSAM")):
        return "CM"
    before = ""
    while font != before:
        before, font = font, _STYLE.sub("", font)
    return font


def _distance(above: Line, line: Line) -> float:
    """From one line's bottom to the next one's, in line heights: close to the distance of their baselines."""
    return (line.box[3] - above.box[3]) / max(above.height, line.height, 0.1)


def _overlap(one: Line, other: Line) -> float:
    """How far two lines share the page's width, in points; negative where they stand apart."""
    return min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])


def _ended(lines: Sequence[Line], line: Line) -> bool:
    """Whether the next line's first word would have fitted on the last one: it was broken on purpose."""
    above = lines[-1]
    near = (*lines[-_LOOK_BACK:], line)
    if above.rtl:
        free = above.box[0] - min(other.box[0] for other in near)
    else:
        free = max(other.box[2] for other in near) - above.box[2]
    letter = line.width / max(len(line.text), 1)
    word = (len(line.text.split(maxsplit=1)[0]) + 2) * letter
    if word > line.width / 2:
        word = min(word, 3 * letter)  # Chinese is broken between any two letters
    width = max(other.width for other in near)
    return free > word and (ends_sentence(above.text) or (free > _SHORT * width and not line.bold))


def _indented(lines: Sequence[Line], line: Line) -> bool:
    """Whether a line is set in like the first one of a paragraph."""
    margin = lines[1].box[2 if line.rtl else 0] if len(lines) > 1 else lines[0].box[2 if line.rtl else 0]
    indent = margin - line.box[2] if line.rtl else line.box[0] - margin
    if not _LEAST_INDENT * line.height < indent < _MOST_INDENT * line.height:
        return False
    return ends_sentence(lines[-1].text)
