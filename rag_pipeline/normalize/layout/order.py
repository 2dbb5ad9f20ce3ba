"""The order in which a page's boxes are read: columns, what spans them, and rows. Pure functions over boxes.

A recursive cut in the manner of XY-cut, but whatever spans a gutter (a title, a wide table) divides the
columns into bands instead of hiding them. What geometry leaves open, whether boxes side by side are columns
or the cells of rows, is decided by the order in which they are stored and by whether they hold running text.
"""

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import around

# The least gutter between columns, in heights of a line.
_LEAST_GUTTER: Final = 0.6
# How many places for a gutter are tried in a region, those with the fewest boxes across first.
_MOST_TRIED: Final = 6
# Columns stand side by side over this many heights of a line at least.
_LEAST_BESIDE: Final = 1.5
# Nothing narrower than this many heights is a column: it holds bullets or the numbers of lines.
_LEAST_COLUMN: Final = 4.0
# White space of so many heights from side to side ends columns.
_MUCH_SPACE: Final = 5.0
# Running text: lines this many heights long, this full, this close, and not fewer of them.
_PROSE_WIDTH: Final = 9.0
_PROSE_FILLED: Final = 0.6
_PROSE_SPACING: Final = 2.2
_PROSE_LINES: Final = 3
# Layouts are nested a few levels deep; more boxes than this on one page are a drawing.
_MOST_DEPTH: Final = 12
_MOST_BOXES: Final = 5_000


class _Cut(NamedTuple):
    """A region divided by a gutter: what is left of it, right of it, and across it."""

    beside: float
    left: list[int]
    right: list[int]
    across: list[int]


def reading_order(boxes: Sequence[Box], *, rtl: bool = False) -> list[list[int]]:
    """The rows of a page in reading order, each as indices of its boxes from left to right.

    `boxes` come in the order in which they are stored in the page; `rtl` reads columns and rows from right to
    left. Every index occurs once.
    """
    return list(_Order(boxes, rtl).rows(list(range(len(boxes))), 0))


