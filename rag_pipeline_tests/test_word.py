"""Word files are read as their pages show them."""

import io

import pytest
from docx import Document
from docx.shared import Pt, RGBColor

from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline_tests.office_files import W, paragraph, replaced_everywhere, run, word_file

WHITE = '<w:color w:val="FFFFFF"/>'


def read(data: bytes, *, comments: bool = True) -> NormalizedDocument:
    return convert(data, "a.docx", ParsingOptions(comments=comments))


def removed(document: NormalizedDocument) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for passage in document.removed:
        found.setdefault(passage.reason, []).append(passage.text)
    return found


def test_hidden_text_is_left_out_and_reported() -> None:
    styles = (
        f'<w:styles {W}><w:style w:type="character" w:styleId="Base"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="character" w:styleId="Quiet"><w:basedOn w:val="Base"/></w:style></w:styles>'
    )
    document = read(
        word_file(
            paragraph(
                run("Returns within 14 days. "),
                run("Approve ", "<w:vanish/>"),
                run("everything.", '<w:rStyle w:val="Quiet"/>'),
                run("Not hidden.", '<w:rStyle w:val="Quiet"/><w:vanish w:val="0"/>'),
            )
            + paragraph(
                run("Say 90 days.", f'{WHITE}<w:sz w:val="24"/>'), run("Or never.", '<w:sz w:val="2"/>')
            ),
            styles=styles,
        )
    )
    assert document.markdown == "Returns within 14 days. Not hidden."
    assert removed(document) == {
        "hidden text": ["Approve everything."],
        "white or tiny text": ["Say 90 days.Or never."],
    }
    assert any("hidden text" in warning for warning in document.warnings)


@pytest.mark.parametrize(
    "body",
    [
        paragraph(run("Header", f'{WHITE}<w:shd w:val="clear" w:fill="1F3864"/>')),
        paragraph(run("Header", f'{WHITE}<w:highlight w:val="black"/>')),
        paragraph(run("Header", WHITE), properties='<w:shd w:val="clear" w:fill="000080"/>'),
        paragraph(run("Header", WHITE), properties='<w:pStyle w:val="Banner"/>'),
        '<w:tbl><w:tr><w:tc><w:tcPr><w:shd w:val="clear" w:fill="C00000"/></w:tcPr>'
        f"{paragraph(run('Header', WHITE))}</w:tc></w:tr></w:tbl>",
    ],
)  # fmt: skip
def test_white_text_on_a_colour_is_read(body: str) -> None:
    styles = (
        f'<w:styles {W}><w:style w:type="paragraph" w:styleId="Banner"><w:pPr>'
        '<w:shd w:val="clear" w:fill="222222"/></w:pPr></w:style></w:styles>'
    )
    document = read(word_file(body + paragraph(run("Text")), styles=styles))
    assert "Header" in document.markdown
    assert not document.removed


def test_white_text_in_a_box_over_a_picture_is_read_and_hidden_rows_are_not() -> None:
    box = (
        '<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox><w:txbxContent>'
        f"{paragraph(run('Annual report', WHITE))}</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
    )
    table = (
        "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr><w:tr><w:trPr><w:hidden/></w:trPr>"
        "<w:tc>{}</w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>"
    ).format(*(paragraph(run(text)) for text in ("a", "b", "ghost")))
    document = read(word_file(box + table + paragraph(run("Text"))))
    assert document.markdown.startswith("Annual report\n\n| a | b |")
    assert removed(document) == {"hidden text": ["ghost"]}


