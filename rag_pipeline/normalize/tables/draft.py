"""A table before its text is written: cells of words on a raster of rows and columns."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import centre
from rag_pipeline.normalize.tables.words import PageWords, Word, box_of, cell_text, right_to_left

# A spanning cell longer than this is a remark, not a header: it would only be noise in every column.
_MAX_REPEATED: Final = 80
_VALUE: Final = re.compile(
    r"[\d.,:;%‰°/()\[\]<>=≤≥≈~^*†‡+\-−–—±×\u0660-\u0669\u06f0-\u06f9$€£¥₩₹\s]+|N/?A|n/?a"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell at `row` and `column`, `rows` high and `columns` wide, with the words that stand in it."""

    row: int
    column: int
    words: tuple[Word, ...]
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Draft:
    """Cells without overlap on a raster: `columns` are (left, right), `rows` are (top, bottom) in points."""

    columns: tuple[tuple[float, float], ...]
    rows: tuple[tuple[float, float], ...]
    cells: tuple[Cell, ...]

    @property
    def box(self) -> Box:
        """The place of the whole table."""
        return self.columns[0][0], self.rows[0][0], self.columns[-1][1], self.rows[-1][1]

    @property
    def filled(self) -> list[Cell]:
        """The cells with text."""
        return [cell for cell in self.cells if cell.words]

    @property
    def words(self) -> list[Word]:
        """All words of the table."""
        return [word for cell in self.cells for word in cell.words]


def is_value(text: str) -> bool:
    """Whether a cell's text is a number, an amount, a range or the like rather than words."""
    text = text.strip()
    if (
        not text
        or text[-1] in ",([<"
        or text.count("(") != text.count(")")
        or text.count("[") != text.count("]")
    ):
        return False
    coded = any(char.isdigit() for char in text) and 2 * sum(char.isalpha() for char in text) <= len(text)
    return bool(_VALUE.fullmatch(text)) or (coded and " " not in text)


def without_empty(draft: Draft) -> Draft:
    """The draft without rows and columns in which no text begins; they separate nothing."""
    rows = sorted({cell.row for cell in draft.filled})
    columns = sorted({cell.column for cell in draft.filled})
    cells = []
    for cell in draft.cells:
        row, column = bisect_left(rows, cell.row), bisect_left(columns, cell.column)
        high = bisect_left(rows, cell.row + cell.rows) - row
        wide = bisect_left(columns, cell.column + cell.columns) - column
        if high and wide:
            cells.append(Cell(row, column, cell.words, high, wide))
    return Draft(_kept(draft.columns, columns), _kept(draft.rows, rows), tuple(cells))


def with_whole_lines(draft: Draft, page: PageWords) -> Draft:
    """The draft with every line either all in it or not at all, as most of its words are.

    What consumes lines must not lose or repeat a part of one.
    """
    inside: dict[int, int] = {}
    for word in draft.words:
        inside[word.line] = inside.get(word.line, 0) + 1
    partly = {line for line, count in inside.items() if count < page.line_sizes[line]}
    if not partly:
        return draft
    out = {line for line in partly if 2 * inside[line] < page.line_sizes[line]}
    numbers = {word.number for word in draft.words}
    cells = [
        replace(cell, words=tuple(word for word in cell.words if word.line not in out))
        for cell in draft.cells
    ]
    for word in page.words:
        if word.line in partly - out and word.number not in numbers and any(cell.words for cell in cells):
            at = min(
                (n for n, cell in enumerate(cells) if cell.words), key=lambda n: _distance(cells[n], word)
            )
            cells[at] = replace(cells[at], words=(*cells[at].words, word))
    return replace(draft, cells=tuple(cells))


def rows_of_text(draft: Draft, page: PageWords) -> list[list[str]]:
    """The texts of the raster, row by row.

    The text of a spanning cell is repeated in all that it spans, so that each row says the same as the
    page does; long remarks stand once. Columns that are written from right to left come in that order.
    """
    texts = [[""] * len(draft.columns) for _ in draft.rows]
    for cell in draft.filled:
        text = cell_text(cell.words, page)
        if len(text) > _MAX_REPEATED:
            texts[cell.row][cell.column] = text
            continue
        for row in range(cell.row, cell.row + cell.rows):
            for column in range(cell.column, cell.column + cell.columns):
                texts[row][column] = text
    if right_to_left("".join(text for row in texts for text in row)):
        return [row[::-1] for row in texts]
    return texts


def row_boxes(draft: Draft) -> list[Box]:
    """The place of every row."""
    left, _, right, _ = draft.box
    return [(left, top, right, bottom) for top, bottom in draft.rows]


def _kept(extents: Sequence[tuple[float, float]], kept: Sequence[int]) -> tuple[tuple[float, float], ...]:
    """The extents that are kept, each with the ones after it that are not."""
    ends = [*kept[1:], len(extents)] if kept else []
    return tuple((extents[first][0], extents[end - 1][1]) for first, end in zip(kept, ends, strict=True))


def _distance(cell: Cell, word: Word) -> float:
    x, y = centre(word.box)
    left, top, right, bottom = box_of(cell.words)
    return max(left - x, x - right, 0) + 3 * max(top - y, y - bottom, 0)
