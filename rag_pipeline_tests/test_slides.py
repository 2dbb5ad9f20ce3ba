"""Presentations are read as they are shown."""

import io

import pytest
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline_tests.office_files import changed, replaced_everywhere, without_part

_COMMENTS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments"


def read(data: bytes, *, comments: bool = True) -> NormalizedDocument:
    return convert(data, "a.pptx", ParsingOptions(comments=comments))


def slides(*, hidden: int = 0) -> bytes:
    """Three slides with notes and a picture each; one of them hidden if `hidden` names it."""
    show = Presentation()
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    for number in (1, 2, 3):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = f"Step {number}"
        slide.placeholders[1].text = f"First {number}\nSecond {number}"
        slide.notes_slide.notes_text_frame.text = f"Say {number}"
        shape = slide.shapes.add_picture(picture, Inches(1), Inches(6))
        shape._element.nvPicPr.cNvPr.set("descr", f"Sketch {number}")
        if number == hidden:
            slide._element.set("show", "0")
    output = io.BytesIO()
    show.save(output)
    return output.getvalue()


def test_titles_notes_and_alt_texts_are_kept_as_such() -> None:
    document = read(slides())
    assert document.page_count == 3
    assert document.markdown.split("\n\n")[:4] == [
        "# Step 1", "- First 1\n- Second 1", "![Sketch 1]()", "Speaker notes: Say 1",
    ]  # fmt: skip
    pages = {document.markdown[b.start : b.end]: b.page for b in document.blocks}
    assert pages["# Step 2"] == pages["![Sketch 2]()"] == pages["Speaker notes: Say 2"] == 2


def test_hidden_slides_are_left_out_with_their_notes_and_the_others_keep_their_numbers() -> None:
    document = read(slides(hidden=2))
    assert "2" not in document.markdown
    assert [b.page for b in document.blocks if b.kind is BlockKind.HEADING] == [1, 3]
    assert [(p.reason, p.page) for p in document.removed] == [("hidden slide", 2)]
    assert "Say 2" in document.removed[0].text
    assert "left out: hidden slide" in document.warnings


@pytest.mark.parametrize("kind", ["barChart", "bar3DChart"])
def test_charts_are_read_as_tables(kind: str) -> None:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    data = CategoryChartData()
    data.categories = ["2025", "2026"]
    data.add_series("Pots", (3, 4))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(4), Inches(3), data)
    output = io.BytesIO()
    show.save(output)
    document = read(replaced_everywhere(output.getvalue(), {"c:barChart": f"c:{kind}"}))
    table = next(document.markdown[b.start : b.end] for b in document.blocks if b.kind is BlockKind.TABLE)
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]] == [
        ["2025", "3"], ["2026", "4"],
    ]  # fmt: skip


@pytest.mark.parametrize("damage", ["slide", "picture", "missing"])
def test_damaged_parts_cost_only_themselves(damage: str) -> None:
    data = slides()
    if damage == "slide":
        data = changed(data, "ppt/slides/slide2.xml", "</p:sld>", "")
    elif damage == "missing":
        data = without_part(data, "ppt/slides/slide2.xml")
    else:
        data = without_part(data, "ppt/media/image1.png")
    document = read(data)
    assert "# Step 1" in document.markdown
    assert "# Step 3" in document.markdown
    assert any(damage if damage == "missing" else "damaged" in warning for warning in document.warnings)


@pytest.mark.parametrize("keep", [True, False])
def test_comments_stand_on_their_slide_or_are_dropped(keep: bool) -> None:
    modern = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
    data = changed(
        slides(),
        "ppt/slides/_rels/slide2.xml.rels",
        "</Relationships>",
        f'<Relationship Id="rId90" Type="{_COMMENTS}" Target="../comments/one.xml"/></Relationships>',
        {
            "ppt/comments/one.xml": (
                f'<m:cmLst xmlns:m="{modern}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
                '<m:cm authorId="x" created="2026-05-01T10:00:00"><m:replyLst><m:reply authorId="x">'
                "<m:txBody><a:p><a:r><a:t>Yes.</a:t></a:r></a:p></m:txBody></m:reply></m:replyLst>"
                "<m:txBody><a:p><a:r><a:t>Is that so?</a:t></a:r></a:p></m:txBody></m:cm></m:cmLst>"
            )
        },
    )
    data = changed(
        data,
        "[Content_Types].xml",
        "</Types>",
        '<Override PartName="/ppt/comments/one.xml" ContentType="application/xml"/></Types>',
    )
    document = read(data, comments=keep)
    texts = ["Comment [time: 2026-05-01T10:00:00]: Is that so?", "Comment: Yes."]
    if keep:
        pages = {document.markdown[b.start : b.end]: b.page for b in document.blocks}
        assert [pages[text] for text in texts] == [2, 2]
    else:
        assert "Is that so" not in document.markdown
        assert [passage.text for passage in document.removed] == texts
