"""Rows of a table without rules between all of them: which lines of text make one row."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from rag_pipeline.normalize.layout.page_text import Rule
from rag_pipeline.normalize.tables.columns import CELL_GAP, Extent, column_spans, columns_of
from rag_pipeline.normalize.tables.draft import Cell, Draft, is_value
from rag_pipeline.normalize.tables.words import Word, box_of, rows_of, segments_of

# A line this much closer to the one above than rows usually are goes on with its row.
_CLOSE: Final = 0.7
# Rules over at least this share of the width part rows.
_LONG: Final = 0.8
# A header has as many lines at most.
_HEADER_LINES: Final = 4
# Rows between rules have fewer lines than this on average.
_LINES_IN_ROW: Final = 2.5


@dataclass(frozen=True, slots=True)
class Part:
    """Words of one row in the columns from `column` on, `columns` of them."""

    column: int
    columns: int
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words as they stand."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Row:
    """Parts of a row from left to right, between `top` and `bottom`."""

    parts: tuple[Part, ...]
    top: float
    bottom: float

    @property
    def filled(self) -> set[int]:
        """The columns with text."""
        return {column for part in self.parts for column in range(part.column, part.column + part.columns)}


def open_table(
    words: Iterable[Word], em: float, rules: Sequence[Rule] = (), borders: Sequence[float] = ()
) -> Draft | None:
    """The table that words form by their alignment, None where there are no two columns.

    `rules` are the level rules among the words: the long ones part rows, the short ones show what a header
    above them spans. `borders` are the places of upright rules.
    """
    lines = rows_of(words)
    columns = columns_of(lines, em, borders)
    if len(columns) < 2:
        return None
    width = columns[-1][1] - columns[0][0]
    long = sorted(rule.position for rule in rules if rule.end - rule.start >= _LONG * width)
    short = sorted(
        (rule for rule in rules if rule.end - rule.start < _LONG * width), key=lambda rule: rule.position
    )
    rows = [_row(line, columns, em, _below(line, short)) for line in lines]
    bands = _bands(rows, long)
    single = _single_rows(bands)
    joined: list[Row] = []
    for number, band in enumerate(bands):
        header = number == 0 and len(band) <= _HEADER_LINES and len(bands) > 1 and not _own_rows(band)
        joined += _joined(band, columns, whole=single or header)
    cells = [Cell(n, p.column, p.words, 1, p.columns) for n, row in enumerate(joined) for p in row.parts]
    return Draft(tuple(columns), tuple((row.top, row.bottom) for row in joined), tuple(cells))


def _row(line: Sequence[Word], columns: Sequence[Extent], em: float, short: Sequence[Rule]) -> Row:
    parts: dict[int, Part] = {}
    segments = segments_of(line, em * CELL_GAP)
    for segment in segments:
        rule = _rule_under(segment, segments, short)
        for column, count, words in column_spans(segment, columns):
            column, count = _over_rule(column, count, columns, rule)
            column, count = _really_spanned(box_of(words), column, count, columns, em)
            before = parts.get(column)
            if before is not None:
                words, count = [*before.words, *words], max(before.columns, count)
            parts[column] = Part(column, count, tuple(words))
    box = box_of(line)
    return Row(_apart(parts), box[1], box[3])


def _apart(parts: dict[int, Part]) -> tuple[Part, ...]:
    """Parts from left to right, none reaching into the next one's columns."""
    ordered = [parts[column] for column in sorted(parts)]
    limits = [part.column for part in ordered[1:]] + [10**9]
    return tuple(
        Part(part.column, min(part.columns, limit - part.column), part.words)
        for part, limit in zip(ordered, limits, strict=True)
    )


def _below(line: Sequence[Word], rules: Sequence[Rule]) -> Sequence[Rule]:
    """The rules, which are in order, that lie right below a line."""
    _, top, _, bottom = box_of(line)
    first = bisect_left(rules, bottom - 2, key=lambda rule: rule.position)
    return rules[first : bisect_left(rules, 2 * bottom - top, key=lambda rule: rule.position)]


def _rule_under(
    segment: Sequence[Word], segments: Sequence[Sequence[Word]], rules: Sequence[Rule]
) -> Rule | None:
    """The rule that a run of words stands over alone."""
    for rule in rules:
        if [other for other in segments if rule.start <= _middle(other) <= rule.end] == [segment]:
            return rule
    return None


