"""Columns by alignment: gutters that no word of the rows crosses."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rag_pipeline.normalize.tables.words import Word, box_of, segments_of

# A space between two words of one cell, in heights of a word, is narrower than this.
CELL_GAP: Final = 0.8
# Words with less between them are one run, whatever stands above and below.
_SPACE: Final = 0.5
# Among many rows a narrow gutter cannot be chance; among few it must be wider. (rows, heights of a word)
_GUTTERS: Final = ((5, 0.5), (3, 0.7), (0, 1.0))
# Of the rows that show the columns best, this share may cross a gutter.
_MAY_CROSS: Final = 0.1
# Where at least this share of the rows has the same number of pieces, each piece is of one column.
_SAME_COUNT: Final = 0.8
# Rows with at least this share of the most cells in a row show the columns.
_SHOWING: Final = 0.6

Extent = tuple[float, float]


def columns_of(rows: Sequence[Sequence[Word]], em: float, borders: Sequence[float] = ()) -> list[Extent]:
    """The (left, right) of the columns that rows of words form; fewer than two where there are no gutters.

    `em` is the usual height of a word; `borders` are places of upright rules, which divide in any case.
    """
    counts = [len(segments_of(row, em * CELL_GAP)) for row in rows]
    most = max(counts, default=0)
    showing = [row for row, count in zip(rows, counts, strict=True) if count >= max(2, most * _SHOWING)]
    if not showing:
        return []
    least = next(width for count, width in _GUTTERS if len(showing) >= count) * em
    extents = _with_sparse(_covered(showing, int(len(showing) * _MAY_CROSS), em), showing, em)
    columns: list[Extent] = []
    for left, right in extents:
        apart = columns and (
            left - columns[-1][1] >= least or any(columns[-1][1] - 1 <= x <= left + 1 for x in borders)
        )
        if columns and not apart:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    columns = _together(columns, showing, em)
    by_order = _by_order(showing, em)
    if by_order and (len(by_order) >= len(columns) or _full_rows(showing, columns, em) < 0.5):
        return by_order
    return columns


def column_spans(segment: Sequence[Word], columns: Sequence[Extent]) -> list[tuple[int, int, list[Word]]]:
    """A run of words divided at the gutters it leaves open, as (first column, number of columns, words).

    Words that cross a gutter keep the columns on both its sides together.
    """
    parts: list[tuple[int, int, list[Word]]] = []
    for word in segment:
        first, last = _reached(word, columns)
        if parts:
            start, count, words = parts[-1]
            if first < start + count:
                parts[-1] = (
                    min(start, first),
                    max(start + count, last + 1) - min(start, first),
                    [*words, word],
                )
                continue
            gutter = columns[first][0] - columns[start + count - 1][1]
            if word.box[0] - words[-1].box[2] < 0.6 * gutter:
                parts[-1] = (start, last + 1 - start, [*words, word])
                continue
        parts.append((first, last - first + 1, [word]))
    return parts


def _covered(rows: Sequence[Sequence[Word]], crossing: int, em: float) -> list[Extent]:
    """Where more than `crossing` rows have words, from left to right."""
    runs = [box_of(run) for row in rows for run in segments_of(row, em * _SPACE)]
    steps = sorted([(box[0], 1) for box in runs] + [(box[2], -1) for box in runs])
    extents: list[Extent] = []
    depth, start = 0, 0.0
    for x, step in steps:
        before, depth = depth, depth + step
        if before <= crossing < depth:
            start = x
        elif depth <= crossing < before:
            extents.append((start, x))
    return extents


def _full_rows(rows: Sequence[Sequence[Word]], columns: Sequence[Extent], em: float) -> float:
    """The share of rows that fill every column."""
    return sum(len(_filled(row, columns, em)) == len(columns) for row in rows) / len(rows)


def _filled(row: Sequence[Word], columns: Sequence[Extent], em: float) -> set[int]:
    return {column_at(box_of(run), columns) for run in segments_of(row, em * _SPACE)} if columns else set()


def _by_order(rows: Sequence[Sequence[Word]], em: float) -> list[Extent]:
    """The columns of rows that nearly all have the same number of pieces, if their pieces keep apart.

    A heading that overhangs its column of short numbers leaves no gutter between words, but order tells.
    """
    pieces = [[box_of(segment) for segment in segments_of(row, em * CELL_GAP)] for row in rows]
    common, times = Counter(map(len, pieces)).most_common(1)[0]
    if times < _SAME_COUNT * len(rows) or times < 3:
        return []
    alike = [boxes for boxes in pieces if len(boxes) == common]
    columns = [
        (min(boxes[n][0] for boxes in alike), max(boxes[n][2] for boxes in alike)) for n in range(common)
    ]
    apart = all(left[1] < right[0] for left, right in pairwise(columns))
    return columns if apart else []


def _with_sparse(extents: list[Extent], rows: Sequence[Sequence[Word]], em: float) -> list[Extent]:
    """The extents and those of runs of words that lie outside them all: columns that are seldom filled."""
    lefts = [left for left, _ in extents]
    sparse = []
    for row in rows:
        for run in segments_of(row, em * _SPACE):
            left, _, right, _ = box_of(run)
            at = bisect_right(lefts, right) - 1
            if at < 0 or extents[at][1] < left:
                sparse.append((left, right))
    joined: list[Extent] = []
    for left, right in sorted([*extents, *sparse]):
        if joined and left < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], right))
        else:
            joined.append((left, right))
    return joined


def _together(columns: list[Extent], rows: Sequence[Sequence[Word]], em: float) -> list[Extent]:
    """Columns without those that are never filled beside their neighbour: one column, aligned both ways."""
    filled = [_filled(row, columns, em) for row in rows]
    kept: list[Extent] = []
    members: list[set[int]] = []
    for number, (left, right) in enumerate(columns):
        if kept and not any(members[-1] & row and number in row for row in filled):
            kept[-1] = (kept[-1][0], right)
            members[-1].add(number)
        else:
            kept.append((left, right))
            members.append({number})
    return kept


def column_at(box: tuple[float, float, float, float], columns: Sequence[Extent]) -> int:
    """The column that a box shares most of the page's width with, or the nearest."""
    overlaps = [min(box[2], right) - max(box[0], left) for left, right in columns]
    return max(range(len(columns)), key=lambda number: overlaps[number])


def _reached(word: Word, columns: Sequence[Extent]) -> tuple[int, int]:
    """The first and the last column that a word lies over, or the nearest column."""
    slack = 0.15 * (word.box[3] - word.box[1])
    over = [
        number
        for number in range(max(bisect_right(columns, (word.box[0], word.box[0])) - 1, 0), len(columns))
        if columns[number][0] < word.box[2] - slack and columns[number][1] > word.box[0] + slack
    ]
    if over:
        return over[0], over[-1]
    nearest = column_at(word.box, columns)
    return nearest, nearest
