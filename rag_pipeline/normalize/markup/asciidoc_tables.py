"""Tables of AsciiDoc: cells by `|`, spans, cells over several lines."""

import csv
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from rag_pipeline.normalize.assembling import table_markdown

_CELL: Final = re.compile(
    r"(?:(?:(?<=\s)|^|(?<=\|))(?:(\d+)?(?:\.(\d+))?([+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|"
)
_COLUMNS: Final = re.compile(r"\bcols\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\d+\*?|[\w,.<>^%~]+))")
_MOST_COLUMNS: Final = 200


class _Cell(NamedTuple):
    text: str
    columns: int
    rows: int


def table(lines: Sequence[str], attributes: str, text_of: Callable[[str], str]) -> str:
    """The table as Markdown; `attributes` are those of its block, `text_of` gives a cell's text."""
    width = _stated_width(attributes)
    rows: list[list[str]] = []
    spanning: dict[int, tuple[str, int]] = {}
    waiting: list[_Cell] = []
    for cells in _lines_of_cells(lines):
        width = width or sum(cell.columns for cell in cells)
        waiting += cells
        done = len(rows)
        while waiting and sum(cell.columns for cell in waiting) + len(spanning) >= width:
            row, waiting = _take_row(waiting, width, spanning)
            rows.append([text_of(text) for text in row])
        if len(rows) > done and not any(cell.text for cell in waiting):
            waiting = []  # a line of cells that is closed by one more stroke
    if waiting:
        rows.append([text_of(cell.text) for cell in waiting])
    return table_markdown(row for row in rows if any(row))


def _stated_width(attributes: str) -> int:
    match = _COLUMNS.search(attributes)
    if match is None:
        return 0
    stated = next(group for group in match.groups() if group is not None)
    width = 0
    for part in re.split(r"[,;]", stated):
        times = re.match(r"\s*(\d+)\*", part)
        width += int(times.group(1)[:3]) if times else 1
    only = re.fullmatch(r"\s*(\d+)\*?\s*", stated)
    return min(int(only.group(1)[:3]) if only and "*" in stated else width, _MOST_COLUMNS)


def _lines_of_cells(lines: Sequence[str]) -> list[list[_Cell]]:
    """The cells that begin on each line, with the lines that go on below them."""
    found: list[list[_Cell]] = []
    for line in lines:
        starts = list(_CELL.finditer(line))
        before = line[: starts[0].start()] if starts else line
        cells: list[_Cell] = []
        if before.strip() and found:
            last = found[-1][-1]
            found[-1][-1] = last._replace(text=f"{last.text} {before.strip()}".strip())
        elif before.strip():
            cells.append(_Cell(before.strip(), 1, 1))
        for number, start in enumerate(starts):
            end = starts[number + 1].start() if number + 1 < len(starts) else len(line)
            text = line[start.end() : end].strip().replace("\\|", "|")
            columns, rows = (min(int((start.group(n) or "1")[:3]), _MOST_COLUMNS) for n in (1, 2))
            if start.group(3) == "*":
                cells += [_Cell(text, 1, 1)] * columns
            else:
                cells.append(_Cell(text, max(columns, 1), max(rows, 1)))
        if cells:
            found.append(cells)
    return found


def _take_row(
    waiting: list[_Cell], width: int, spanning: dict[int, tuple[str, int]]
) -> tuple[list[str], list[_Cell]]:
    """The next row, and the cells that are left; `spanning` holds what reaches into rows below, by column."""
    row: list[str] = []
    taken = 0
    while len(row) < width:
        if len(row) in spanning:
            text, left = spanning.pop(len(row))
            if left > 1:
                spanning[len(row)] = (text, left - 1)
            row.append(text)
        elif taken < len(waiting):
            cell = waiting[taken]
            taken += 1
            for _ in range(min(cell.columns, width - len(row))):
                if cell.rows > 1:
                    spanning[len(row)] = (cell.text, cell.rows - 1)
                row.append(cell.text)
        else:
            break
    return row, waiting[taken:]


def separated_table(lines: Sequence[str], text_of: Callable[[str], str]) -> str:
    """A table of comma-separated values as Markdown."""
    return table_markdown([[text_of(cell.strip()) for cell in row] for row in csv.reader(lines) if row])
