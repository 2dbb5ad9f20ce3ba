"""The visible cells of a worksheet as text, and the tables that they form."""

from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.office.number_format import shown

# A merged range over whole rows or columns is meant to span what stands there, not a million cells.
_MOST_MERGED: Final = 10_000
# Tables are rectangles, and cells that touch at few places can span a huge one.
_MOST_TABLE_CELLS: Final = 5_000_000
_LINKS: Final = ("https://", "http://", "mailto:")

Worksheet = Any
"""A worksheet of openpyxl, which has no types."""
Position = tuple[int, int]
"""Row and column among the visible ones, counted from 0."""


@dataclass(slots=True)
class Grid:
    """A sheet's visible cells: their texts, and how many rows and columns merged ones reach over.

    `hidden_rows` and `hidden_columns` are the sheet's own numbers, sorted; `in_hidden_rows` and
    `in_hidden_columns` the texts there, `unshown` those that a number format hides.
    """

    hidden_rows: Sequence[int]
    hidden_columns: Sequence[int]
    texts: dict[Position, str] = field(default_factory=dict)
    merged: dict[Position, tuple[int, int]] = field(default_factory=dict)
    in_hidden_rows: list[str] = field(default_factory=list)
    in_hidden_columns: list[str] = field(default_factory=list)
    unshown: list[str] = field(default_factory=list)

    def position(self, row: int, column: int) -> Position | None:
        """Where a cell of the sheet (counted from 1) stands among the visible ones; None if it is hidden."""
        above, left = bisect_left(self.hidden_rows, row), bisect_left(self.hidden_columns, column)
        hidden = self.hidden_rows[above : above + 1] == [row] or self.hidden_columns[left : left + 1] == [
            column
        ]
        return None if hidden else (row - 1 - above, column - 1 - left)


@dataclass(frozen=True, slots=True)
class Table:
    """A rectangle of cells whose first row is its header; merged cells are repeated wherever they reach.

    `top` is its first row among the visible ones, `title` a line above the header that spans it.
    """

    top: int
    rows: list[list[str]]
    title: str | None = None


def visible_grid(sheet: Worksheet) -> Grid:
    """The cells of a sheet that a reader sees, rows and columns that are hidden left out."""
    grid = Grid(_hidden_rows(sheet), _hidden_columns(sheet))
    ranges = [(r.min_row, r.min_col, r.max_row, r.max_col) for r in sheet.merged_cells.ranges]
    anchors = {(top, left): (top, left, bottom, right) for top, left, bottom, right in ranges}
    # Not iter_rows: it makes a cell for every gap between two cells.
    for cell in sheet._cells.values():
        text = _text(cell)
        if text is None:
            continue
        position = grid.position(cell.row, cell.column)
        if position is None and (reach := anchors.get((cell.row, cell.column))):
            position = _first_visible(grid, reach)
        if position is not None:
            grid.texts[position] = text
            if not text:
                grid.unshown.append(str(cell.value))
        elif _holds(grid.hidden_rows, cell.row):
            grid.in_hidden_rows.append(text)
        else:
            grid.in_hidden_columns.append(text)
    grid.texts = {position: text for position, text in grid.texts.items() if text}
    _merge(grid, ranges)
    return grid


def tables(grid: Grid) -> Iterator[Table]:
    """The tables of a grid: cells that touch, with the gaps inside their rectangle, from top to bottom.

    Raises DocumentError where they would be too large to be shown.
    """
    reached = {
        (row, column): anchor
        for anchor, (rows, columns) in grid.merged.items()
        for row in range(anchor[0], anchor[0] + rows)
        for column in range(anchor[1], anchor[1] + columns)
    }
    content = set(grid.texts) | set(reached)
    taken: set[Position] = set()
    size = 0
    for start in sorted(grid.texts):
        if start in taken:
            continue
        top, left, bottom, right = _bounds(start, content)
        size += (bottom - top + 1) * (right - left + 1)
        if size > _MOST_TABLE_CELLS:
            raise DocumentError(
                FailureCategory.OVER_LIMIT,
                f"The workbook's tables have more than {_MOST_TABLE_CELLS:,} cells, gaps included. Split it.",
            )
        rows: list[list[str]] = []
        for row in range(top, bottom + 1):
            texts = []
            for column in range(left, right + 1):
                place = (row, column)
                texts.append("" if place in taken else grid.texts.get(reached.get(place, place), ""))
                if place in content:
                    taken.add(place)
            rows.append(texts)
        yield _table(grid, (top, left), rows)


