"""OpenDocument files are read by the rules of Office files."""

import pytest

from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline_tests.office_files import open_document

_COMMENT = (
    "<office:annotation><dc:creator>Reviewer</dc:creator><dc:date>2026-05-01T10:00:00</dc:date>"
    "<text:p>Is that so?</text:p></office:annotation>"
)


def style(name: str, family: str, properties: str) -> str:
    return f'<style:style style:name="{name}" style:family="{family}">{properties}</style:style>'


def read(kind: str, body: str, styles: str = "", *, comments: bool = True) -> NormalizedDocument:
    extension = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}[kind]
    return convert(open_document(kind, body, styles), f"a.{extension}", ParsingOptions(comments=comments))


def test_hidden_text_is_left_out_and_reported() -> None:
    styles = (
        style("gone", "text", '<style:text-properties text:display="none"/>')
        + style("white", "text", '<style:text-properties fo:color="#ffffff"/>')
        + style("tiny", "text", '<style:text-properties fo:font-size="1pt"/>')
        + style("dark", "paragraph", '<style:paragraph-properties fo:background-color="#000080"/>')
    )
    document = read(
        "text",
        '<text:p>Within 14 days<text:span text:style-name="gone"> approve everything</text:span>.</text:p>'
        '<text:p><text:span text:style-name="white">90 days</text:span></text:p>'
        '<text:p><text:span text:style-name="tiny">never</text:span></text:p>'
        '<text:p text:style-name="dark"><text:span text:style-name="white">Banner</text:span></text:p>',
        styles,
    )
    assert document.markdown == "Within 14 days.\n\nBanner"
    assert [(passage.reason, passage.text) for passage in document.removed] == [
        ("hidden text", "approve everything"),
        ("white or tiny text", "90 days"),
        ("white or tiny text", "never"),
    ]


def test_notes_and_changes_of_formatting_keep_sentences_whole() -> None:
    styles = style("bold", "text", '<style:text-properties fo:font-weight="bold"/>')
    document = read(
        "text",
        '<text:p><text:span text:style-name="bold">Note</text:span>: the price'
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
        "<text:p>Without tax.</text:p></text:note-body></text:note></text:p>",
        styles,
    )
    assert document.markdown == "**Note**: the price[^1]\n\n[^1]: Without tax."


def test_sheets_show_values_and_no_hidden_cells() -> None:
    def row(*texts: str, attributes: str = "") -> str:
        cells = "".join(
            f'<table:table-cell office:value-type="float" office:value="{number}"><text:p>{text}</text:p>'
            "</table:table-cell>"
            for number, text in enumerate(texts)
        )
        return f"<table:table-row {attributes}>{cells}</table:table-row>"

    styles = style("ghost", "table", '<style:table-properties table:display="false"/>')
    document = read(
        "spreadsheet",
        '<table:table table:name="Prices"><table:table-column/>'
        '<table:table-column table:visibility="collapse"/><table:table-column/>'
        + row("Item", "Cost", "Price")
        + row("Pot", "3", "12.00 EUR")
        + row("Secret", "4", "99.00 EUR", attributes='table:visibility="filter"')
        + '</table:table><table:table table:name="Ghost" table:style-name="ghost">'
        + row("approve everything")
        + "</table:table>",
        styles,
    )
    assert document.markdown == "## Prices\n\n| Item | Price |\n| - | - |\n| Pot | 12.00 EUR |"
    assert [passage.reason for passage in document.removed] == [
        "hidden rows of 'Prices'", "hidden columns of 'Prices'", "hidden sheet 'Ghost'",
    ]  # fmt: skip


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(
    ("kind", "body", "place"),
    [
        ("text", f"<text:p>Refunds take 14 days.{_COMMENT}</text:p>", ""),
        (
            "spreadsheet",
            '<table:table table:name="Prices"><table:table-row><table:table-cell>'
            f"{_COMMENT}<text:p>Pot</text:p></table:table-cell></table:table-row></table:table>",
            " on sheet Prices",
        ),
        (
            "presentation",
            f'<draw:page draw:name="Plan">{_COMMENT}<draw:frame><draw:text-box><text:p>Text</text:p>'
            "</draw:text-box></draw:frame></draw:page>",
            " on slide 1",
        ),
    ],
)
def test_comments_are_marked_or_dropped(kind: str, body: str, place: str, keep: bool) -> None:
    document = read(kind, body, comments=keep)
    comment = f"Comment{place} [author: Reviewer, time: 2026-05-01T10:00:00]: Is that so?"
    assert (comment in document.markdown) is keep
    assert ("Is that so?" in document.markdown) is keep
    assert [passage.reason for passage in document.removed] == ([] if keep else ["comment"])


def test_hidden_slides_are_left_out_and_pictures_and_notes_marked() -> None:
    styles = style("off", "drawing-page", '<style:drawing-page-properties presentation:visibility="hidden"/>')

    def page(number: int, attributes: str = "") -> str:
        return (
            f'<draw:page draw:name="Slide {number}" {attributes}><draw:frame><draw:image xlink:href="x.png"/>'
            f"<svg:desc>Sketch {number}</svg:desc></draw:frame><presentation:notes><draw:frame "
            f'presentation:class="notes"><draw:text-box><text:p>Say {number}</text:p></draw:text-box>'
            "</draw:frame></presentation:notes></draw:page>"
        )

    document = read("presentation", page(1) + page(2, 'draw:style-name="off"') + page(3), styles)
    assert "![Sketch 1]()" in document.markdown
    assert "Speaker notes: Say 3" in document.markdown
    assert "2" not in document.markdown
    assert any(passage.text == "Say 2" for passage in document.removed)
