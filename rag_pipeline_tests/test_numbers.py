"""Numbers, dates and units mean the same however they are written, for answers and conflicts alike."""

import re
import time
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.query.answering.quantities import is_stated, quantities
from rag_pipeline.query.calendar_dates import DATES, date_parts
from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.values import find_values
from rag_pipeline.query.numbers import CHINESE_NUMBER, ENGLISH_NUMBER, NUMBER, holds_number, parse_number
from rag_pipeline.query.units import unit_of, units_named

_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
]  # fmt: skip
_TRADITIONAL = str.maketrans("万亿两", "萬億兩")
# Every part of the number has a chance to be 0, small or full.
_NUMBERS = st.integers(0, 999_999_999) | st.builds(
    lambda *parts: sum(part * 1_000**place for place, part in enumerate(parts)),
    *[st.sampled_from([0, 1, 10, 12, 20, 99, 100, 101, 110, 999])] * 3,
)


def numbers_in(text: str) -> list[Decimal]:
    return [parse_number(match[0]) for match in re.finditer(NUMBER, text, re.IGNORECASE)]


def dates_in(text: str) -> list[tuple[int | None, int, int | None]]:
    return [date_parts(match) for way in DATES for match in way.finditer(text)]


def keys_of(text: str) -> list[str]:
    return sorted(quantity.key for quantity in quantities(text))


@given(_NUMBERS, st.sampled_from([" and ", " "]), st.sampled_from(["-", " "]))
@settings(max_examples=80)
def test_english_words_are_the_number(number: int, joint: str, hyphen: str) -> None:
    words = _english(number, joint, hyphen)
    for written in (words, words.upper()):
        assert re.fullmatch(ENGLISH_NUMBER, written, re.IGNORECASE), written
        assert parse_number(written) == number, written


@given(_NUMBERS)
@settings(max_examples=80)
def test_chinese_words_are_the_number(number: int) -> None:
    for written in (_chinese(number), _chinese(number).translate(_TRADITIONAL)):
        assert re.fullmatch(CHINESE_NUMBER, written), written
        assert parse_number(written) == number, written


@given(_NUMBERS, st.integers(0, 99))
@settings(max_examples=80)
def test_grouped_figures_are_the_plain_ones(number: int, hundredths: int) -> None:
    amount = Decimal(number) + Decimal(hundredths) / 100
    for written in (
        f"{amount}",
        f"{amount:,}",
        f"{amount:,}".replace(",", "'"),
        f"{amount:,}".replace(",", "\u00a0"),
    ):
        assert numbers_in(f"It is {written}.") == [amount]


@given(_NUMBERS)
@settings(max_examples=60)
def test_answers_and_conflicts_read_one_number(number: int) -> None:
    ways = [f"{number} items", f"{number:,} items", f"{_english(number)} items", f"{_chinese(number)}个"]
    assert {quantity.key for way in ways for quantity in quantities(way)} == {str(number)}
    days = [f"within {written} days" for written in (f"{number}", f"{number:,}", _english(number))]
    values = [find_values(way, frozenset({ValueKind.DURATION})) for way in (*days, f"{_chinese(number)}天")]
    assert {(value.low, value.high) for (value,) in values} == {(Decimal(86_400 * number),) * 2}


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("一百五", 150), ("一百零五", 105), ("三万五", 35_000), ("两千三", 2_300), ("三万亿", 3 * 10**12),
        ("一亿三万", 100_030_000), ("二〇二四", 2024), ("萬", 10_000), ("3万", 30_000), ("2百万", 2_000_000),
        ("3.5 億", 350_000_000), ("1.5 million", 1_500_000), ("3bn", 3 * 10**9), ("5k", 5_000),
        ("two billion", 2 * 10**9), ("five hundred thousand", 500_000), ("nineteen hundred", 1_900),
        ("a hundred", 100), ("two dozen", 24), ("half a dozen", 6), ("half a million", 500_000),
        ("6,50", Decimal("6.5")), ("1,000", 1_000), ("1,000.5", Decimal("1000.5")), ("３", 3),
    ],
)  # fmt: skip
def test_other_ways_to_write_a_number(written: str, number: int | Decimal) -> None:
    assert numbers_in(f"x {written} x") == [number]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("two and three", [2, 3]),
        ("one hundred and two hundred", [100, 200]),
        ("two thousand and three thousand", [2_000, 3_000]),
        ("one-three people", [1, 3]),
        ("tenths, hundreds and a thousandth", []),
    ],
)
def test_neighbours_are_not_added_up(text: str, numbers: list[int]) -> None:
    assert numbers_in(text) == numbers


