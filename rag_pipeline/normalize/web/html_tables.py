"""The grid of a web page's table: which text stands in which row and column, spans included."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rag_pipeline.normalize.assembling import table_markdown

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement

# Browsers stop at the first figure, too; the second keeps a few bytes from becoming a huge grid.
_MOST_COLUMNS: Final = 1_000
_MOST_CELLS: Final = 500_000
# Longer text, and what holds lists or links, is written once although its cell spans several.
_REPEATED: Final = 80
_RICH: Final = frozenset({"a", "img", "table", "ul", "ol", "dl", "pre", "blockquote"})


class _Cell(NamedTuple):
    element: Any
    rows: int
    columns: int


def is_layout(table: "HtmlElement") -> bool:
    """Whether a table only arranges the page: its cells hold sections, or there is nothing to tabulate."""
    if table.get("role", "").lower() in ("presentation", "none"):
        return True
    if table.xpath("boolean(./caption | ./thead | ./tr/th | ./tbody/tr/th)"):
        return False
    rows = [_cells(row) for row in _rows(table)]
    if max((len(row) for row in rows), default=0) <= 1:
        return True
    held = (child for row in rows for cell in row for child in cell.element.iterdescendants())
    return any(child.tag in ("table", "h1", "h2", "h3", "h4") for child in held)


def cells_in_order(table: "HtmlElement") -> "Iterator[HtmlElement]":
    """Every caption and cell of a layout table, row by row."""
    for child in table:
        if child.tag == "caption":
            yield child
    for row in _rows(table):
        for cell in _cells(row):
            yield cell.element


def stray_text(table: "HtmlElement") -> str:
    """Text of a broken table that stands in none of its cells; browsers show it above the table."""
    parts = [table.text]
    for child in table:
        if child.tag in ("thead", "tbody", "tfoot"):
            parts.append(child.text)
            for row in child:
                parts += [*_beside_cells(row), row.tail]
        elif child.tag != "caption":
            parts += _beside_cells(child)
        parts.append(child.tail)
    return " ".join(" ".join(filter(None, parts)).split())


def _beside_cells(row: "HtmlElement") -> list[str | None]:
    if row.tag != "tr":
        return [row.text_content()]
    parts = [row.text]
    for cell in row:
        parts += [None if cell.tag in ("td", "th") else cell.text_content(), cell.tail]
    return parts


def table_text(table: "HtmlElement", text_of: "Callable[[HtmlElement], str]") -> str:
    """The table as Markdown. A short cell that spans several is repeated in each, so that rows read alone."""
    grid: list[dict[int, str]] = []
    size = 0
    rows = [_cells(row) for row in _rows(table)]
    for at, cells in enumerate(rows):
        while len(grid) <= at:
            grid.append({})
        column = 0
        for cell in cells:
            while column in grid[at]:
                column += 1
            text = text_of(cell.element)
            repeated = text if len(text) <= _REPEATED and _is_plain(cell.element) else ""
            height = min(cell.rows, len(rows) - at)
            size += height * cell.columns
            if size > _MOST_CELLS:
                height, columns = 1, 1
            else:
                columns = cell.columns
            for down in range(height):
                while len(grid) <= at + down:
                    grid.append({})
                for across in range(columns):
                    grid[at + down].setdefault(column + across, text if down == across == 0 else repeated)
            column += columns
    filled = [[row.get(column, "") for column in range(max(row, default=-1) + 1)] for row in grid]
    return table_markdown(row for row in filled if any(row))


def _rows(table: "HtmlElement") -> "list[HtmlElement]":
    """The table's own rows, those of its head first and those of its foot last, as browsers show them."""
    groups: dict[str, list[HtmlElement]] = {"thead": [], "tbody": [], "tfoot": []}
    for child in table:
        if child.tag == "tr":
            groups["tbody"].append(child)
        elif child.tag in groups:
            groups[child.tag].extend(row for row in child if row.tag == "tr")
    return groups["thead"] + groups["tbody"] + groups["tfoot"]


def _cells(row: "HtmlElement") -> list[_Cell]:
    return [
        _Cell(cell, _span(cell, "rowspan", 65_534), _span(cell, "colspan", _MOST_COLUMNS))
        for cell in row
        if cell.tag in ("td", "th")
    ]


def _span(cell: "HtmlElement", name: str, most: int) -> int:
    value = cell.get(name, "1").strip()
    if not value.isascii() or not value.isdigit():
        return 1
    number = int(value[:6])
    return most if number == 0 and name == "rowspan" else max(1, min(number, most))


def _is_plain(cell: "HtmlElement") -> bool:
    return not any(child.tag in _RICH for child in cell.iterdescendants())