def _holds(numbers: Sequence[int], number: int) -> bool:
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


def _text(cell: Any) -> str | None:
    """What a cell shows, with the address of its link; None where it holds nothing."""
    if cell.value is None:
        return None
    text = shown(cell.value, cell.number_format).strip()
    target = cell.hyperlink.target if cell.hyperlink else None
    if target and target.startswith(_LINKS) and text and text != target and not set("[]\n") & set(text):
        return f"[{text}]({target.replace(' ', '%20')})"
    return text


def _hidden_rows(sheet: Worksheet) -> list[int]:
    return sorted(number for number, row in sheet.row_dimensions.items() if row.hidden or row.height == 0)


def _hidden_columns(sheet: Worksheet) -> list[int]:
    columns: set[int] = set()
    for column in sheet.column_dimensions.values():
        if column.hidden or column.width == 0:
            columns.update(range(column.min, column.max + 1))
    return sorted(columns)


def _first_visible(grid: Grid, reach: tuple[int, int, int, int]) -> Position | None:
    top, left, bottom, right = reach
    row = next((row for row in range(top, bottom + 1) if grid.position(row, 0) is not None), None)
    column = next((column for column in range(left, right + 1) if grid.position(0, column) is not None), None)
    return None if row is None or column is None else grid.position(row, column)


def _merge(grid: Grid, ranges: Sequence[tuple[int, int, int, int]]) -> None:
    """Note what visible ranges are merged; huge ones reach no farther than the texts do."""
    last_row = max((row for row, _ in grid.texts), default=0)
    last_column = max((column for _, column in grid.texts), default=0)
    for reach in ranges:
        first = _first_visible(grid, reach)
        if first is None:
            continue
        _, _, bottom, right = reach
        rows = bottom - bisect_left(grid.hidden_rows, bottom + 1) - first[0]
        columns = right - bisect_left(grid.hidden_columns, right + 1) - first[1]
        if rows * columns > _MOST_MERGED:
            rows, columns = min(rows, last_row - first[0] + 1), min(columns, last_column - first[1] + 1)
        if rows > 0 and columns > 0:
            grid.merged[first] = (rows, columns)


def _bounds(start: Position, content: Collection[Position]) -> tuple[int, int, int, int]:
    """The rectangle around all cells that are reached from one by steps over cells with content."""
    top, left = bottom, right = start
    found = {start}
    queue = deque([start])
    while queue:
        row, column = queue.popleft()
        top, bottom, left, right = min(top, row), max(bottom, row), min(left, column), max(right, column)
        for neighbour in ((row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column)):
            if neighbour in content and neighbour not in found:
                found.add(neighbour)
                queue.append(neighbour)
    return top, left, bottom, right


def _table(grid: Grid, corner: Position, rows: list[list[str]]) -> Table:
    """A table whose first row is its header: a merged title over several columns is set apart."""
    top, left = corner
    height, width = grid.merged.get(corner, (1, 1))
    title = None
    if len(rows) > 1 and height == 1 and width > 1 and not any(rows[0][width:]):
        below = [
            grid.merged.get((top + 1, left + at), (1, 1))[1] == 1 for at, text in enumerate(rows[1]) if text
        ]
        if sum(below) > 1:
            title, rows, top = rows[0][0] or None, rows[1:], top + 1
    return Table(top, rows, title)