def test_a_comma_is_a_decimal_one_only_where_a_unit_shows_that_it_is_one_number() -> None:
    assert keys_of("6,50 EUR") == keys_of("€6,50") == ["6.5"]
    assert keys_of("{3,4}") == ["3", "4"]
    assert keys_of("3,4 %") == ["3.4"]
    assert keys_of("1,2,3 days") == ["1", "2", "3"]


@given(st.dates(date(1500, 1, 1), date(2199, 12, 31)))
@settings(max_examples=80)
def test_a_date_is_the_same_in_every_notation(day: date) -> None:
    name = _MONTHS[day.month - 1]
    digits = "".join("〇一二三四五六七八九"[int(digit)] for digit in f"{day.year}")
    ordinal = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    ways = [
        f"{day:%Y-%m-%d}", f"{day:%Y/%m/%d}", f"{day.year}.{day.month}.{day.day}",
        f"{day.day} {name} {day.year}", f"{day.day}{ordinal} of {name}, {day.year}",
        f"{name} {day.day}, {day.year}", f"{name[:3].upper()}. {day.day}{ordinal} {day.year}",
        f"{day.year}年{day.month}月{day.day}日", f"{day.year} 年 {day.month:02} 月 {day.day:02} 號",
        f"{digits}年{_chinese(day.month)}月{_chinese(day.day)}日",
    ]  # fmt: skip
    for way in ways:
        assert (day.year, day.month, day.day) in dates_in(f"Since {way}, 自{way}起"), way
        assert keys_of(f"Since {way}: 自{way}起。") == [f"date:{day.isoformat()}"] * 2, way
        values = find_values(f"It holds since {way}.", frozenset({ValueKind.DATE}))
        assert [value.parts for value in values] == [(day.year, day.month, day.day)], way


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("March 2024", (2024, 3, None)), ("March of 2024", (2024, 3, None)), ("2024年3月", (2024, 3, None)),
        ("二〇二四年三月", (2024, 3, None)), ("1 March", (None, 3, 1)), ("Sept. 1st", (None, 9, 1)),
        ("3月1号", (None, 3, 1)), ("十二月三十一日", (None, 12, 31)),
    ],
)  # fmt: skip
def test_a_date_may_lack_its_year_or_day(text: str, parts: tuple[int | None, ...]) -> None:
    assert dates_in(text) == [parts]


@pytest.mark.parametrize(
    "text",
    [
        "2024-13-01",
        "March 32",
        "12 moons",
        "三个月",
        "version 2024.3.1",
        "10.20.30.40",
        "2024.1.2.3",
        "May I?",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert not dates_in(text)


def test_an_interval_is_two_dates_and_an_address_none_of_a_conflict() -> None:
    dates = frozenset({ValueKind.DATE})
    assert [value.parts for value in find_values("2024-03-01/2024-04-01", dates)] == [
        (2024, 3, 1),
        (2024, 4, 1),
    ]
    assert not find_values("https://example.com/2024/03/01/news?since=2024-03-01", dates)


def test_a_dated_version_is_one_with_and_without_the_word() -> None:
    (named,), (bare,) = quantities("version 2024.3.1"), quantities("2024.3.1")
    assert is_stated(named, [bare], "2024.3.1")
    assert is_stated(bare, [named], "version 2024.3.1")


def test_units_have_one_name() -> None:
    assert unit_of("RMB") == unit_of("元") == unit_of("块钱") == unit_of("¥") == "CNY"
    assert unit_of("working  days") == unit_of("个工作日") == "business day"
    assert unit_of("mınuteſ") == unit_of("mİnutes") == unit_of("分钟") == "minute"
    assert units_named("Fees in EUR, 一个工作小时, one piece 一块") == {"EUR", "business hour"}


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("within 5 mİnutes", "within 5 minutes"),
        ("within 5 mınuteſ", "within 5 minutes"),
        ("within fİve days", "within five days"),
        ("within ſix days", "within six days"),
        ("costs 5 mİllİon EUR", "costs 5 million EUR"),
        ("costs 5\u212a EUR", "costs 5k EUR"),
        ("from 1 Aprİl 2026", "from 1 April 2026"),
    ],
)
def test_letters_that_patterns_take_for_others_are_read_as_those(text: str, usual: str) -> None:
    assert keys_of(text) == keys_of(usual)
    one, other = (
        [(value.kind, value.low, value.unit, value.parts) for value in find_values(each)]
        for each in (text, usual)
    )
    assert one == other != []


