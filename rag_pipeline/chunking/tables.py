"""Taking Markdown tables apart by rows."""

from typing import NamedTuple

from rag_pipeline.chunking.lines import solid_lines


class TableRows(NamedTuple):
    """A table's header and rows, each with its line break; put together they are the table.

    `header` holds the header row and the rule below it, and is empty for text without such a rule.
    """

    header: str
    rows: list[str]


def table_rows(table: str) -> TableRows:
    """Split a Markdown table into its header and its rows."""
    lines = solid_lines(table)
    if len(lines) > 1 and _is_rule(lines[1]):
        return TableRows(lines[0] + lines[1], lines[2:])
    return TableRows("", lines)


def _is_rule(line: str) -> bool:
    cells = line.strip()
    return "-" in cells and set(cells) <= set("|:- \t")
