"""Rows of a ruled table that rules do not show as they are: several between two rules, or one that is cut."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rag_pipeline.normalize.layout.page_text import centre
from rag_pipeline.normalize.tables.draft import Cell, Draft, is_value
from rag_pipeline.normalize.tables.words import Word, box_of, right_to_left, rows_of

_MIN_FULL_COLUMNS: Final = 2


def split_rows(draft: Draft) -> Draft:
    """The draft with those rows divided that hold several.

    A row between two rules is several rows where the first column and another one have text on each of its
    lines, and one of them only values: text that wraps does not do that.
    """
    rows: list[tuple[float, float]] = []
    cells: list[Cell] = []
    first: dict[int, int] = {}
    spanning = [cell for cell in draft.cells if cell.rows > 1]
    spanned = {row for cell in spanning if cell.words for row in range(cell.row, cell.row + cell.rows)}
    in_row: dict[int, list[Cell]] = defaultdict(list)
    for cell in draft.cells:
        if cell.rows == 1:
            in_row[cell.row].append(cell)
    for number, extent in enumerate(draft.rows):
        first[number] = len(rows)
        own = in_row[number]
        lines = rows_of(word for cell in own for word in cell.words)
        if number in spanned or not _are_rows(own, lines):
            rows.append(extent)
            cells += [replace(cell, row=first[number]) for cell in own]
            continue
        bounds = [extent[0], *(_between(a, b) for a, b in pairwise(lines)), extent[1]]
        for at, line in enumerate(lines):
            rows.append((bounds[at], bounds[at + 1]))
            numbers = {word.number for word in line}
            for cell in own:
                words = tuple(word for word in cell.words if word.number in numbers)
                cells.append(Cell(first[number] + at, cell.column, words, 1, cell.columns))
    first[len(draft.rows)] = len(rows)
    for cell in spanning:
        start, end = first[cell.row], first[cell.row + cell.rows]
        cells.append(replace(cell, row=start, rows=end - start))
    return Draft(draft.columns, tuple(rows), tuple(cells))


def join_strips(draft: Draft) -> Draft:
    """The draft with those cells made one that only the edges of shading part.

    Shading is often painted line by line. Where the lines of one column alone have a border between them, and
    the upper one had no room for the lower one's first word, the border is such an edge.
    """
    cells = list(draft.cells)
    ending: dict[int, list[Cell]] = defaultdict(list)
    beginning: dict[int, list[Cell]] = defaultdict(list)
    for cell in draft.cells:
        ending[cell.row + cell.rows - 1].append(cell)
        beginning[cell.row].append(cell)
    for row in range(len(draft.rows) - 1):
        upper, lower = ending[row], beginning[row + 1]
        if len(upper) != 1 or len(lower) != 1 or len(draft.columns) < 2:
            continue
        (first,), (second,) = upper, lower
        same = (first.column, first.columns) == (second.column, second.columns)
        if same and _no_room(first, second, draft):
            whole = Cell(
                first.row, first.column, first.words + second.words, first.rows + second.rows, first.columns
            )
            cells = [cell for cell in cells if cell not in (first, second)] + [whole]
            last = row + second.rows
            ending[last] = [whole if cell == second else cell for cell in ending[last]]
    return Draft(draft.columns, draft.rows, tuple(cells))


def _no_room(above: Cell, below: Cell, draft: Draft) -> bool:
    """Whether the first word of a cell would not have fitted on the last line of the one above."""
    if not above.words or not below.words:
        return False
    left, right = draft.columns[above.column][0], draft.columns[above.column + above.columns - 1][1]
    last, first = rows_of(above.words)[-1], rows_of(below.words)[0]
    backwards = right_to_left("".join(word.text for word in last))
    word = first[-1].box if backwards else first[0].box
    reached = box_of(last)
    free = reached[0] - left if backwards else right - reached[2]
    return free < (word[2] - word[0]) + (word[3] - word[1])


def _are_rows(cells: Sequence[Cell], lines: Sequence[Sequence[Word]]) -> bool:
    if len(lines) < 2:
        return False
    numbers = [{word.number for word in line} for line in lines]
    full = [
        cell for cell in cells if all(any(word.number in line for word in cell.words) for line in numbers)
    ]
    first = min((cell.column for cell in cells if cell.words), default=-1)
    return (
        len(full) >= _MIN_FULL_COLUMNS
        and any(cell.column == first for cell in full)
        and any(
            all(is_value(" ".join(w.text for w in cell.words if w.number in line)) for line in numbers)
            for cell in full
        )
    )


def _between(above: Sequence[Word], below: Sequence[Word]) -> float:
    return (max(centre(word.box)[1] for word in above) + min(centre(word.box)[1] for word in below)) / 2
