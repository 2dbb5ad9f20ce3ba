"""Hidden sheets, rows and columns of OpenDocument tables."""

from collections.abc import Iterator
from typing import Final

from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.office.odf_styles import ODF, OFFICE, TABLE, TEXT, OdfStyles, remove
from rag_pipeline.normalize.office.package import XmlElement, tag

_HIDDEN: Final = ("collapse", "filter")
_VISIBILITY: Final = tag(TABLE, "visibility")
_ROW: Final = tag(TABLE, "table-row")
_COLUMN: Final = tag(TABLE, "table-column")
_CELLS: Final = (tag(TABLE, "table-cell"), tag(TABLE, "covered-table-cell"))
_REPEATED: Final = tag(TABLE, "number-columns-repeated")
_VALUES: Final = tuple(tag(OFFICE, f"{name}value") for name in ("", "boolean-", "date-", "time-", "string-"))
_SPANNED: Final = tag(TABLE, "number-columns-spanned")


def drop_hidden_cells(root: XmlElement, styles: OdfStyles) -> Iterator[Removed]:
    """Take hidden sheets, rows and columns out of a file's tables; yields their texts."""
    for table in list(root.iter(tag(TABLE, "table"))):
        name = table.get(tag(TABLE, "name"), "")
        if styles.property(table.get(tag(TABLE, "style-name")), "table:display") == "false":
            yield from _taken([table], f"hidden sheet {name!r}")
            remove(table)
            continue
        rows = [row for row in table.iter(_ROW) if row.get(_VISIBILITY) in _HIDDEN]
        yield from _taken(rows, f"hidden rows of {name!r}")
        for row in rows:
            remove(row)
        hidden = _hidden_columns(table)
        if hidden:
            yield from _taken(_cut(table, hidden), f"hidden columns of {name!r}")


def show_values(root: XmlElement) -> None:
    """Let each cell be the text that it shows instead of the number or date behind it."""
    for cell in root.iter(*_CELLS):
        if any("".join(paragraph.itertext()).strip() for paragraph in cell.iterfind("text:p", ODF)):
            for name in _VALUES:
                cell.attrib.pop(name, None)
            cell.set(tag(OFFICE, "value-type"), "string")


def _hidden_columns(table: XmlElement) -> list[range]:
    """Take the hidden columns out of a table's description; returns where they were."""
    hidden = []
    at = 0
    for column in list(table.iter(_COLUMN)):
        count = _count(column, _REPEATED)
        if column.get(_VISIBILITY) in _HIDDEN:
            hidden.append(range(at, at + count))
            remove(column)
        at += count
    return hidden


def _cut(table: XmlElement, hidden: list[range]) -> list[XmlElement]:
    """Take the cells of hidden columns out of each row; returns those that held something."""
    cut = []
    for row in table.iter(_ROW):
        at = 0
        for cell in [cell for cell in row if cell.tag in _CELLS]:
            count, span = _count(cell, _REPEATED), _count(cell, _SPANNED)
            kept = count - _shared(range(at, at + count), hidden)
            still = span - _shared(range(at, at + span), hidden)
            at += count
            if kept == 0:
                cut.append(cell)
                remove(cell)
                continue
            cell.set(_REPEATED, str(kept))
            if span > 1:
                cell.set(_SPANNED, str(max(still, 1)))
    return cut


def _shared(cells: range, hidden: list[range]) -> int:
    return sum(max(0, min(cells.stop, gone.stop) - max(cells.start, gone.start)) for gone in hidden)


def _count(element: XmlElement, attribute: str) -> int:
    value = element.get(attribute, "1")
    return max(int(value), 1) if value.isdecimal() else 1


def _taken(elements: list[XmlElement], reason: str) -> Iterator[Removed]:
    found = [p for element in elements for p in element.iter(tag(TEXT, "p"))]
    texts = ["".join(paragraph.itertext()).strip() for paragraph in found]
    if any(texts):
        yield Removed(reason, "\n".join(filter(None, texts)))
