"""Excel workbooks: what each visible sheet shows, with its charts, text boxes and comments.

docling opens the workbook, which bounds what merged and linked ranges may cost, and reads its charts.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.assembling import Piece, assemble, table_markdown
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument, Removed
from rag_pipeline.normalize.office.number_format import shown
from rag_pipeline.normalize.office.package import Package, R, tag
from rag_pipeline.normalize.office.removals import COMMENT, UNSHOWN, notices
from rag_pipeline.normalize.office.sheet_comments import sheet_comments
from rag_pipeline.normalize.office.sheet_drawings import chart_texts, floating_texts
from rag_pipeline.normalize.office.sheet_grid import Table, Worksheet, tables, visible_grid
from rag_pipeline.normalize.trees.formats import opened, quiet
from rag_pipeline.normalize.trees.structuring import markdown_pieces

# A formula without a value after it: no program has calculated it yet.
_UNCALCULATED: Final = re.compile(rb"<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    pieces: list[Piece] = field(default_factory=list)
    removed: list[Removed] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def convert_sheets(data: bytes, *, comments: bool) -> NormalizedDocument:
    """Read a workbook; `comments` says whether the comments on its cells are kept.

    Hidden sheets, rows and columns are left out. Formulas are read as the values that they had when the
    workbook was saved.
    """
    package = Package(data)
    parts = _sheet_parts(package)
    reading = _Reading()
    with quiet():
        backend: Any = opened(data, types.XLSX)
        for name in backend.workbook.sheetnames:
            sheet, part = backend.workbook[name], parts.get(name, "")
            if sheet.sheet_state != "visible":
                reading.removed.append(Removed(f"hidden sheet {name!r}", _all_text(sheet)))
                continue
            floating = [*floating_texts(package, part), *chart_texts(backend, sheet)]
            if _has_cells(sheet):
                _read_cells(reading, sheet, package, part, floating, comments=comments)
            else:
                _add(reading, name, [(row, list(markdown_pieces(text))) for row, text in floating])
    markdown, blocks = assemble(reading.pieces)
    warnings = (*notices(reading.removed), *dict.fromkeys(reading.warnings))
    return NormalizedDocument(markdown, blocks, warnings=warnings, removed=tuple(reading.removed))


def _read_cells(
    reading: _Reading,
    sheet: Worksheet,
    package: Package,
    part: str,
    floating: list[tuple[int, str]],
    *,
    comments: bool,
) -> None:
    name = sheet.title
    grid = visible_grid(sheet)
    items = [(table.top, list(_table_pieces(table))) for table in tables(grid)]
    for row, text in floating:
        items.append((row - bisect_left(grid.hidden_rows, row + 1), list(markdown_pieces(text))))
    noted = []
    for comment in sheet_comments(sheet, package, part):
        if comments and grid.position(comment.row, comment.column) is not None:
            noted.append(Piece(BlockKind.PARAGRAPH, comment.text))
        else:
            reading.removed.append(Removed(COMMENT, comment.text))
    _add(reading, name, items, noted)
    for reason, texts in (
        (f"hidden rows of sheet {name!r}", grid.in_hidden_rows),
        (f"hidden columns of sheet {name!r}", grid.in_hidden_columns),
        (UNSHOWN, grid.unshown),
    ):
        if texts:
            reading.removed.append(Removed(reason, "\n".join(texts)))
    if uncalculated := _uncalculated(package, part):
        reading.warnings.append(
            f"{uncalculated} formulas on sheet {name!r} have no stored result and are left empty; "
            "open the workbook in a spreadsheet program and save it"
        )


def _add(
    reading: _Reading, name: str, items: list[tuple[int, list[Piece]]], comments: Iterable[Piece] = ()
) -> None:
    """Add a sheet's pieces in the order of the rows that they begin at, under the sheet's name."""
    pieces = [piece for _, group in sorted(items, key=lambda item: item[0]) for piece in group]
    pieces += comments
    if not any(piece.text.strip() for piece in pieces):
        return
    for piece in (Piece(BlockKind.HEADING, f"## {' '.join(name.split())}", 2), *pieces):
        text, notes = clean(piece.text)
        reading.pieces.append(replace(piece, text=text))
        reading.warnings += notes


def _table_pieces(table: Table) -> Iterator[Piece]:
    if table.title:
        yield Piece(BlockKind.PARAGRAPH, " ".join(table.title.split()))
    yield Piece(BlockKind.TABLE, table_markdown(table.rows))


def _sheet_parts(package: Package) -> dict[str, str]:
    """The part of each sheet by the sheet's name."""
    main = package.main_part()
    if main is None:
        return {}
    related = package.related(main)
    sheets = package.tree(main).xpath(".//*[local-name()='sheet']")
    return {
        sheet.get("name", ""): related[identifier].target
        for sheet in sheets
        if (identifier := sheet.get(tag(R, "id"))) in related
    }


def _has_cells(sheet: Any) -> bool:
    """Whether a sheet is one of cells, and not of a single chart."""
    return hasattr(sheet, "merged_cells")


def _all_text(sheet: Any) -> str:
    """What a hidden sheet holds, row by row."""
    if not _has_cells(sheet):
        return ""
    rows: dict[int, list[str]] = {}
    for cell in sheet._cells.values():
        if cell.value is not None:
            rows.setdefault(cell.row, []).append(shown(cell.value, cell.number_format))
    return "\n".join(" | ".join(texts) for _, texts in sorted(rows.items()))


def _uncalculated(package: Package, part: str) -> int:
    content = package.content(part) if part in package else b""
    return len(_UNCALCULATED.findall(content)) if b"<f" in content else 0