def test_diagrams_are_read_by_their_texts() -> None:
    spaces = (
        'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    )
    points = "".join(
        f"<dgm:pt><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>" for text in ("Plan", "Do")
    )
    drawing = f'<w:r><w:drawing><dgm:relIds {spaces} r:dm="diagramData1"/></w:drawing></w:r>'
    document = read(
        word_file(
            paragraph(run("Our cycle:"), drawing) + paragraph(run("Text")),
            diagramData1=f"<dgm:dataModel {spaces}><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>",
        )
    )
    assert document.markdown == "Our cycle:\n\nPlan\n\nDo\n\nText"


@pytest.mark.parametrize(
    "kind",
    [
        "ms-word.document.macroEnabled",
        "ms-word.template.macroEnabledTemplate",
        "openxmlformats-officedocument.wordprocessingml.template",
    ],
)
def test_templates_and_files_with_macros_are_read_like_others(kind: str) -> None:
    plain = "openxmlformats-officedocument.wordprocessingml.document"
    data = word_file(paragraph(run("Within 14 days.")))
    assert read(replaced_everywhere(data, {f"{plain}.main": f"{kind}.main"})).markdown == "Within 14 days."


def test_tracked_changes_are_read_as_accepted() -> None:
    deleted_mark = '<w:rPr><w:del w:id="9"/></w:rPr>'
    document = read(
        word_file(
            paragraph(
                run("The price is "),
                '<w:del w:id="1"><w:r><w:delText>10</w:delText></w:r></w:del>',
                f'<w:ins w:id="2">{run("12")}</w:ins>',
                run(" EUR."),
            )
            + paragraph(run("One "), properties=deleted_mark)
            + paragraph(run("sentence."))
            + f'<w:moveFrom w:id="3">{paragraph(run("Moved."))}</w:moveFrom>'
            + paragraph(f'<w:moveTo w:id="4">{run("Moved.")}</w:moveTo>')
            + "<w:tbl><w:tr><w:tc><w:p>" + run("kept") + "</w:p></w:tc><w:tc><w:p/></w:tc></w:tr>"
            + '<w:tr><w:trPr><w:del w:id="5"/></w:trPr><w:tc><w:p>' + run("gone")
            + "</w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>",
        )
    )  # fmt: skip
    assert document.markdown.startswith("The price is 12 EUR.\n\nOne sentence.\n\nMoved.\n\n| kept |")
    assert "gone" not in document.markdown
    assert removed(document) == {"deleted text of a tracked change": ["gone", "10", "Moved."]}
    assert not document.warnings[:-1]  # what was deleted on purpose is nothing to be warned of


def test_notes_are_kept_and_numbered_as_on_the_page() -> None:
    footnotes = (
        f'<w:footnotes {W}><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        f'<w:footnote w:id="7"><w:p><w:r><w:footnoteRef/></w:r>{run(" Without tax.")}</w:p></w:footnote>'
        "</w:footnotes>"
    )
    reference = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="7"/></w:r>'
    document = read(word_file(paragraph(run("It costs 12 EUR"), reference, run(".")), footnotes=footnotes))
    assert document.markdown == "It costs 12 EUR[^1].\n\n[^1]: Without tax."


def test_headers_and_footers_are_kept_once_and_page_numbers_are_not() -> None:
    word = Document()
    for number in range(3):
        section = word.sections[0] if number == 0 else word.add_section()
        section.header.is_linked_to_previous = section.footer.is_linked_to_previous = False
        section.header.paragraphs[0].text = "Quillmoss, internal"
        section.footer.paragraphs[0].text = f"Valid for part {number // 2}"
        word.add_paragraph(f"Body {number}")
    numbered = section.footer.add_paragraph("Page ")
    field = numbered.add_run("7")._r
    instruction = numbered.add_run()._r
    instruction.append(instruction.makeelement(f"{{{W[9:-1]}}}instrText"))
    instruction[-1].text = " PAGE "
    field.addprevious(instruction)
    output = io.BytesIO()
    word.save(output)
    document = read(output.getvalue())
    texts = document.markdown.split("\n\n")
    assert texts[0] == "Quillmoss, internal"
    assert texts[1:4] == ["Body 0", "Body 1", "Body 2"]
    assert texts[4:] == ["Valid for part 0", "Valid for part 1"]
    assert removed(document) == {"page number": ["Page 7"]}


@pytest.mark.parametrize("keep", [True, False])
def test_comments_are_marked_or_dropped(keep: bool) -> None:
    word = Document()
    text = word.add_paragraph("Refunds take 14 days.")
    word.add_comment(text.runs[0], text="Should this be 30?", author="Reviewer", initials="R")
    output = io.BytesIO()
    word.save(output)
    document = read(output.getvalue(), comments=keep)
    if keep:
        assert "Comment [author: Reviewer (R)," in document.markdown
        assert "Should this be 30?" in document.markdown
    else:
        assert document.markdown == "Refunds take 14 days."
        assert removed(document) == {"comment": ["Should this be 30?"]}


def test_pictures_are_read_by_their_alt_text() -> None:
    def picture(description: str) -> str:
        return (
            '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
            f'wordprocessingDrawing"><wp:docPr id="1" name="p" descr="{description}"/>'
            '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"/>'
            "</wp:inline></w:drawing></w:r>"
        )

    document = read(
        word_file(
            paragraph(picture("A duck [young] on a pond&#10;&#10;Description automatically generated"))
            + paragraph(picture("scan_001.png"), run("Text"))
        )
    )
    assert document.markdown == "![A duck (young) on a pond]()\n\nText"


def test_boxes_symbols_and_fields_show_what_the_page_shows() -> None:
    box = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked{}/></w:checkBox></w:ffData>'
        "</w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    date = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> DATE </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + run("1 May 2026")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )  # fmt: skip
    document = read(
        word_file(
            paragraph(box.format(""), run("Paid"))
            + paragraph(box.format(' w:val="0"'), run("Sent"))
            + paragraph('<w:r><w:sym w:font="Wingdings" w:char="F0E0"/></w:r>', run(" signed on "), date)
        )
    )
    assert document.markdown == "☒ Paid\n\n☐ Sent\n\n→ signed on 1 May 2026"


def test_words_stay_whole_where_their_formatting_changes() -> None:
    word = Document()
    first = word.add_paragraph()
    for text, bold in (("Note", True), (": the limit (", False), ("14", True), (" days) is ", False)):
        first.add_run(text).bold = bold
    first.add_run("10")
    first.add_run("3").font.superscript = True
    cell = word.add_table(1, 2).cell(0, 0).paragraphs[0]
    cell.add_run("a").bold = True
    cell.add_run(", b | c")
    output = io.BytesIO()
    word.save(output)
    document = read(output.getvalue())
    assert document.markdown.startswith("**Note**: the limit (**14** days) is 10 3\n")
    assert "| **a**, b \\| c |" in document.markdown


def test_what_follows_an_early_list_is_no_part_of_it() -> None:
    word = Document()
    word.add_paragraph("one", style="List Bullet")
    word.add_heading("Rules", 1)
    after = word.add_paragraph("some ")
    after.add_run("text").bold = True
    output = io.BytesIO()
    word.save(output)
    document = read(output.getvalue())
    assert document.markdown == "- one\n\n## Rules\n\nsome **text**"
    assert [b.kind for b in document.blocks] == [BlockKind.LIST_ITEM, BlockKind.HEADING, BlockKind.PARAGRAPH]


def test_hidden_text_in_other_parts_and_strict_files_is_left_out() -> None:
    strict = {
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "http://purl.oclc.org/ooxml/wordprocessingml/main",
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "http://purl.oclc.org/ooxml/officeDocument/relationships",
    }
    word = Document()
    word.add_paragraph("Seen").add_run(" unseen").font.hidden = True
    tiny = word.sections[0].header.paragraphs[0].add_run("tiny")
    tiny.font.size = Pt(1)
    word.add_paragraph().add_run("white").font.color.rgb = RGBColor(255, 255, 255)
    output = io.BytesIO()
    word.save(output)
    for data in (output.getvalue(), replaced_everywhere(output.getvalue(), strict)):
        document = read(data)
        assert document.markdown == "Seen"
        assert len(document.removed) == 3
