"""Tables whose cells are ruled: grids of strokes with words in them. Pure functions over boxes."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rag_pipeline.normalize.assembling import table_markdown
from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.page_text import Line, PageText, Rule, centre

# Strokes this close are one line: cells that are drawn each with its own border touch like this.
_TOUCH: Final = 3.0
_MIN_CELL: Final = 4.0
# More strokes than any table needs make a drawing; looking for grids in it would only take time.
_MAX_RULES: Final = 5_000


@dataclass(frozen=True, slots=True)
class Table:
    """A ruled table: its place and its rows of cell texts."""

    box: Box
    rows: tuple[tuple[str, ...], ...]

    @property
    def markdown(self) -> str:
        """The table as Markdown, its first row as the header."""
        return table_markdown(self.rows)


def ruled_tables(page: PageText) -> list[Table]:
    """The tables of a page that have at least two rows and two columns with text between rules."""
    if len(page.rules) > _MAX_RULES:
        return []
    tables = []
    for group in _connected(page.rules):
        columns = _borders(rule for rule in group if not rule.horizontal)
        rows = _borders(rule for rule in group if rule.horizontal)
        if len(columns) < 3 or len(rows) < 3:
            continue
        table = _fill(columns, rows, page.words)
        if (
            sum(any(row) for row in table.rows) >= 2
            and sum(any(column) for column in zip(*table.rows, strict=True)) >= 2
        ):
            tables.append(table)
    return tables


def _connected(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Groups of rules that touch each other, directly or through others."""
    groups: list[tuple[Box, list[Rule]]] = []
    for rule in rules:
        box, members = _rule_box(rule), [rule]
        apart = []
        for other_box, others in groups:
            if _touch(box, other_box) and any(_touch(_rule_box(rule), _rule_box(other)) for other in others):
                members += others
                box = (min(box[0], other_box[0]), min(box[1], other_box[1]),
                       max(box[2], other_box[2]), max(box[3], other_box[3]))  # fmt: skip
            else:
                apart.append((other_box, others))
        groups = [*apart, (box, members)]
    return [members for _, members in groups]


def _rule_box(rule: Rule) -> Box:
    if rule.horizontal:
        return rule.start, rule.position, rule.end, rule.position
    return rule.position, rule.start, rule.position, rule.end


def _touch(one: Box, other: Box) -> bool:
    return (
        one[0] <= other[2] + _TOUCH
        and other[0] <= one[2] + _TOUCH
        and one[1] <= other[3] + _TOUCH
        and other[1] <= one[3] + _TOUCH
    )


def _borders(rules: Iterable[Rule]) -> list[float]:
    """The distinct positions of parallel rules, in order."""
    borders: list[float] = []
    for position in sorted(rule.position for rule in rules):
        if not borders or position - borders[-1] > _MIN_CELL:
            borders.append(position)
    return borders


def _fill(columns: list[float], rows: list[float], words: Sequence[Line]) -> Table:
    cells: list[list[list[Line]]] = [[[] for _ in columns[1:]] for _ in rows[1:]]
    for word in words:
        x, y = centre(word.box)
        column, row = bisect_right(columns, x) - 1, bisect_right(rows, y) - 1
        if 0 <= column < len(columns) - 1 and 0 <= row < len(rows) - 1:
            cells[row][column].append(word)
    texts = [tuple(_joined(cell) for cell in row) for row in cells]
    box = (columns[0], rows[0], columns[-1], rows[-1])
    return Table(box, tuple(row for row in texts if any(row)))


def _joined(words: list[Line]) -> str:
    return " ".join(word.text for word in words)
