"""Reading scans: pages drawn as pictures, turned, skewed, ruled, in columns, blank, or without text."""

import io
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.document import Block, BlockKind, Box, NormalizedDocument
from rag_pipeline.normalize.layout.page_text import around
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.scans.lines import divided
from rag_pipeline.normalize.scans.placement import Placement
from rag_pipeline.normalize.scans.rules import find_rules, without_rules

SIZE = (1_240, 1_400)
TITLE = "Terms of Return"
TITLE_AT = (100, 80)
LEFT = ["Customers may return goods", "within fourteen days after", "the parcel has arrived."]
RIGHT = ["Refunds are paid to the", "account that the order was", "paid from in the first place."]
ROWS = [["Country", "Carrier", "Fee"], ["Norway", "Posten", "12.50"], ["Spain", "Correos", "9.80"]]
CELL = (320, 60)
TABLE_AT = (100, 700)
TABLE_END = (TABLE_AT[0] + 3 * CELL[0], TABLE_AT[1] + 3 * CELL[1])


def font(size: int) -> ImageFont.FreeTypeFont:
    loaded = ImageFont.load_default(size=size)
    assert isinstance(loaded, ImageFont.FreeTypeFont)
    return loaded


@cache
def page() -> Image.Image:
    """A page with a title, two columns of text and a ruled table."""
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    draw.text(TITLE_AT, TITLE, font=font(48), fill="black")
    for left, lines in ((100, LEFT), (680, RIGHT)):
        for number, line in enumerate(lines):
            draw.text((left, 240 + 45 * number), line, font=font(30), fill="black")
    for row, cells in enumerate(ROWS):
        for column, text in enumerate(cells):
            left, top = TABLE_AT[0] + CELL[0] * column, TABLE_AT[1] + CELL[1] * row
            draw.rectangle((left, top, left + CELL[0], top + CELL[1]), outline="black", width=2)
            draw.text((left + 20, top + 12), text, font=font(30), fill="black")
    return image


def as_png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def read(image: Image.Image) -> NormalizedDocument:
    return convert(as_png(image), "page.png", ParsingOptions())


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def text_of(document: NormalizedDocument, block: Block) -> str:
    return document.markdown[block.start : block.end]


def assert_read_as_drawn(document: NormalizedDocument) -> None:
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    assert [words(text_of(document, block)) for block in headings] == [words(TITLE)]
    table = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text_of(document, table).split("\n")
    ]
    assert [row for row in cells if not set(row) <= {"-"}] == ROWS
    prose = [
        text_of(document, block)
        for block in document.blocks
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
    ]
    assert words(" ".join(prose)) == words(" ".join(LEFT + RIGHT))


def places_of(document: NormalizedDocument, kind: BlockKind) -> list[Box]:
    blocks = [block for block in document.blocks if block.kind is kind]
    return [place.box for block in blocks for place in block.places if place.box]


def assert_within(boxes: list[Box], whole: Box) -> None:
    """The boxes lie in the whole one, and together reach over most of it."""
    left, top, right, bottom = around(boxes)
    assert whole[0] - 5 <= left < right <= whole[2] + 5
    assert whole[1] - 5 <= top < bottom <= whole[3] + 5
    assert (right - left) * (bottom - top) > 0.5 * (whole[2] - whole[0]) * (whole[3] - whole[1])


class TestWholePages:
    def test_title_columns_and_ruled_table_are_read_as_they_stand(self) -> None:
        document = read(page())

        assert_read_as_drawn(document)
        assert any(
            re.match(r"page 1: read by OCR, confidence (0\.9|1\.0)", note) for note in document.decisions
        )
        assert_within(places_of(document, BlockKind.TABLE), (*TABLE_AT, *TABLE_END))

    def test_a_page_on_its_head_that_is_skewed_as_well_reads_the_same(self) -> None:
        turned = page().rotate(182.0, expand=True, fillcolor="white", resample=Image.Resampling.BICUBIC)

        document = read(turned)

        assert_read_as_drawn(document)
        (note,) = (note for note in document.decisions if "OCR" in note)
        assert "turned by 180 degrees" in note
        assert re.search(r"levelled by -?(1\.[789]|2\.[0123]) degrees", note)

    def test_a_page_on_its_side_keeps_its_places_on_the_page(self) -> None:
        document = read(page().transpose(Image.Transpose.ROTATE_90))

        assert_read_as_drawn(document)
        # Turned counterclockwise, x becomes what is left of the height and y what is left of the width.
        table = (TABLE_AT[1], SIZE[0] - TABLE_END[0], TABLE_END[1], SIZE[0] - TABLE_AT[0])
        assert_within(places_of(document, BlockKind.TABLE), table)


