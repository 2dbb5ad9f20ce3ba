"""Tables that go on at the top of the next page."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rag_pipeline.normalize.tables.draft import is_value
from rag_pipeline.normalize.tables.table import Table

# Pages are bound: odd and even ones have other margins. Beyond this share of its width a table has moved.
_SAME_WIDTH: Final = 0.25
_SAME_RULES: Final = 4.0
_MAX_HEADER_ROWS: Final = 4


def joined_tables(before: Table, after: Table) -> Table | None:
    """Two tables as one where the second goes on with the first on the next page, else None.

    Nothing but margins may stand between them, which the caller knows. They have the same columns; a header
    that is repeated is dropped, and one that is different begins a table of its own.
    """
    if after.page != before.places[-1][0] + 1 or not _same_columns(before.columns, after.columns):
        return None
    repeated = _repeated_rows(before, after)
    if repeated == 0 and not _goes_on_without_header(before, after):
        return None
    return replace(
        before, rows=before.rows + after.rows[repeated:], places=before.places + after.places[repeated:]
    )


def _same_columns(before: Sequence[tuple[float, float]], after: Sequence[tuple[float, float]]) -> bool:
    """Whether columns stand in the same places, but for a shift of the whole."""
    if len(before) != len(after):
        return False
    width = before[-1][1] - before[0][0]
    if abs((after[-1][1] - after[0][0]) - width) > _SAME_WIDTH * width:
        return False
    shift = before[0][0] - after[0][0]
    return all(
        left + shift < other_right and right + shift > other_left
        for (left, right), (other_left, other_right) in zip(after, before, strict=True)
    ) and all(
        right_of_left + shift <= other_left_of_right + _SAME_RULES
        for ((_, right_of_left), _), (_, (other_left_of_right, _)) in zip(
            pairwise(after), pairwise(before), strict=True
        )
    )


def _repeated_rows(before: Table, after: Table) -> int:
    """How many rows at the top of both say the same; a row is left to the second table."""
    same = 0
    for first, second in zip(before.rows[:_MAX_HEADER_ROWS], after.rows[:-1], strict=False):
        if [_folded(cell) for cell in first] != [_folded(cell) for cell in second]:
            break
        same += 1
    return same


def _goes_on_without_header(before: Table, after: Table) -> bool:
    """Whether the second table's first row is one like the others.

    Where columns hold values that shows; else only rules in the very same places tell.
    """
    values = [
        column
        for column in range(len(before.columns))
        if _mostly(is_value(row[column]) for row in before.rows[1:] if row[column])
    ]
    if values:
        return any(is_value(after.rows[0][column]) for column in values)
    return all(
        abs(side - other) <= _SAME_RULES
        for column, other_column in zip(before.columns, after.columns, strict=True)
        for side, other in zip(column, other_column, strict=True)
    )


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def _mostly(conditions: Iterable[bool]) -> bool:
    values = list(conditions)
    return 2 * sum(values) > len(values)