# The long s, the dotless and the dotted i and the Kelvin sign are letters to a pattern that ignores case.
_PIECES = st.integers(0, 9_999).map(str) | st.sampled_from([
    "ſix", "mıllıon", "thouſand", "\u212a", "mınutes", "ſept", "a thırd of", "mİnutes", "mİllİon", "fİve",
    "sİx", "trİllİon", "\u212a EUR", "bıllion", "aprİl", "per mİlle", "ﬁve", "hundred", "and", "half a", "-",
    " ", ",", ".", "'", "\u00a0", "\u3000", "/", "€", "%", "千", "万", "亿", "五", "〇", "年", "月", "日",
    "个", "days", "m", "v",
])  # fmt: skip


_NUMBER_WORDS = [*_ONES, *_TENS[2:], "dozen", "hundred", "thousand", "million", "billion", "trillion",
                 *"零〇一二三四五六七八九两兩十百千万萬亿億", "\u0663", "\uff13"]  # fmt: skip


@pytest.mark.parametrize("word", _NUMBER_WORDS)
def test_every_word_of_a_number_is_seen_to_be_one(word: str) -> None:
    for written in (
        word,
        word.upper(),
        word.replace("s", "ſ"),
        word.replace("i", "İ"),
        word.replace("i", "ı"),
    ):
        for text in (written, f"a {written}", f"half a {written}", f"so ({written})-fold"):
            assert holds_number(text), text


@given(st.lists(st.sampled_from(_NUMBER_WORDS) | _PIECES.filter(str.isalpha), max_size=8).map(" ".join))
def test_a_text_that_is_said_to_hold_no_number_holds_none(text: str) -> None:
    if re.search(NUMBER, text, re.IGNORECASE) or any(way.search(text) for way in DATES):
        assert holds_number(text)


def test_most_sentences_hold_no_number() -> None:
    assert not holds_number(
        "The weight of a parcel is not limited; someone tends to it at once, often within hours."
    )


@given(st.lists(_PIECES, max_size=12).map("".join))
@settings(max_examples=100)
def test_whatever_looks_like_a_number_can_be_read(text: str) -> None:
    numbers_in(text)
    quantities(text)
    find_values(text)


@pytest.mark.parametrize(
    "piece",
    ["9", "1,000,", "6,50,", "1,0000,", "twenty hundred and ", "a hundred ", "half a ", "two" + " " * 60,
     "亿", "〇", "一千零", "3万", "2024-1-1/", "2024.1.1.", "1 of March ", "March of 2024 ", "v1.", "1-",
     "€ 1", "5 m "],
)  # fmt: skip
def test_reading_takes_time_linear_in_the_text(piece: str) -> None:
    def seconds(length: int) -> float:
        times = []
        for attempt in range(3):
            # What was read is remembered: every attempt has a text of its own.
            text = f"{' ' * attempt}{piece * (length // len(piece))}"
            started = time.process_time()
            quantities(text)
            find_values(text)
            times.append(time.process_time() - started)
        return min(times)

    # Ten times the text in about ten times the time; quadratic would be a hundred times.
    assert seconds(10_000) <= 40 * max(seconds(1_000), 0.005)


def _english(number: int, joint: str = " and ", hyphen: str = "-") -> str:
    """As it is read aloud: 1,000,105 is one million one hundred and five."""
    for scale, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= scale:
            high, rest = divmod(number, scale)
            before_rest = joint if rest < 100 else " "
            return f"{_english(high, joint, hyphen)} {name}" + (
                before_rest + _english(rest, joint, hyphen) if rest else ""
            )
    if number < 20:
        return _ONES[number]
    return _TENS[number // 10] + (hyphen + _ONES[number % 10] if number % 10 else "")


def _chinese(number: int) -> str:
    """As it is read aloud: 10,500 is 一万零五百."""
    for scale, name in ((100_000_000, "亿"), (10_000, "万")):
        if number >= scale:
            high, low = divmod(number, scale)
            return (
                _chinese(high) + name + (("零" if low < scale // 10 else "") + _chinese(low) if low else "")
            )
    written = ""
    for scale, name in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        if digit:
            written += "零一二三四五六七八九"[digit] + name
        elif written and number % scale and not written.endswith("零"):
            written += "零"
    return written.removeprefix("一") if 10 <= number < 20 else written or "零"