class TestWhatReadersAreTold:
    def test_a_pdf_of_a_scan_and_a_blank_page_tells_how_each_was_read(self) -> None:
        scan = Image.new("RGB", (1_000, 500), "white")
        ImageDraw.Draw(scan).text((80, 100), "Payment within thirty days", font=font(40), fill="black")
        data = io.BytesIO()
        scan.save(
            data, "PDF", resolution=150, save_all=True, append_images=[Image.new("RGB", (500, 500), "white")]
        )

        document = convert(data.getvalue(), "scan.pdf", ParsingOptions())

        assert words(document.markdown) == ["payment", "within", "thirty", "days"]
        assert any(note.startswith("page 1: read by OCR, confidence") for note in document.decisions)
        assert "page 2: blank" in document.decisions

    def test_a_page_that_is_mostly_a_drawing_warns_of_little_text(self) -> None:
        image = Image.new("RGB", (1_000, 800), "white")
        draw = ImageDraw.Draw(image)
        draw.text((60, 40), "Support over time", font=font(36), fill="black")
        for number in range(40):
            draw.ellipse(
                (60 + 15 * number, 140 + 9 * number, 400 + 14 * number, 420 + 8 * number),
                outline="navy",
                width=3,
            )

        document = read(image)

        assert "support over time" in document.markdown.casefold()
        assert any("page 1: little text" in warning for warning in document.warnings)

    def test_a_picture_without_text_is_empty(self) -> None:
        with pytest.raises(DocumentError) as refusal:
            read(Image.new("L", (600, 400), 250))

        assert refusal.value.category is FailureCategory.EMPTY


class TestRules:
    def test_rules_of_a_grid_are_found_on_white_and_on_coloured_ground(self) -> None:
        image = Image.new("RGB", (900, 400), "white")
        draw = ImageDraw.Draw(image)
        draw.rectangle((50, 50, 850, 150), fill=(140, 176, 226))
        for y in (50, 150, 250, 350):
            draw.line((50, y, 850, y), fill="black", width=2)
        for x in (50, 450, 850):
            draw.line((x, 50, x, 350), fill=(90, 90, 90), width=2)

        rules = find_rules(np.asarray(image), 30.0, [])

        level = sorted(round(rule.position, -1) for rule in rules if rule.horizontal)
        upright = sorted(round(rule.position, -1) for rule in rules if not rule.horizontal)
        assert (level, upright) == ([50, 150, 250, 350], [50, 450, 850])

    def test_letters_make_no_rules_and_painting_over_rules_leaves_letters(self) -> None:
        image = Image.new("RGB", (900, 200), "white")
        draw = ImageDraw.Draw(image)
        draw.text((40, 40), "Illicit HEEL filling TTTTT", font=font(60), fill="black")
        lettered = np.asarray(image)
        assert find_rules(lettered, 70.0, [(30.0, 35.0, 880.0, 115.0)]) == ()
        draw.line((40, 150, 860, 150), fill="black", width=3)
        ruled = np.asarray(image)

        painted = without_rules(ruled, find_rules(ruled, 70.0, [(30.0, 35.0, 880.0, 115.0)]), 70.0)

        assert np.array_equal(painted[:140], lettered[:140])
        assert (painted[140:] < 128).mean() < 0.001

    def test_a_line_is_divided_where_upright_rules_cross_it(self) -> None:
        rules = find_rules(np.asarray(page()), 40.0, [])
        upright = [rule for rule in rules if not rule.horizontal]
        top = float(TABLE_AT[1] + 10)

        parts = list(divided((110.0, top, 1_050.0, top + 40), upright))

        assert [(round(left, -1), round(right, -1)) for left, _, right, _ in parts] == [
            (110, 420),
            (420, 740),
            (740, 1_050),
        ]


@settings(max_examples=50)
@given(
    angle=st.floats(-180, 180),
    box=st.tuples(st.floats(0, 500), st.floats(0, 500), st.floats(1, 500), st.floats(1, 500)),
)
def test_a_box_led_back_to_the_page_holds_the_same_place(angle: float, box: tuple[float, ...]) -> None:
    left, top, width, height = box
    cosine, sine = float(np.cos(np.radians(angle))), float(np.sin(np.radians(angle)))
    placement = Placement(cosine, -sine, 7.0, sine, cosine, -3.0)

    x0, y0, x1, y1 = placement.on_page((left, top, left + width, top + height))

    middle = np.array([[cosine, -sine], [sine, cosine]]) @ [left + width / 2, top + height / 2] + [7.0, -3.0]
    assert np.allclose([(x0 + x1) / 2, (y0 + y1) / 2], middle, atol=1e-6)
    assert (x1 - x0) * (y1 - y0) >= width * height * (1 - 1e-9)
