"""Tables whose cells are ruled: the raster that strokes draw, its spanning cells, its words."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import Rule, centre
from rag_pipeline.normalize.tables.draft import Cell, Draft
from rag_pipeline.normalize.tables.rules import distinct, rules_box
from rag_pipeline.normalize.tables.words import Word

# A border is drawn where strokes cover at least this share of it.
_DRAWN: Final = 0.6
# The share of a table's columns that its rows have as cells of their own, on average: where nothing but a
# header spans columns, and at least.
_WHOLE_ROWS: Final = 0.75
_MOSTLY_WHOLE_ROWS: Final = 0.5
# A raster with more fields than this is a drawing.
_MAX_FIELDS: Final = 20_000


def grid_of(rules: Sequence[Rule], words: Sequence[Word], apart: float) -> Draft | None:
    """The cells that rules which meet each other draw, with the words whose middle lies in them.

    The outer edge is taken as drawn, so that tables without side rules are read too. None where the rules
    draw no raster, or one with large empty corners, as diagrams do. `apart` is the least size of a cell.
    """
    box = rules_box(rules)
    draft = _raster(rules, box, words, apart)
    if draft is None or _own_cells(draft) >= _WHOLE_ROWS:
        return draft
    # Rules that cross only a part of the table belong to a table in one of its cells, or to a drawing.
    simple = _raster([rule for rule in rules if _crosses(rule, box)], box, words, apart)
    if simple is not None and len(simple.columns) > 1:
        return simple
    return draft if _own_cells(draft) >= _MOSTLY_WHOLE_ROWS else None


def _crosses(rule: Rule, box: Box) -> bool:
    full = box[2] - box[0] if rule.horizontal else box[3] - box[1]
    return rule.end - rule.start >= _DRAWN * full


def _own_cells(draft: Draft) -> float:
    """How many cells a row has on average, as a share of the columns."""
    return sum(cell.rows for cell in draft.cells) / (len(draft.rows) * len(draft.columns))


def _raster(rules: Sequence[Rule], box: Box, words: Sequence[Word], apart: float) -> Draft | None:
    left, top, right, bottom = box
    xs = distinct([left, right, *(rule.position for rule in rules if not rule.horizontal)], apart)
    ys = distinct([top, bottom, *(rule.position for rule in rules if rule.horizontal)], apart)
    wide, high = len(xs) - 1, len(ys) - 1
    if wide < 1 or high < 2 or wide * high > _MAX_FIELDS:
        return None
    across = _drawn(ys, xs, [rule for rule in rules if rule.horizontal], apart)
    upright = _drawn(xs, ys, [rule for rule in rules if not rule.horizontal], apart)
    fields = _merged_fields(wide, high, across, upright)
    contents = _contents(xs, ys, words)
    cells: list[Cell] = []
    for group in fields:
        inside = tuple(word for field in group for word in contents.get(field, ()))
        rectangles = _rectangles(group)
        if len(rectangles) > 1 and not inside and _area(group, xs, ys) > 0.3 * _whole(xs, ys):
            return None
        for row, column, rows, columns in rectangles:
            own = (
                word
                for r in range(row, row + rows)
                for c in range(column, column + columns)
                for word in contents.get((r, c), ())
            )
            cells.append(Cell(row, column, tuple(own), rows, columns))
    return Draft(tuple(pairwise(xs)), tuple(pairwise(ys)), tuple(cells))


def _drawn(
    positions: Sequence[float], stops: Sequence[float], rules: Iterable[Rule], apart: float
) -> list[list[bool]]:
    """For every border position, which of its stretches between two stops are drawn."""
    covered = [[0.0] * (len(stops) - 1) for _ in positions]
    for rule in rules:
        at = bisect_right(positions, rule.position) - 1
        if at + 1 < len(positions) and positions[at + 1] - rule.position < rule.position - positions[at]:
            at += 1
        at = max(at, 0)
        if abs(positions[at] - rule.position) > apart:
            continue
        for n in range(
            max(bisect_right(stops, rule.start) - 1, 0), min(bisect_left(stops, rule.end), len(stops) - 1)
        ):
            covered[at][n] += max(min(rule.end, stops[n + 1]) - max(rule.start, stops[n]), 0.0)
    return [
        [
            length >= _DRAWN * (stop - start)
            for length, (start, stop) in zip(row, pairwise(stops), strict=True)
        ]
        for row in covered
    ]


def _merged_fields(
    wide: int, high: int, across: list[list[bool]], upright: list[list[bool]]
) -> list[list[tuple[int, int]]]:
    """Fields of the raster with no border between them, as groups in reading order."""
    parents = list(range(wide * high))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for row in range(high):
        for column in range(wide):
            here = row * wide + column
            if column + 1 < wide and not upright[column + 1][row]:
                parents[root(here + 1)] = root(here)
            if row + 1 < high and not across[row + 1][column]:
                parents[root(here + wide)] = root(here)
    groups: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number in range(wide * high):
        groups[root(number)].append(divmod(number, wide))
    return list(groups.values())


def _contents(
    xs: Sequence[float], ys: Sequence[float], words: Iterable[Word]
) -> dict[tuple[int, int], list[Word]]:
    contents: dict[tuple[int, int], list[Word]] = defaultdict(list)
    for word in words:
        x, y = centre(word.box)
        column, row = bisect_right(xs, x) - 1, bisect_right(ys, y) - 1
        if 0 <= column < len(xs) - 1 and 0 <= row < len(ys) - 1:
            contents[row, column].append(word)
    return contents


def _rectangles(group: Sequence[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """A group of fields as (row, column, rows, columns): one if it is a rectangle, else one for each run."""
    rows, columns = [row for row, _ in group], [column for _, column in group]
    high, wide = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
    if high * wide == len(group):
        return [(min(rows), min(columns), high, wide)]
    runs: list[tuple[int, int, int, int]] = []
    for row, column in sorted(group):
        if runs and runs[-1][0] == row and runs[-1][1] + runs[-1][3] == column:
            runs[-1] = (row, runs[-1][1], 1, runs[-1][3] + 1)
        else:
            runs.append((row, column, 1, 1))
    return runs


def _area(group: Iterable[tuple[int, int]], xs: Sequence[float], ys: Sequence[float]) -> float:
    return sum((xs[column + 1] - xs[column]) * (ys[row + 1] - ys[row]) for row, column in group)


def _whole(xs: Sequence[float], ys: Sequence[float]) -> float:
    return (xs[-1] - xs[0]) * (ys[-1] - ys[0])
