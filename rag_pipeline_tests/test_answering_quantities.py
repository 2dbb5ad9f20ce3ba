"""The same number is known however it is written, and another one is not taken for it."""

import pytest

from rag_pipeline.query.answering.links import links, without_links
from rag_pipeline.query.answering.quantities import is_stated, quantities


def stated(wanted: str, text: str) -> bool:
    """Whether a text states all the quantities of another."""
    given = quantities(text)
    wanteds = [one for one in quantities(wanted) if not one.vague]
    assert wanteds, wanted
    return all(is_stated(one, given, text) for one in wanteds)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000 users", "1000 users"),
        ("6.50 EUR", "6.5 euros"),
        ("$6.50", "6.50 USD"),
        ("fourteen days", "14 days"),
        ("a 14-day period", "14 days"),
        ("twenty-one", "21"),
        ("two hundred and fifty thousand", "250,000"),
        ("1.5 million", "1,500,000"),
        ("5%", "5 percent"),
        ("百分之五", "5%"),
        ("十四天", "14 天"),
        ("两个工作日", "2个工作日"),
        ("3万元", "30000元"),
        ("一百二十五", "125"),
        ("三百零二", "302"),
        ("January 15, 2024", "2024-01-15"),
        ("15 Jan 2024", "2024年1月15日"),
        ("9 pm", "21:00"),
        ("version 3.10", "v3.10"),
        ("version 3.10", "Python 3.10"),
        ("１４ days", "14 days"),
        ("三次", "3次"),
        ("6,50 EUR", "6.50 EUR"),
        ("$5m", "5 million dollars"),
        ("half a dozen", "6"),
        ("5块", "5元"),
        ("一百五", "150"),
        ("二〇二四年三月一日", "2024-03-01"),
        ("25MB", "25 megabytes"),
        ("5 公斤", "5 kg"),
        ("8 ℃", "8 °C"),
    ],
)
def test_spellings_of_one_quantity_agree(one: str, other: str) -> None:
    assert stated(one, other)
    assert stated(other, one)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("14 days", "14 weeks"),
        ("14 days", "within 140 days or 4 days"),
        ("5 million", "2.5 million"),
        ("2", "2 million"),
        ("5%", "5 days"),
        ("$30", "30 euros"),
        ("version 3.1", "version 3.10"),
        ("1.2.3", "1.2.4"),
        ("P1", "P2"),
        ("9 am", "9 pm"),
        ("January 15, 2024", "January 16, 2024"),
        ("January 15, 2024", "January 2024"),
        ("三十天", "三天"),
        ("两周", "三周"),
        ("two days", "three days"),
        ("one month", "two months"),
        ("-5 degrees", "5 degrees"),
        ("50 EUR", "6,50 EUR"),
        ("$5", "$5m"),
        ("5", "two and three"),
        ("105", "一百五"),
        ("500 CAD", "500 USD"),
        ("8 hours", "8 business hours"),
        ("5 个自然日", "5 个工作日"),
        ("25 GB", "25 MB"),
        ("25GB", "25 MB"),
        ("8 °F", "8 °C"),
        ("5 km", "5 kg"),
        ("5公里", "5公斤"),
    ],
)
def test_another_quantity_is_not_taken_for_it(wanted: str, text: str) -> None:
    assert not stated(wanted, text)


def test_a_less_exact_date_is_stated_by_a_more_exact_one() -> None:
    assert stated("March 2024", "Valid from 2024-03-05.")
    assert stated("March 5", "Valid from 2024-03-05.")
    assert stated("in 2024", "Valid from 2024-03-05.")
    assert stated("3月起", "自2024年3月5日起有效。")
    assert stated("三月起", "Valid from 5 March, for 3 days.")
    assert not stated("3月起", "自2024年5月3日起有效。")
    assert stated("2024年", "Valid from 2024-03-05.")
    assert not stated("2024 EUR", "Valid from 2024-03-05.")
    assert not stated("2024 employees", "Valid from 2024-03-05.")


def test_a_unit_may_stand_in_the_header_of_a_table() -> None:
    assert stated("30 days", "| Plan | Days |\n|---|---|\n| Pro | 30 |")
    assert not stated("30 weeks", "| Plan | Days |\n|---|---|\n| Pro | 30 |")


def test_words_that_merely_look_like_numbers_need_no_support() -> None:
    for text in ("one of them", "一般情况下统一处理", "千万不要", "十分重要"):
        assert all(one.vague for one in quantities(text)), text


def test_links_are_found_in_all_their_forms() -> None:
    text = (
        "See https://x.example/a_(b). [t](http://y.example/p?d=1) ![i](//z.example/i.png) <a href='q.html'> "
        "javascript:alert(1) mail a@b.example, WWW.Foo.com! or freegame.com；详见www.foo.cn。"
    )
    assert links(text) == {
        "x.example/a_(b)", "y.example/p?d=1", "//z.example/i.png", "q.html", "javascript:alert(1)",
        "a@b.example", "www.foo.com", "freegame.com", "www.foo.cn",
    }  # fmt: skip
    for link in ("returns.no", "bit.ly/refunds", "my.shop.museum/x", "evil.zip", "пример.рф", "münchen.de"):
        assert links(f"See {link}.") == links(f"详见{link}。") == {link}
    assert links("help@пример.рф，evil．com") == {"help@пример.рф", "evil.com"}
    assert not links("Set conf/config.yaml, e.g. version 1.2.3, and so on.Then go.")


def test_a_link_is_removed_and_its_words_stay() -> None:
    text = "Use the [portal](https://evil.example/x) or https://docs.example/a (www.evil.com)."
    shorter = without_links(text, frozenset({"evil.example/x", "www.evil.com"}))
    assert shorter == "Use the portal or https://docs.example/a."
    assert without_links(text, frozenset()) == text
