"""Values in texts: the same amount is the same, however and in which language it is written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.value import Value
from rag_pipeline.query.conflicts.values import find_values


def only(text: str, kind: ValueKind) -> Value:
    (value,) = find_values(text, frozenset({kind}))
    return value


@pytest.mark.parametrize(
    ("kind", "ways"),
    [
        (ValueKind.DURATION, ["within 14 days", "two weeks", "a fortnight", "14-day trial"]),
        (ValueKind.DURATION, ["14 days", "两周", "14天", "十四天内"]),
        (ValueKind.DURATION, ["one year", "12 months", "within a year", "12 个月", "一年", "十二个月"]),
        (ValueKind.DURATION, ["half a year", "6 months", "半年", "六个月"]),
        (ValueKind.DURATION, ["3 business days", "three working days", "3 个工作日", "三个工作日"]),
        (ValueKind.DURATION, ["3 to 5 days", "3-5 days", "3至5天", "三到五天"]),
        (ValueKind.DURATION, ["48 hours", "2 days", "48小时", "两天"]),
        (ValueKind.MONEY, ["EUR 6.50", "6.50 EUR", "6,50 €", "€6.50", "6.5 euros", "6.50 欧元"]),
        (ValueKind.MONEY, ["¥30,000", "30000元", "3万元", "三万元", "RMB 30,000", "30,000 yuan"]),
        (ValueKind.PERCENTAGE, ["15 %", "15%", "fifteen percent", "15 per cent", "百分之十五", "15％"]),
        (ValueKind.PERCENTAGE, ["a discount of 10 %", "九折"]),
        (ValueKind.DATE, ["1 March 2024", "March 1, 2024", "1st of March 2024"]),
        (ValueKind.DATE, ["1 March 2024", "2024-03-01", "2024年3月1日", "3月1日"]),
        (ValueKind.VERSION, ["v2.4.1", "version 2.4.1", "firmware 2.4.1", "2.4.1 版本", "版本 2.4.1"]),
        (ValueKind.COUNT, ["14 characters", "fourteen characters", "14 个字符", "十四个字符"]),
        (ValueKind.COUNT, ["3千克", "3 kg", "3公斤"]),
        (ValueKind.MONEY, ["$5m", "5 million dollars", "US$ 5,000,000", "五百万美元"]),
        (ValueKind.PERMISSION, ["is not allowed", "must not", "cannot", "is forbidden"]),
        (ValueKind.PERMISSION, ["is not allowed", "不得", "禁止", "不允许"]),
        (ValueKind.PERMISSION, ["is allowed", "may", "can", "可以", "允许"]),
    ],
)  # fmt: skip
def test_ways_to_write_the_same_agree(kind: ValueKind, ways: list[str]) -> None:
    values = [only(way, kind) for way in ways]
    assert all(values[0].agrees_with(value) for value in values), values


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (ValueKind.DURATION, "30 days", "one month"),
        (ValueKind.DURATION, "5 days", "5 business days"),
        (ValueKind.DURATION, "3 days", "3 to 5 days"),
        (ValueKind.MONEY, "5 EUR", "5 USD"),
        (ValueKind.MONEY, "5 EUR", "free of charge"),
        (ValueKind.DATE, "1 March 2024", "3 January 2024"),
        (ValueKind.VERSION, "version 2.4", "version 2.5"),
        (ValueKind.PERMISSION, "is allowed", "is not allowed"),
    ],
)
def test_what_differs_does_not_agree(kind: ValueKind, one: str, other: str) -> None:
    assert not only(one, kind).agrees_with(only(other, kind))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("On day 25 I sent it back, 第 25 天退的.", set()),
        ("The plan costs 4.90 EUR a month.", {ValueKind.MONEY}),
        ("Since 1 January 2026 it holds; 自2026年1月1日起.", {ValueKind.DATE}),
        ("In the 2026 edition, chapter 3, section 2.4.", set()),
        ("Our server 10.20.30.40 answers.", set()),
    ],
)
def test_what_is_no_value_is_none(text: str, kinds: set[ValueKind]) -> None:
    assert {value.kind for value in find_values(text)} == kinds


def test_a_date_without_a_year_agrees_with_every_year() -> None:
    assert only("by 15 January", ValueKind.DATE).agrees_with(only("15 January 2026", ValueKind.DATE))


def test_a_value_is_shown_as_it_stands() -> None:
    text = "Return it within thirty days, less EUR 6.50 for 邮费。"
    assert [value.shown for value in find_values(text)] == ["thirty days", "EUR 6.50"]
    assert all(text[value.start : value.end] == value.shown for value in find_values(text))


@given(st.integers(1, 9_999))
@settings(max_examples=50)
def test_a_week_is_seven_days_and_a_year_twelve_months(number: int) -> None:
    def agree(one: str, other: str) -> bool:
        return only(one, ValueKind.DURATION).agrees_with(only(other, ValueKind.DURATION))

    assert agree(f"{number} weeks", f"{7 * number} days")
    assert agree(f"{number} hours", f"{60 * number}分钟")
    assert agree(f"{number} years", f"{12 * number} months")
    assert not agree(f"{number} months", f"{30 * number} days")


@given(st.text(max_size=200))
@settings(max_examples=80)
def test_every_value_stands_in_the_text_and_agrees_with_itself(text: str) -> None:
    for value in find_values(text):
        assert text[value.start : value.end].startswith(value.shown)
        assert value.agrees_with(value)
