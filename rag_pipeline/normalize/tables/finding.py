"""Finding the tables of a page: by their rules, by rules above and below, by alignment alone."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import PageText, Rule, around, centre
from rag_pipeline.normalize.tables.checks import aligned_well, mostly_mono, ruled_well
from rag_pipeline.normalize.tables.columns import CELL_GAP
from rag_pipeline.normalize.tables.draft import (
    Draft,
    row_boxes,
    rows_of_text,
    with_whole_lines,
    without_empty,
)
from rag_pipeline.normalize.tables.grids import grid_of
from rag_pipeline.normalize.tables.regions import table_regions
from rag_pipeline.normalize.tables.rows import open_table
from rag_pipeline.normalize.tables.rules import (
    meeting_rules,
    merge_rules,
    on_edge,
    parting_rules,
    rules_box,
    rules_of_one_width,
)
from rag_pipeline.normalize.tables.splits import join_strips, split_rows
from rag_pipeline.normalize.tables.table import Table
from rag_pipeline.normalize.tables.words import PageWords, Word, box_of, page_words, rows_of, segments_of

# A page with more than this is a drawing or a trap; its text is still read, only not as tables.
_MAX_WORDS: Final = 12_000
_MAX_RULES: Final = 60_000
# Strokes that nearly touch do; borders nearer than this are one. In heights of a word.
_TOUCH: Final = 0.35
_TOUCH_SCANNED: Final = 0.5
_LEAST_RULE: Final = 1.1
_MAX_FRAMES: Final = 3
# A row's cells have as many lines at most, of which only one may reach over several columns.
_ROW_OF_LINES: Final = 3
# How high a header above the first rule is at most, and how far its lines are from each other and the rule.
_HEAD: Final = 6.0
_HEAD_GAP: Final = 1.5
_MAX_HEAD_ROWS: Final = 3
_MAX_HEAD_WORDS: Final = 8


def tables_of(page: PageText) -> list[Table]:
    """The tables of a page, from top to bottom.

    First those whose cells are ruled, then those between level rules, then those that are only aligned. A
    word is in one table at most, and a line of the page is in a table as a whole or not at all. A page with
    more words or rules than can be read in a moment has none.
    """
    if max(len(page.words), len(page.lines)) > _MAX_WORDS or len(page.rules) > _MAX_RULES:
        return []
    search = _Search(page_words(page))
    rules = merge_rules(page.rules, search.touch, search.page.em * _LEAST_RULE)
    search.ruled(rules)
    search.between_rules(rules)
    search.aligned(rules)
    return sorted((_table(draft, search.page, page.number) for draft in search.found), key=lambda t: t.box[1])


def _table(draft: Draft, page: PageWords, number: int) -> Table:
    return Table(
        page=number,
        box=draft.box,
        rows=tuple(tuple(row) for row in rows_of_text(draft, page)),
        places=tuple((number, box) for box in row_boxes(draft)),
        lines=frozenset(word.line for word in draft.words),
        columns=draft.columns,
    )


class _Search:
    """The tables found so far, and the words that are in none of them."""

    def __init__(self, page: PageWords) -> None:
        self.page = page
        self.touch = page.em * (_TOUCH_SCANNED if page.scanned else _TOUCH)
        self.found: list[Draft] = []
        self._free = sorted(page.words, key=lambda word: centre(word.box)[1])
        self._index()

    def ruled(self, rules: Sequence[Rule]) -> None:
        """Tables of rules that meet: first full grids, then those where only some rules are drawn."""
        partly = self._grids(rules)
        for group in sorted(partly, key=_size):
            box = rules_box(group)
            if any(not on_edge(rule, box, self.touch) for rule in group) and not self._taken(box):
                self._accept(self._open(group, self._inside(box)))

    def between_rules(self, rules: Sequence[Rule]) -> None:
        """Tables between level rules of the same width."""
        level = [rule for rule in rules if rule.horizontal]
        for group in rules_of_one_width(level, 2 * self.page.em):
            for run in self._tabular_runs(group):
                box = (run[0].start - self.touch, run[0].position, run[0].end + self.touch, run[-1].position)
                if not self._taken(box):
                    inner = [
                        r for r in rules if box[1] <= (r.position if r.horizontal else r.start) <= box[3]
                    ]
                    self._accept(self._open(inner, self._inside(box)))

    def aligned(self, rules: Sequence[Rule]) -> None:
        """Tables that at most a rule below their header, or its shading, shows."""
        level = [rule for rule in rules if rule.horizontal]
        for words in table_regions(self._free, self.page.em):
            self._accept(self._aligned_between(parting_rules(level, box_of(words)), words))

    def _grids(self, rules: Sequence[Rule], frames: int = 0) -> list[list[Rule]]:
        """Accept the full grids among rules, and give the groups of rules that make none.

        The large ones come first, since tables may stand in cells of others; but a frame around tables is
        none.
        """
        partly: list[list[Rule]] = []
        for group in sorted(meeting_rules(rules, self.touch), key=_size, reverse=True):
            box = rules_box(group)
            if len(group) < 3 or self._taken(box) or self._accept(self._grid(group, self._inside(box))):
                continue
            partly.append(group)
            inner = [rule for rule in group if not on_edge(rule, box, self.touch)]
            if frames < _MAX_FRAMES and len(inner) < len(group):
                partly += self._grids(inner, frames + 1)
        return partly

    def _grid(self, group: Sequence[Rule], words: Sequence[Word]) -> Draft | None:
        draft = grid_of(group, words, self.touch)
        if draft is None:
            return None
        ruled = without_empty(join_strips(without_empty(draft)))
        # One column that is left of several is the text of a drawing.
        if len(ruled.columns) == 1 < len(draft.columns) or not ruled.cells:
            return None
        return split_rows(ruled) if ruled_well(ruled, self.page) else None

    def _open(self, rules: Iterable[Rule], words: Sequence[Word]) -> Draft | None:
        """The table that rules show in part, with the header that may stand above them."""
        rules = list(rules)
        upright = [rule.position for rule in rules if not rule.horizontal]
        draft = self._aligned_between(rules, words)
        if draft is None or any(left + 1 < x < right - 1 for x in upright for left, right in draft.columns):
            return None
        heads = self._rows_above(around((draft.box, rules_box(rules))) if rules else draft.box)
        for count in range(len(heads), 0, -1):
            more = [word for row in heads[-count:] for word in row]
            whole = self._aligned_between(rules, [*more, *words])
            if whole is not None and len(whole.columns) == len(draft.columns) and _heads(whole, more):
                return whole
        return draft

    def _aligned_between(self, rules: Sequence[Rule], words: Sequence[Word]) -> Draft | None:
        level = [rule for rule in rules if rule.horizontal]
        upright = [rule.position for rule in rules if not rule.horizontal]
        draft = open_table(words, self.page.em, level, upright)
        if draft is None:
            return None
        return (
            draft if aligned_well(draft, self.page, ruled=bool(parting_rules(level, _inner(draft)))) else None
        )

    def _rows_above(self, box: Box) -> list[list[Word]]:
        """The few rows of words right above a table and its first rule, from top to bottom."""
        left, top, right, _ = box
        em = self.page.em
        rows: list[list[Word]] = []
        for row in reversed(rows_of(self._inside((left - em, top - _HEAD * em, right + em, top)))):
            if top - box_of(row)[3] > _HEAD_GAP * em:
                break
            rows.insert(0, row)
            top = box_of(row)[1]
        return rows[-_MAX_HEAD_ROWS:]

    def _accept(self, draft: Draft | None) -> bool:
        if draft is None:
            return False
        draft = with_whole_lines(draft, self.page)
        draft = without_empty(draft)
        if not draft.cells:
            return False
        taken = {word.number for word in draft.words}
        self.found.append(draft)
        self._free = [word for word in self._free if word.number not in taken]
        self._index()
        return True

    def _tabular_runs(self, rules: Sequence[Rule]) -> Iterator[list[Rule]]:
        """Runs of rules, from above to below, with lines of several pieces in all bands between them."""
        run: list[Rule] = []
        for above, below in pairwise(rules):
            box = (above.start - self.touch, above.position, above.end + self.touch, below.position)
            words = self._inside(box)
            rows = [] if mostly_mono(words) else rows_of(words)
            gap = CELL_GAP * self.page.em
            divided = sum(len(segments_of(row, gap)) > 1 for row in rows)
            if divided >= 0.4 * len(rows) > 0 or 0 < len(rows) <= _ROW_OF_LINES * divided:
                run = run or [above]
                run.append(below)
            else:
                if run:
                    yield run
                run = []
        if run:
            yield run

    def _inside(self, box: Box) -> list[Word]:
        left, top, right, bottom = box
        first, last = bisect_left(self._middles, top), bisect_right(self._middles, bottom)
        return [word for word in self._free[first:last] if left <= centre(word.box)[0] <= right]

    def _taken(self, box: Box) -> bool:
        x, y = centre(box)
        return any(d.box[0] <= x <= d.box[2] and d.box[1] <= y <= d.box[3] for d in self.found)

    def _index(self) -> None:
        self._middles = [centre(word.box)[1] for word in self._free]


def _inner(draft: Draft) -> Box:
    """The box of a table from the middle of its first row to that of its last."""
    left, _, right, _ = draft.box
    return left, sum(draft.rows[0]) / 2, right, sum(draft.rows[-1]) / 2


def _heads(draft: Draft, words: Sequence[Word]) -> bool:
    """Whether words are the first row of a table, each in a column of its own."""
    numbers = {word.number for word in words}
    first = [cell for cell in draft.cells if cell.row == 0]
    within = {word.number for cell in first for word in cell.words}
    short = all(cell.columns == 1 and len(cell.words) <= _MAX_HEAD_WORDS for cell in first)
    return numbers == within and len(first) > 1 and short


def _size(rules: Iterable[Rule]) -> float:
    left, top, right, bottom = rules_box(rules)
    return (right - left + 1) * (bottom - top + 1)
