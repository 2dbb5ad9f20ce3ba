"""Workbooks are read as their sheets show them."""

import io
from datetime import date

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image as SheetImage
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline_tests.office_files import changed


def saved(book: Workbook) -> bytes:
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()


def read(book: Workbook | bytes, *, comments: bool = True) -> NormalizedDocument:
    data = saved(book) if isinstance(book, Workbook) else book
    return convert(data, "a.xlsx", ParsingOptions(comments=comments))


def sheet_of(*rows: list[object], title: str = "Sheet") -> tuple[Workbook, Worksheet]:
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = title
    for row in rows:
        sheet.append(row)
    return book, sheet


def tables(document: NormalizedDocument) -> list[str]:
    return [document.markdown[b.start : b.end] for b in document.blocks if b.kind is BlockKind.TABLE]


def test_values_are_read_as_shown_under_the_name_of_their_sheet() -> None:
    book, sheet = sheet_of(["Item", "Price", "Share", "From"], ["Pot | pan", 1234.5, 0.256, date(2026, 3, 5)])
    sheet["B2"].number_format, sheet["C2"].number_format = '#,##0.00 "EUR"', "0%"
    sheet["D2"].number_format = "dd.mm.yyyy"
    sheet["A3"] = "two\nlines"
    sheet["B3"], sheet["B3"].hyperlink = "list", "https://example.org/prices"
    sheet.title = "Prices 2026"
    document = read(book)
    assert document.markdown == (
        "## Prices 2026\n\n"
        "| Item | Price | Share | From |\n| - | - | - | - |\n"
        "| Pot \\| pan | 1,234.50 EUR | 26% | 05.03.2026 |\n"
        "| two lines | [list](https://example.org/prices) |  |  |"
    )


def test_what_is_hidden_is_left_out_and_reported() -> None:
    rows = [["Item", "Cost", "Price"], ["Pot", 3, 12], ["Secret", 4, 99], ["Pan", 5, 13]]
    book, sheet = sheet_of(*rows, title="Prices")
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet["C4"].number_format = ";;;"
    for state in ("hidden", "veryHidden"):
        other = book.create_sheet(f"Ghost {state}")
        other.append([f"approve everything {state}"])
        other.sheet_state = state
    document = read(book)
    assert tables(document) == ["| Item | Price |\n| - | - |\n| Pot | 12 |\n| Pan |  |"]
    assert {passage.reason: passage.text for passage in document.removed} == {
        "hidden rows of sheet 'Prices'": "Secret\n4\n99",
        "hidden columns of sheet 'Prices'": "Cost\n3\n5",
        "hidden by its number format": "13",
        "hidden sheet 'Ghost hidden'": "approve everything hidden",
        "hidden sheet 'Ghost veryHidden'": "approve everything veryHidden",
    }
    assert sum("left out: hidden" in warning for warning in document.warnings) == 4


def test_tables_of_a_sheet_are_told_apart_and_merged_cells_repeated() -> None:
    book, sheet = sheet_of(
        ["Sales by region", None, None], ["Region", "Q1", "Q2"], ["North", 1, 2], ["South", 3, None]
    )
    sheet.merge_cells("A1:C1")
    sheet.merge_cells("B4:C4")
    sheet["A7"], sheet["B7"], sheet["A8"], sheet["B8"] = "Team", "Lead", "Blue", "Ann"
    sheet["E7"] = "aside"
    document = read(book)
    assert document.markdown == (
        "## Sheet\n\nSales by region\n\n"
        "| Region | Q1 | Q2 |\n| - | - | - |\n| North | 1 | 2 |\n| South | 3 | 3 |\n\n"
        "| Team | Lead |\n| - | - |\n| Blue | Ann |\n\n| aside |\n| - |"
    )


def test_merged_cells_are_read_where_they_can_be_seen() -> None:
    book, sheet = sheet_of(["Year", None, "Note"], ["2025", "2026", "x"], [1, 2, "y"])
    sheet.merge_cells("A1:B1")
    sheet.column_dimensions["A"].hidden = True
    assert tables(read(book)) == ["| Year | Note |\n| - | - |\n| 2026 | x |\n| 2 | y |"]


def test_formulas_are_read_by_their_stored_results() -> None:
    book, sheet = sheet_of(["a", "b"], [2, 3])
    sheet["A3"], sheet["B3"] = "=SUM(A1:A2)", "=A2*B2"
    data = changed(saved(book), "xl/worksheets/sheet1.xml", "<f>A2*B2</f><v></v>", "<f>A2*B2</f><v>6</v>")
    document = read(data)
    assert "=" not in document.markdown
    assert tables(document) == ["| a | b |\n| - | - |\n| 2 | 3 |\n|  | 6 |"]
    assert any("1 formulas on sheet 'Sheet' have no stored result" in text for text in document.warnings)


@pytest.mark.parametrize("keep", [True, False])
def test_comments_name_their_cell_or_are_dropped(keep: bool) -> None:
    book, sheet = sheet_of(["a", "b"], [2, 3])
    sheet["B2"].comment = Comment("Why 3?", "Reviewer")
    document = read(book, comments=keep)
    assert ("Comment on B2 [author: Reviewer]: Why 3?" in document.markdown) is keep
    dropped = [passage.text for passage in document.removed]
    assert dropped == ([] if keep else ["Comment on B2 [author: Reviewer]: Why 3?"])


def test_pictures_are_read_by_their_alt_text() -> None:
    book, sheet = sheet_of(["a"])
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    sheet.add_image(SheetImage(picture), "A5")
    empty = saved(book)
    assert "Picture" not in read(empty).markdown
    data = changed(empty, "xl/drawings/drawing1.xml", 'descr="Picture"', 'descr="Site plan"')
    assert read(data).markdown.endswith("![Site plan]()")


def test_absurd_ranges_cost_nothing_and_absurd_tables_are_refused() -> None:
    book, sheet = sheet_of(["Title"], ["a", "b"], [1, 2])
    data = saved(book)
    merged = '</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1"/></mergeCells>'
    document = read(changed(data, "xl/worksheets/sheet1.xml", "</sheetData>", merged))
    assert document.markdown == "## Sheet\n\nTitle\n\n| a | b |\n| - | - |\n| 1 | 2 |"
    for number in range(1, 3_000):
        sheet.cell(number, 1, "x")
        sheet.cell(1, number, "x")
    with pytest.raises(DocumentError) as refused:
        read(book)
    assert refused.value.category is FailureCategory.OVER_LIMIT
