"""Tables of pages: what is found on pages that are laid out here by hand, and what is left alone."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import Line, PageText, Rule, around
from rag_pipeline.normalize.tables.continuation import joined_tables
from rag_pipeline.normalize.tables.finding import tables_of
from rag_pipeline.normalize.tables.table import Table

LETTER = 5.0
"""The width of a letter; lines are 10 high, and a space is half a letter."""


@dataclass
class Sheet:
    """A page to write on."""

    lines: list[Line] = field(default_factory=list)
    words: list[Line] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    mono: bool = False

    def write(self, x: float, y: float, text: str, *, align: str = "left", rtl: bool = False) -> None:
        """A line of words with its left edge, middle or right edge at `x` and its top at `y`."""
        words = text.split()
        widths = [LETTER * len(word) for word in words]
        width = sum(widths) + LETTER / 2 * (len(words) - 1)
        at = x - {"left": 0.0, "middle": width / 2, "right": width}[align]
        placed = []
        order = list(zip(words, widths, strict=True))
        for word, wide in reversed(order) if rtl else order:
            placed.append(Line(word, (at, y, at + wide, y + 10), mono=self.mono, rtl=rtl))
            at += wide + LETTER / 2
        self.words += placed
        self.lines.append(Line(text, around(word.box for word in placed), mono=self.mono, rtl=rtl))

    def row(self, y: float, xs: Sequence[float], texts: Sequence[str], align: str = "left") -> None:
        for x, text in zip(xs, texts, strict=True):
            if text:
                self.write(x, y, text, align=align)

    def level(self, y: float, left: float, right: float) -> None:
        self.rules.append(Rule(True, y, left, right))

    def upright(self, x: float, top: float, bottom: float) -> None:
        self.rules.append(Rule(False, x, top, bottom))

    def frame(self, box: Box) -> None:
        left, top, right, bottom = box
        for y in (top, bottom):
            self.level(y, left, right)
        for x in (left, right):
            self.upright(x, top, bottom)

    def grid(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        for x in xs:
            self.upright(x, ys[0], ys[-1])
        for y in ys:
            self.level(y, xs[0], xs[-1])

    def page(self, number: int = 1) -> PageText:
        return PageText(
            number, tuple(self.lines), tuple(self.words), tuple(self.rules), width=600.0, height=800.0
        )


def rows_of(sheet: Sheet) -> list[list[str]]:
    """The rows of the only table on a page."""
    (table,) = tables_of(sheet.page())
    return [list(row) for row in table.rows]


PROSE = (
    "The river rose in the night and by morning the lower fields stood under water",
    "as far as the old mill. Nobody in the village had seen anything like it since",
    "the winter of the great frost, when the ice had carried away the bridge and all",
    "that stood on it. The miller moved his sacks to the loft and waited for the rain",
    "to stop. On the third day the wind turned and the water fell as fast as it came,",
    "leaving a layer of grey mud on the meadows and a boat in the churchyard wall.",
)


class TestGrids:
    def test_full_grid(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 150, 250, 350], [100, 120, 140, 160])
        sheet.row(105, [55, 155, 255], ["Name", "Colour", "Weight"])
        sheet.row(125, [55, 155, 255], ["Apple", "red", "100 g"])
        sheet.row(145, [55, 155, 255], ["Plum", "", "40 g"])

        (table,) = tables_of(sheet.page())

        assert table.rows == (("Name", "Colour", "Weight"), ("Apple", "red", "100 g"), ("Plum", "", "40 g"))
        assert table.box == (50.0, 100.0, 350.0, 160.0)
        assert [(box[1], box[3]) for _, box in table.places] == [(100, 120), (120, 140), (140, 160)]
        assert table.lines == frozenset(range(8))

    def test_cells_that_are_drawn_one_by_one(self) -> None:
        sheet = Sheet()
        for row in range(3):
            for column in range(2):
                left, top = 50 + 102 * column, 100 + 22 * row
                sheet.frame((left, top, left + 100, top + 20))
                sheet.write(left + 5, top + 5, f"cell {row} {column}")

        assert rows_of(sheet) == [[f"cell {row} {column}" for column in range(2)] for row in range(3)]

    def test_no_outer_rules_at_the_sides(self) -> None:
        sheet = Sheet()
        for y in (100, 120, 140, 160):
            sheet.level(y, 50, 350)
        for x in (150, 250):
            sheet.upright(x, 100, 160)
        for n, row in enumerate((["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"])):
            sheet.row(105 + 20 * n, [55, 155, 255], row)

        assert rows_of(sheet) == [["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]]

    def test_a_spanning_header_is_repeated_over_its_columns_and_rows(self) -> None:
        sheet = Sheet()
        for x in (50, 150, 350):
            sheet.upright(x, 100, 180)
        sheet.upright(250, 120, 180)
        for y in (100, 140, 160, 180):
            sheet.level(y, 50, 350)
        sheet.level(120, 150, 350)
        sheet.write(60, 115, "Model")
        sheet.write(250, 105, "Score", align="middle")
        sheet.row(125, [155, 255], ["simple", "complex"])
        sheet.row(145, [55, 155, 255], ["small", "0.91", "0.85"])
        sheet.row(165, [55, 155, 255], ["large", "0.95", "0.88"])

        assert rows_of(sheet) == [
            ["Model", "Score", "Score"],
            ["Model", "simple", "complex"],
            ["small", "0.91", "0.85"],
            ["large", "0.95", "0.88"],
        ]

    def test_a_remark_over_all_columns_stands_once(self) -> None:
        sheet = Sheet()
        remark = " ".join(["All figures are estimates of the agency and may still be revised."] * 2)
        sheet.grid([50, 300, 550], [100, 120, 140, 160])
        sheet.level(190, 50, 550)
        for x in (50, 550):
            sheet.upright(x, 160, 190)
        for n, row in enumerate((["Year", "Tons"], ["2020", "12"], ["2021", "14"])):
            sheet.row(105 + 20 * n, [55, 305], row)
        sheet.write(55, 163, " ".join(remark.split()[:12]))
        sheet.write(55, 175, " ".join(remark.split()[12:]))

        assert rows_of(sheet)[-1] == [remark, ""]

    def test_lines_of_a_cell_are_joined(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 150, 400], [100, 120, 160])
        sheet.row(105, [55, 155], ["Term", "Meaning"])
        sheet.write(55, 135, "Skew")
        sheet.write(155, 125, "The angle by which a page was")
        sheet.write(155, 140, "turned while it was scanned")

        assert rows_of(sheet)[1] == ["Skew", "The angle by which a page was turned while it was scanned"]

    def test_rows_that_no_rule_parts(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 150, 250], [100, 120, 165])
        sheet.row(105, [55, 155], ["Size", "Chunks"])
        for n, row in enumerate((["Base 128", "64,058"], ["Base 256", "32,051"], ["Base 512", "16,046"])):
            sheet.row(122 + 14 * n, [55, 155], row)

        assert rows_of(sheet) == [
            ["Size", "Chunks"], ["Base 128", "64,058"], ["Base 256", "32,051"], ["Base 512", "16,046"],
        ]  # fmt: skip

    def test_a_label_whose_lines_are_shaded_one_by_one_is_one_cell(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 130, 250], [100, 120, 150])
        sheet.level(135, 50, 130)
        sheet.row(105, [55, 135], ["Volume", "12,000 tons"])
        sheet.write(55, 122, "Lowest price")
        sheet.write(55, 137, "after listing")
        sheet.write(135, 130, "world market")

        (table,) = tables_of(sheet.page())

        assert table.rows[1] == ("Lowest price after listing", "world market")
        assert table.box == (50.0, 100.0, 250.0, 150.0)

    def test_a_full_header_over_cells_that_are_to_be_filled_in(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 150, 250], [100, 120, 140, 160])
        sheet.row(105, [55, 155], ["Name", "Picture"])
        sheet.write(55, 125, "Duck")
        sheet.write(55, 145, "Goose")

        assert rows_of(sheet) == [["Name", "Picture"], ["Duck", ""], ["Goose", ""]]

    def test_a_table_in_a_cell_belongs_to_the_cell(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 250, 450], [100, 120, 200])
        sheet.row(105, [55, 255], ["Left", "Right"])
        sheet.write(55, 130, "text")
        sheet.grid([255, 345, 435], [125, 140, 155])
        sheet.row(127, [260, 350], ["A", "B"])
        sheet.row(142, [260, 350], ["1", "2"])

        assert rows_of(sheet) == [["Left", "Right"], ["text", "A B 1 2"]]

    def test_tables_inside_a_frame_around_the_page(self) -> None:
        sheet = Sheet()
        sheet.frame((20, 20, 580, 780))
        for n, line in enumerate(PROSE):
            sheet.write(40, 40 + 14 * n, line)
        sheet.grid([50, 150, 250], [200, 220, 240])
        sheet.row(205, [55, 155], ["Year", "Tons"])
        sheet.row(225, [55, 155], ["2020", "12"])

        assert rows_of(sheet) == [["Year", "Tons"], ["2020", "12"]]

    def test_columns_from_right_to_left_come_in_reading_order(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 250, 450], [100, 120, 140])
        for y, label, value in ((105, "تاريخ پذيرش", "روز نخست ماه"), (125, "شماره جلسه", "436")):
            sheet.write(445, y, label, align="right", rtl=True)
            sheet.write(245, y, value, align="right", rtl=True)

        assert rows_of(sheet) == [["تاريخ پذيرش", "روز نخست ماه"], ["شماره جلسه", "436"]]

    def test_a_line_over_several_cells_is_divided(self) -> None:
        sheet = Sheet()
        sheet.grid([50, 100, 150, 200], [100, 120, 140])
        sheet.row(105, [55, 105, 155], ["a", "b", "c"])
        sheet.row(125, [55, 105, 155], ["1", "2", "3"])
        page = sheet.page()
        lines = tuple(Line(" ".join(w.text for w in row), around(w.box for w in row))
                      for row in (page.words[:3], page.words[3:]))  # fmt: skip

        (table,) = tables_of(replace(page, lines=lines))

        assert table.rows == (("a", "b", "c"), ("1", "2", "3"))
        assert table.lines == frozenset({0, 1})

    def test_ocr_lines_without_words_on_rough_rules(self) -> None:
        sheet = Sheet()
        sheet.rules += [Rule(True, y, 52, 348) for y in (100, 121, 140.5, 160)]
        sheet.rules += [Rule(False, x, 103, 157) for x in (50, 151, 249, 350)]
        for n, row in enumerate(
            (["Name", "Colour", "Weight"], ["Apple", "red", "100 g"], ["Plum", "blue", "40 g"])
        ):
            sheet.row(105 + 20 * n, [55, 155, 255], row)
        page = replace(sheet.page(), words=(), scanned=True)

        (table,) = tables_of(page)

        assert table.rows[1:] == (("Apple", "red", "100 g"), ("Plum", "blue", "40 g"))


class TestLevelRules:
    def test_three_rules(self) -> None:
        sheet = Sheet()
        for y in (100, 120, 182):
            sheet.level(y, 50, 400)
        xs = [55, 200, 300]
        sheet.row(105, xs, ["Data set", "Pages", "F1"])
        sheet.row(125, xs, ["Reports of the year", "1,200", "0.91"])
        sheet.row(139, xs, ["Letters", "310", "0.87"])
        sheet.row(153, xs, ["Forms and tables", "95", "0.62"])
        sheet.row(167, xs, ["All", "1,605", "0.88"])

        assert rows_of(sheet) == [
            ["Data set", "Pages", "F1"],
            ["Reports of the year", "1,200", "0.91"],
            ["Letters", "310", "0.87"],
            ["Forms and tables", "95", "0.62"],
            ["All", "1,605", "0.88"],
        ]

    def test_a_short_rule_shows_what_a_header_spans(self) -> None:
        sheet = Sheet()
        for y in (100, 140, 180):
            sheet.level(y, 50, 400)
        sheet.level(119, 195, 350)
        sheet.write(270, 106, "Test", align="middle")
        sheet.row(124, [55, 200, 300], ["Model", "easy", "hard"])
        sheet.row(145, [55, 200, 300], ["small", "0.91", "0.62"])
        sheet.row(159, [55, 200, 300], ["large", "0.95", "0.71"])

        assert rows_of(sheet) == [
            ["", "Test", "Test"],
            ["Model", "easy", "hard"],
            ["small", "0.91", "0.62"],
            ["large", "0.95", "0.71"],
        ]

    def test_rows_between_rules_wrap(self) -> None:
        sheet = Sheet()
        for y in (120, 140, 180, 200):
            sheet.level(y, 50, 450)
        xs = [55, 200, 350]
        sheet.row(105, xs, ["", "Food", "Calories"])
        sheet.row(125, xs, ["Leaves", "Ash, Elm, Maple", "50"])
        sheet.row(145, xs, ["Berries", "Blueberry, Straw-", "150"])
        sheet.row(159, xs, ["", "berry, Cranberry", ""])
        sheet.row(185, xs, ["Grain", "Corn and Barley", "200"])

        assert rows_of(sheet) == [
            ["", "Food", "Calories"],
            ["Leaves", "Ash, Elm, Maple", "50"],
            ["Berries", "Blueberry, Strawberry, Cranberry", "150"],
            ["Grain", "Corn and Barley", "200"],
        ]


class TestAlignment:
    def test_numbers_in_columns(self) -> None:
        sheet = Sheet()
        sheet.row(100, [50, 150], ["Year", "Freshwater Ducks"])
        for n, (year, ducks) in enumerate((("2019", "120"), ("2020", "135"), ("2021", "1,150"))):
            sheet.row(114 + 14 * n, [120, 225], [year, ducks], align="right")

        assert rows_of(sheet) == [
            ["Year", "Freshwater Ducks"], ["2019", "120"], ["2020", "135"], ["2021", "1,150"],
        ]  # fmt: skip

    def test_a_rule_below_the_header_and_a_cell_that_wraps(self) -> None:
        sheet = Sheet()
        sheet.level(113, 50, 420)
        sheet.row(100, [50, 150], ["Genus", "Species"])
        sheet.row(120, [50, 150], ["Aythya", "Common Pochard"])
        sheet.row(140, [50, 150], ["Oxyura", "Banded Water-screw of the"])
        sheet.write(150, 152, "northern lakes")

        assert rows_of(sheet) == [
            ["Genus", "Species"],
            ["Aythya", "Common Pochard"],
            ["Oxyura", "Banded Water-screw of the northern lakes"],
        ]

    def test_a_table_among_text(self) -> None:
        sheet = Sheet()
        for n, line in enumerate(PROSE):
            sheet.write(50, 50 + 14 * n, line)
            sheet.write(50, 300 + 14 * n, line)
        rows = (
            ("Harbour", "Ships", "Tons"), ("North", "12", "4,100"), ("South pier", "7", "890"),
            ("East", "", "15"),
        )  # fmt: skip
        for n, row in enumerate(rows):
            sheet.row(170 + 14 * n, [60, 200, 300], row)

        (table,) = tables_of(sheet.page())

        assert table.rows == rows
        assert not any(sheet.lines[number].text in PROSE for number in table.lines)

    def test_a_table_beside_a_column_of_text(self) -> None:
        sheet = Sheet()
        for n in range(12):
            sheet.write(50, 100 + 12 * n, " ".join(PROSE[n % 6].split()[:9]))
        for n, row in enumerate(
            (["Kind", "Count", "Share"], ["oak", "12", "0.3"], ["elm", "20", "0.5"], ["fir", "8", "0.2"])
        ):
            sheet.row(118 + 14 * n, [350, 420, 490], row)

        assert rows_of(sheet) == [
            ["Kind", "Count", "Share"], ["oak", "12", "0.3"], ["elm", "20", "0.5"], ["fir", "8", "0.2"],
        ]  # fmt: skip


def two_columns(sheet: Sheet) -> None:
    for n in range(18):
        sheet.write(50, 100 + 12 * n, " ".join(PROSE[n % 6].split()[:9]))
        sheet.write(320, 100 + 12 * n, " ".join(PROSE[(n + 3) % 6].split()[:9]))


def two_columns_between_rules(sheet: Sheet) -> None:
    two_columns(sheet)
    sheet.level(90, 50, 560)
    sheet.level(330, 50, 560)


def numbered_list(sheet: Sheet) -> None:
    for n, text in enumerate(("Open the valve", "Wait for 20 seconds", "Close it", "Read the gauge")):
        sheet.row(100 + 14 * n, [50, 80], [f"{n + 1}.", text])


def bulleted_list(sheet: Sheet) -> None:
    for n, text in enumerate(("salt", "200 g", "flour", "1 kg", "water")):
        sheet.row(100 + 14 * n, [50, 80], ["•", text])


def contents_with_leaders(sheet: Sheet) -> None:
    for n, title in enumerate(("Introduction", "Roles and duties", "Row access", "Column masks", "Index")):
        sheet.row(100 + 14 * n, [50, 500], [title + " " + ". " * 20, str(3 + 7 * n)])


def contents_without_leaders(sheet: Sheet) -> None:
    titles = (
        "How to read this book",
        "Roles and their duties",
        "Access to the rows",
        "Masks over the columns",
    )
    for n, title in enumerate(titles):
        sheet.row(100 + 14 * n, [50, 500], [title, str(3 + 7 * n)])


def code(sheet: Sheet) -> None:
    sheet.mono = True
    for n, row in enumerate((["int", "count = 0;"], ["float", "share = 0.5;"], ["return", "count * share;"])):
        sheet.row(100 + 14 * n, [50, 120], row)


def code_between_rules(sheet: Sheet) -> None:
    code(sheet)
    for y in (90, 150):
        sheet.level(y, 50, 500)


def addresses(sheet: Sheet) -> None:
    rows = (
        ["Seller", "Buyer"],
        ["Acme Works", "Blue Barn Ltd"],
        ["12 Mill Lane", "7 High Street"],
        ["Leeds", "York"],
    )
    for n, row in enumerate(rows):
        sheet.row(100 + 14 * n, [50, 300], row)


def form(sheet: Sheet) -> None:
    rows = (["Name:", "Mary"], ["Born:", "1980"], ["Phone:", "555 1234"], ["Room:", "12"])
    for n, row in enumerate(rows):
        sheet.row(100 + 14 * n, [50, 150], row)


def equations(sheet: Sheet) -> None:
    for n in range(4):
        sheet.row(100 + 20 * n, [150, 480], [f"x = y + {n} z", f"({n + 1})"])


def framed_text(sheet: Sheet) -> None:
    sheet.frame((40, 90, 560, 190))
    sheet.level(110, 40, 560)
    sheet.write(50, 95, "Note")
    for n, line in enumerate(PROSE):
        sheet.write(50, 115 + 12 * n, line)


def diagram(sheet: Sheet) -> None:
    for n, text in enumerate(("Client", "Server", "Store")):
        left, top = 60 + 160 * n, 100 + 70 * n
        sheet.frame((left, top, left + 80, top + 30))
        sheet.write(left + 10, top + 10, text)
    sheet.level(115, 140, 260)
    sheet.upright(260, 115, 170)


def chart(sheet: Sheet) -> None:
    sheet.grid([100, 160, 220, 280, 340], [100, 130, 160, 190, 220])
    for n in range(5):
        sheet.write(90, 96 + 30 * n, str(40 - 10 * n), align="right")
        sheet.write(100 + 60 * n, 226, str(n), align="middle")
    sheet.write(220, 245, "hours of sun", align="middle")


@pytest.mark.parametrize(
    "draw",
    [
        two_columns, two_columns_between_rules, numbered_list, bulleted_list, contents_with_leaders,
        contents_without_leaders, code, code_between_rules, addresses, form, equations, framed_text, diagram,
        chart,
    ],
)  # fmt: skip
def test_what_is_no_table_is_left_alone(draw: Callable[[Sheet], None]) -> None:
    sheet = Sheet()
    draw(sheet)

    assert tables_of(sheet.page()) == []


class TestOverPages:
    HEADER = ("Town", "People")

    def table(self, number: int, rows: Sequence[Sequence[str]], x: float = 50) -> Table:
        sheet = Sheet()
        sheet.grid([x, x + 100, x + 200], [100 + 20 * n for n in range(len(rows) + 1)])
        for n, row in enumerate(rows):
            sheet.row(105 + 20 * n, [x + 5, x + 105], row)
        (table,) = tables_of(sheet.page(number))
        return table

    def test_a_repeated_header_is_dropped(self) -> None:
        first = self.table(1, [self.HEADER, ("Ulm", "126,000"), ("Bonn", "331,000")])
        second = self.table(2, [self.HEADER, ("Kiel", "247,000"), ("Jena", "111,000")], x=70)

        table = joined_tables(first, second)

        assert table is not None
        assert [row[0] for row in table.rows] == ["Town", "Ulm", "Bonn", "Kiel", "Jena"]
        assert [page for page, _ in table.places] == [1, 1, 1, 2, 2]
        last = table.piece.places[-1]
        assert (last.page, table.markdown[last.start : last.end]) == (2, "| Jena | 111,000 |")

    def test_rows_go_on_without_a_header_over_three_pages(self) -> None:
        first = self.table(1, [self.HEADER, ("Ulm", "126,000"), ("Bonn", "331,000")])
        second = self.table(2, [("Kiel", "247,000"), ("Jena", "111,000")])
        third = self.table(3, [("Trier", "112,000"), ("Worms", "84,000")])

        two = joined_tables(first, second)
        assert two is not None
        three = joined_tables(two, third)

        assert three is not None
        assert three.rows == first.rows + second.rows + third.rows
        assert joined_tables(first, third) is None

    def test_another_header_or_other_columns_begin_another_table(self) -> None:
        first = self.table(1, [self.HEADER, ("Ulm", "126,000"), ("Bonn", "331,000")])
        rivers = self.table(2, [("River", "Length"), ("Rhine", "1,233"), ("Elbe", "1,094")])
        sheet = Sheet()
        sheet.grid([50, 100, 150, 250], [100, 120, 140])
        for n, row in enumerate((("Kiel", "a", "247,000"), ("Jena", "b", "111,000"))):
            sheet.row(105 + 20 * n, [55, 105, 155], row)
        (wider,) = tables_of(sheet.page(2))

        assert joined_tables(first, rivers) is None
        assert joined_tables(first, wider) is None


texts = st.text(alphabet="abcdefgh0123456789", min_size=1, max_size=7)


@settings(max_examples=40)
@given(st.data(), st.integers(2, 6), st.integers(2, 7))
def test_every_full_grid_is_read_back(data: st.DataObject, wide: int, high: int) -> None:
    rows = [[data.draw(texts) for _ in range(wide)] for _ in range(high)]
    sheet = Sheet()
    sheet.grid([50 + 60 * n for n in range(wide + 1)], [100 + 18 * n for n in range(high + 1)])
    for n, row in enumerate(rows):
        sheet.row(104 + 18 * n, [55 + 60 * column for column in range(wide)], row)

    assert rows_of(sheet) == rows


spots = st.tuples(st.integers(0, 50), st.integers(0, 60), texts)
strokes = st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 50), st.integers(1, 40))


@settings(max_examples=80)
@given(st.lists(spots, max_size=60), st.lists(strokes, max_size=25), st.booleans())
def test_no_word_is_lost_or_read_twice(
    spots: list[tuple[int, int, str]], strokes: list[tuple[bool, int, int, int]], scanned: bool
) -> None:
    """Each line is in one table or in none, and the cells hold all the words of their lines.

    A spanning cell repeats its words, so that only the number of different ones can be told there.
    """
    sheet = Sheet()
    for n, (x, y, text) in enumerate(spots):
        sheet.write(10 * x, 12 * y, f"{text}x{n}")
    sheet.rules += [
        Rule(level, 12 * at, 10 * start, 10 * (start + length)) for level, at, start, length in strokes
    ]
    page = replace(sheet.page(), scanned=scanned)

    tables = tables_of(page)

    taken = Counter(number for table in tables for number in table.lines)
    assert all(count == 1 for count in taken.values())
    for table in tables:
        assert len({len(row) for row in table.rows}) == 1
        assert len(table.places) == len(table.rows)
        read = {word for row in table.rows for cell in row for word in cell.split()}
        assert read == {word for number in table.lines for word in page.lines[number].text.split()}


def test_more_than_a_page_can_hold_is_refused() -> None:
    word = Line("word", (10, 10, 30, 20))
    strokes = tuple(Rule(n % 2 == 0, n % 797, n % 389, n % 389 + 50) for n in range(50_000))

    assert tables_of(PageText(1, (word,) * 100_000, (word,) * 100_000)) == []
    assert tables_of(PageText(1, (word,), (word,), strokes)) == []
    assert (
        tables_of(PageText(1, (Line("far", (1e30, 0, float("inf"), 9)),), (), (Rule(True, 1e30, 0, 9),)))
        == []
    )