def _over_rule(column: int, count: int, columns: Sequence[Extent], rule: Rule | None) -> tuple[int, int]:
    """What a header spans: the columns over the short rule below it."""
    if rule is None:
        return column, count
    over = [
        n for n, (left, right) in enumerate(columns) if rule.start - 2 <= (left + right) / 2 <= rule.end + 2
    ]
    if not over or not over[0] <= column <= over[-1]:
        return column, count
    return over[0], over[-1] - over[0] + 1


def _middle(words: Sequence[Word]) -> float:
    left, _, right, _ = box_of(words)
    return (left + right) / 2


def _really_spanned(
    box: tuple[float, float, float, float], column: int, count: int, columns: Sequence[Extent], em: float
) -> tuple[int, int]:
    """A span stands over the middle of its columns; other text only overflows its own column."""
    if count > 1:
        left, right = columns[column][0], columns[column + count - 1][1]
        if (
            abs((left + right) / 2 - (box[0] + box[2]) / 2) > max(1.5 * em, 0.1 * (right - left))
            and box[0] - columns[column][0] < em
        ):
            return column, 1
    return column, count


def _bands(rows: Sequence[Row], separators: Sequence[float]) -> list[list[Row]]:
    """Rows between one long rule and the next; `separators` are the places of these, in order."""
    bands: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        bands[bisect_left(separators, (row.top + row.bottom) / 2)].append(row)
    return list(bands.values())


def _single_rows(bands: Sequence[Sequence[Row]]) -> bool:
    """Whether every band between rules is one row: none holds lines that are rows of their own."""
    lines = sum(map(len, bands))
    return len(bands) > 2 and lines <= _LINES_IN_ROW * len(bands) and not any(map(_own_rows, bands))


def _own_rows(band: Sequence[Row]) -> bool:
    """Whether lines one below the other are rows: two columns are filled in all of them, one with values."""
    if len(band) < 2:
        return False
    shared = set.intersection(*(row.filled for row in band))
    texts = ([part.text for row in band for part in row.parts if part.column == column] for column in shared)
    return len(shared) >= 2 and any(all(is_value(text) for text in column) for column in texts)


def _joined(band: Sequence[Row], columns: Sequence[Extent], *, whole: bool) -> list[Row]:
    """The rows of a band: one if it is a `whole`, else all lines but those that go on with a row."""
    if whole and all(part.columns == 1 for row in band for part in row.parts):
        return [_merge(band)]
    distances = [below.top - above.top for above, below in pairwise(band) if len(below.filled) >= 2]
    usual = median(distances) if distances else 0.0
    joined: list[Row] = []
    last = None
    for row in band:
        if joined and last is not None and _goes_on(row, last, joined[-1], usual, columns):
            joined[-1] = _merge([joined[-1], row])
        else:
            joined.append(row)
        last = row
    return joined


def _goes_on(row: Row, above: Row, whole: Row, usual: float, columns: Sequence[Extent]) -> bool:
    if not row.filled <= whole.filled or any(part.columns > 1 for part in (*row.parts, *whole.parts)):
        return False
    texts = [part.text for part in row.parts]
    if any(is_value(text) for text in texts):
        return False
    if row.top - above.top < _CLOSE * usual:
        return True
    if row.top - above.top > 1.3 * usual > 0:
        return False
    if 0 in row.filled:
        return row.filled == {0} and texts[0][:1].islower()
    return len(row.filled) <= max(len(whole.filled) // 2, 1) and all(
        _wraps(part, above, columns) for part in row.parts
    )


def _wraps(part: Part, above: Row, columns: Sequence[Extent]) -> bool:
    """Whether a part goes on with several words above it that left no room for its first word."""
    before = next((other for other in above.parts if other.column == part.column), None)
    if before is None or len(before.words) < 2:
        return False
    first = part.words[0].box
    return box_of(before.words)[2] + (first[2] - first[0]) > columns[part.column][1] - (first[3] - first[1])


def _merge(rows: Sequence[Row]) -> Row:
    parts: dict[int, Part] = {}
    for part in (part for row in rows for part in row.parts):
        before = parts.get(part.column)
        words = (*before.words, *part.words) if before else part.words
        parts[part.column] = Part(part.column, part.columns, words)
    return Row(_apart(parts), min(row.top for row in rows), max(row.bottom for row in rows))
