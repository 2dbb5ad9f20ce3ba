"""Cells are read as a spreadsheet shows them."""

from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.normalize.office.number_format import CellValue, shown

MOMENT = datetime(2026, 3, 5, 14, 7, 9)


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (1234.5, "General", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (1e15, "General", "1000000000000000"),
        (1.5e-7, "General", "1.5E-07"),
        (123456789012345678, "0", "123456789012345678"),
        (True, "General", "TRUE"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (0, "#,##0", "0"),
        (2.675, "0.00", "2.68"),
        (7, "00000", "00007"),
        (1.5, "0.##", "1.5"),
        (1.5, ".00", "1.50"),
        (0.256, "0%", "26%"),
        (0.25612, "0.0%", "25.6%"),
        (-5, "#,##0_);(#,##0)", "(5)"),
        (-5.5, "0.00", "-5.50"),
        (-0.5, "0.00;[Red]-0.00", "-0.50"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (-1234.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "($1,234.50)"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR"),
        (1234.5, r'_("$"* #,##0.00_)_("$"* \(#,##0.00\)_("$"* "-"??_)_(@_)', "$1,234.50"),  # built-in 44
        (0, r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)', "$-"),
        (1234567, '#,##0,"k"', "1,235k"),
        (1234567, '0.0,,"M"', "1.2M"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (5551234, "[<=9999999]###-####;(###) ###-####", "555-1234"),
        (5551234567, "[<=9999999]###-####;(###) ###-####", "(555) 123-4567"),
        (0.00012, "0.00E+00", "1.20E-04"),
        (12345, "##0.0E+0", "12.3E+3"),
        (2.5, "# ?/?", "2 1/2"),
        (2.375, "# ?/8", "2 3/8"),
        (0, '"Yes";"Yes";"No"', "No"),
        (5, ";;;", ""),
        ("x", '0;0;0;"pre "@', "pre x"),
        (MOMENT, "yyyy-mm-dd", "2026-03-05"),
        (MOMENT, "dd.mm.yyyy;@", "05.03.2026"),
        (MOMENT, "d/m/yyyy h:mm", "5/3/2026 14:07"),
        (MOMENT, "[$-409]h:mm:ss AM/PM", "2:07:09 PM"),
        (MOMENT, "dddd, mmmm d, yyyy", "Thursday, March 5, 2026"),
        (MOMENT, "mmm-yy", "Mar-26"),
        (MOMENT, 'yyyy"年"m"月"d"日" aaaa', "2026年3月5日 星期四"),
        (timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
        (time(9, 5), "h:mm", "9:05"),
        # The short date of the reader's own country is written so that it means the same everywhere.
        (date(2026, 3, 5), "mm-dd-yy", "2026-03-05"),
    ],
)
def test_values_are_shown_by_their_format(value: CellValue, number_format: str, text: str) -> None:
    assert shown(value, number_format) == text


@settings(max_examples=200)
@given(
    st.one_of(
        st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5), st.datetimes()
    ),
    st.text(alphabet='0#?.,%E+-/;@_*\\"[]<>=$ dmyhsaAMP年General', max_size=20),
)
def test_every_value_is_shown_whatever_its_format(value: CellValue, number_format: str) -> None:
    assert isinstance(shown(value, number_format), str)