class _Order:
    def __init__(self, boxes: Sequence[Box], rtl: bool) -> None:
        self._boxes = boxes
        self._rtl = rtl

    def rows(self, region: list[int], depth: int) -> Iterator[list[int]]:
        if len(region) < 2 or len(region) > _MOST_BOXES or depth > _MOST_DEPTH:
            yield from self._by_rows(region)
            return
        height = median(self._boxes[i][3] - self._boxes[i][1] for i in region)
        cut = max((self._cut(region, *strip) for strip in self._strips(region, height)), default=None)
        if cut is None or cut.beside < _LEAST_BESIDE * height:
            yield from self._by_rows(region)
            return
        for group in self._bands(cut):
            if isinstance(group, _Cut):
                yield from self._band(group, depth)
            else:
                yield from self.rows(group, depth + 1)

    def _band(self, band: _Cut, depth: int) -> Iterator[list[int]]:
        if band.left and band.right and not self._columns(band.left, band.right):
            yield from self._by_rows(band.left + band.right)
            return
        columns = (band.right, band.left) if self._rtl else (band.left, band.right)
        for column in columns:
            yield from self.rows(column, depth + 1)

    def _strips(self, region: list[int], height: float) -> list[tuple[float, float]]:
        """Vertical strips that few boxes cross, fewest first: each with less in it than what is beside it."""
        change: dict[float, float] = {}
        for i in region:
            left, top, right, bottom = self._boxes[i]
            change[left] = change.get(left, 0.0) + bottom - top
            change[right] = change.get(right, 0.0) - bottom + top
        edges = sorted(change)
        covered, cover = 0.0, []
        for edge in edges[:-1]:
            covered += change[edge]
            cover.append(covered)
        strips = []
        for n, (left, right) in enumerate(pairwise(edges)):
            lowest = cover[n] <= min(cover[max(n - 1, 0) : n + 2])
            if lowest and 0 < n < len(cover) - 1 and right - left >= _LEAST_GUTTER * height:
                strips.append((cover[n], left, right))
        return [(left, right) for _, left, right in sorted(strips)[:_MOST_TRIED]]

    def _cut(self, region: list[int], start: float, end: float) -> _Cut:
        left, right, across = [], [], []
        for i in region:
            if self._boxes[i][2] <= start + 0.01:
                left.append(i)
            elif self._boxes[i][0] >= end - 0.01:
                right.append(i)
            else:
                across.append(i)
        cut = _Cut(0.0, left, right, across)
        beside = sum(self._beside(band) for band in self._bands(cut) if isinstance(band, _Cut))
        return cut._replace(beside=beside)

    def _beside(self, band: _Cut) -> float:
        """Over what height both sides of a gutter have text."""
        if not band.left or not band.right:
            return 0.0
        _, top, _, bottom = around(self._boxes[i] for i in band.left)
        _, other_top, _, other_bottom = around(self._boxes[i] for i in band.right)
        return max(min(bottom, other_bottom) - max(top, other_top), 0.0)

    def _bands(self, cut: _Cut) -> Iterator[_Cut | list[int]]:
        """From top to bottom: what stands beside the gutter, and in between what goes across it."""
        across = sorted(cut.across, key=self._middle)
        middles = [self._middle(i) for i in across]
        left: list[list[int]] = [[] for _ in range(len(across) + 1)]
        right: list[list[int]] = [[] for _ in range(len(across) + 1)]
        rows: list[list[int]] = [[i] for i in across]
        for side, bands in ((cut.left, left), (cut.right, right)):
            for i in side:
                at = bisect(middles, self._middle(i))
                # What stands in a row with something that goes across belongs to it.
                row = next(
                    (n for n in (at - 1, at) if 0 <= n < len(across) and self._level(across[n], i)), None
                )
                (bands[at] if row is None else rows[row]).append(i)
        waiting: list[int] = []
        for n, (before, after) in enumerate(zip(left, right, strict=True)):
            if before or after:
                if waiting:
                    yield sorted(waiting)
                    waiting = []
                yield from self._divided(before, after)
            if n < len(across):
                waiting += rows[n]
        if waiting:
            yield sorted(waiting)

    def _divided(self, left: list[int], right: list[int]) -> Iterator[_Cut]:
        """A band divided where much white space goes across it."""
        both = sorted(
            [(i, 0) for i in left] + [(i, 1) for i in right], key=lambda item: self._boxes[item[0]][1]
        )
        height = median(self._boxes[i][3] - self._boxes[i][1] for i, _ in both)
        part = _Cut(0.0, [], [], [])
        lowest = self._boxes[both[0][0]][3]
        for i, side in both:
            if self._boxes[i][1] - lowest > _MUCH_SPACE * height:
                yield part
                part = _Cut(0.0, [], [], [])
            (part.right if side else part.left).append(i)
            lowest = max(lowest, self._boxes[i][3])
        yield part

    def _middle(self, i: int) -> float:
        return (self._boxes[i][1] + self._boxes[i][3]) / 2

    def _columns(self, left: list[int], right: list[int]) -> bool:
        """Whether boxes beside each other are columns, to be read one after the other, and no rows."""
        sides = sorted([(i, 0) for i in left] + [(i, 1) for i in right])
        turns = sum(one[1] != other[1] for one, other in pairwise(sides))
        if min(len(left), len(right)) > 1 and not (self._wide(left) and self._wide(right)):
            return False
        return turns <= max(1, min(len(left), len(right)) // 4) or (self._prose(left) and self._prose(right))

    def _wide(self, column: list[int]) -> bool:
        left, _, right, _ = around(self._boxes[i] for i in column)
        return right - left >= _LEAST_COLUMN * median(self._boxes[i][3] - self._boxes[i][1] for i in column)

    def _prose(self, column: list[int]) -> bool:
        if len(column) < _PROSE_LINES:
            return False
        boxes = sorted((self._boxes[i] for i in column), key=lambda box: box[1])
        height = median(box[3] - box[1] for box in boxes)
        width = median(box[2] - box[0] for box in boxes)
        left, _, right, _ = around(boxes)
        spacing = median(below[3] - above[3] for above, below in pairwise(boxes))
        return (
            width >= _PROSE_WIDTH * height
            and width >= _PROSE_FILLED * (right - left)
            and spacing <= _PROSE_SPACING * height
        )

    def _by_rows(self, region: list[int]) -> Iterator[list[int]]:
        """From top to bottom, boxes at one height as a row."""
        row: list[int] = []
        for i in sorted(region, key=self._middle):
            if row and not self._level(row[0], i):
                yield self._in_row(row)
                row = []
            row.append(i)
        if row:
            yield self._in_row(row)

    def _level(self, one: int, other: int) -> bool:
        """Whether the middle of each box is within the other's height."""
        _, top, _, bottom = self._boxes[one]
        _, other_top, _, other_bottom = self._boxes[other]
        return top <= self._middle(other) <= bottom and other_top <= self._middle(one) <= other_bottom

    def _in_row(self, row: list[int]) -> list[int]:
        return sorted(row, key=lambda i: -self._boxes[i][2] if self._rtl else self._boxes[i][0])
