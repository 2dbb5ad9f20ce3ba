"""How an evaluation is told: the page, Dagster's summary, the console; whatever other people's texts hold."""

import base64
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from rag_pipeline.evaluation.report.html import html_report
from rag_pipeline.evaluation.report.markdown import category_plot, markdown_summary
from rag_pipeline.evaluation.result import Evaluation
from rag_pipeline.evaluation_views import show_evaluation
from rag_pipeline_tests import evaluation_samples as samples
from rag_pipeline_tests.dagster_ui import BrowserUnavailable, chromium, find_browser

PROBLEMS = ("SEVERE", "WARNING")


class Elements(HTMLParser):
    """Every tag of a page with its attributes, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    try:
        browser = find_browser()
    except BrowserUnavailable as error:
        pytest.skip(str(error))
    with chromium(browser, tmp_path_factory.mktemp("profile"), log=True) as opened:
        yield opened


def opened(driver: webdriver.Chrome, folder: Path, evaluation: Evaluation, fragment: str = "") -> None:
    file = folder / "report.html"
    file.write_text(html_report(evaluation), encoding="utf-8")
    driver.get("about:blank")
    driver.get(file.as_uri() + fragment)


def console_problems(driver: webdriver.Chrome) -> list[str]:
    return [one["message"] for one in driver.get_log("browser") if one["level"] in PROBLEMS]


def visible_cases(driver: webdriver.Chrome) -> list[str]:
    script = "return [...document.querySelectorAll('.case')].filter(c => !c.hidden).map(c => c.id)"
    found: list[str] = driver.execute_script(script)
    return found


def text_of(driver: webdriver.Chrome, css: str) -> str:
    text: str = driver.find_element(By.CSS_SELECTOR, css).text
    return text


def choose(driver: webdriver.Chrome, name: str, shown: str) -> None:
    """By the keyboard: a list jumps to what is typed."""
    driver.find_element(By.CSS_SELECTOR, f"select[name={name}]").send_keys(shown)


def trace_data(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="traces">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_page_says_whether_it_passed_and_which_gate_names_which_case() -> None:
    page = html_report(samples.failing())
    assert "Failed: 1 of 3 gates is broken." in page
    assert "Passed: the one gate holds." in html_report(samples.good())
    links = [one["href"] for one in Elements(page).named("a")]
    ids = {attributes.get("id") for _, attributes in Elements(page).found}
    assert "#case=sample/salaries" in links
    # Every link within the page leads somewhere, or is a filter that the script reads.
    assert {one[1:] for one in links if one and one.startswith("#case=")} <= ids
    assert "sample/gone" in page
    assert "#case=sample/gone" not in links


def test_cases_that_went_wrong_come_first() -> None:
    ids = [one["id"] for one in Elements(html_report(samples.failing())).named("details") if "id" in one]
    assert ids == [f"case=sample/{one}" for one in ("broker", "nordic", "salaries", "returns", "which-rule")]


def test_no_text_becomes_markup_and_nothing_is_loaded_or_linked_but_the_web() -> None:
    page = Elements(html_report(samples.hostile()))
    plain = Elements(html_report(samples.evaluation([samples.case("one")])))
    assert {tag for tag, _ in page.found} - {tag for tag, _ in plain.found} <= {
        "h3",
        "h4",
        "p",
        "ul",
        "li",
        "b",
    }
    assert len(page.named("script")) == 2
    for _, attributes in page.found:
        assert not [
            name for name in attributes if name.startswith("on") or name in ("src", "srcdoc", "style")
        ]
        link = attributes.get("href") or "#"
        assert link.startswith(("#", "https://", "http://"))


def test_a_passage_that_many_cases_found_is_in_the_page_once() -> None:
    text = "Hardware goes back within 30 days of the day on which it was delivered."
    cases = [samples.case(f"case-{number}", trace=samples.trace(text)) for number in range(20)]
    page = html_report(samples.evaluation(cases))
    assert page.count(text) == 1
    evidence = [one["trace"]["evidence"][0] for one in trace_data(page)["cases"]]
    assert {trace_data(page)["chunks"][one[1]][2] for one in evidence} == {text}


def test_numbers_that_are_not_finite_leave_the_page_readable() -> None:
    broken = samples.trace("Text.")
    evidence = broken.evidence[0].model_copy(update={"relevance": float("nan"), "score": float("inf")})
    case = samples.case("one", trace=broken.model_copy(update={"evidence": [evidence]}))
    assert trace_data(html_report(samples.evaluation([case])))["cases"][0]["trace"]["evidence"][0][2:4] == [
        None, None,
    ]  # fmt: skip


def test_an_evaluation_without_gates_or_finished_cases_is_told() -> None:
    page = html_report(samples.evaluation([samples.errored("one")], gates=()))
    assert "No gate was asked. 0 of 1 cases passed." in page


def test_the_browser_filters_cases_and_keeps_the_filter_in_the_address(
    driver: webdriver.Chrome, tmp_path: Path
) -> None:
    opened(driver, tmp_path, samples.failing())
    assert text_of(driver, ".shown output") == "5 cases"
    choose(driver, "category", "conflict")
    assert visible_cases(driver) == ["case=sample/nordic", "case=sample/which-rule"]
    assert text_of(driver, ".shown output") == "2 of 5 cases"
    choose(driver, "source", "nordic")
    assert visible_cases(driver) == ["case=sample/nordic"]
    address = driver.current_url
    driver.find_element(By.CSS_SELECTOR, "button[name=reset]").click()
    assert len(visible_cases(driver)) == 5
    driver.get("about:blank")
    driver.get(address)
    assert visible_cases(driver) == ["case=sample/nordic"]
    driver.find_element(By.CSS_SELECTOR, "button[name=reset]").click()
    choose(driver, "result", "errored")
    assert visible_cases(driver) == ["case=sample/broker"]
    driver.find_element(By.CSS_SELECTOR, "button[name=reset]").click()
    driver.find_element(By.NAME, "q").send_keys("SALARIES not see")
    assert visible_cases(driver) == ["case=sample/salaries"]
    driver.find_element(By.NAME, "q").send_keys("nowhere")
    assert text_of(driver, ".nothing") == "No case matches these filters."
    assert console_problems(driver) == []


def test_a_case_unfolds_by_keyboard_to_its_evidence_conflict_rejections_and_steps(
    driver: webdriver.Chrome, tmp_path: Path
) -> None:
    opened(driver, tmp_path, samples.failing())
    case = driver.find_element(By.ID, "case=sample/which-rule")
    assert "Within 60 days!" not in case.text
    case.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    wait = WebDriverWait(driver, 10)
    wait.until(lambda _: "Evidence, best first" in case.text)
    first, second = case.find_elements(By.CSS_SELECTOR, ".ranked > li")
    assert "Within 30 days." in first.text
    assert "relevance 0.800, score 1.050 = 0.80 relevance +0.25 trust" in first.text
    assert "not cited" in second.text
    assert "Within 60 days!" not in second.text
    second.find_element(By.TAG_NAME, "summary").click()
    assert "Within 60 days!" in second.text
    assert "duration: S1 is followed, by trust tier (prefer)" in case.text
    for fold in case.find_elements(By.CSS_SELECTOR, ".trace > .fold > summary"):
        fold.click()
    for told in (
        "below the threshold",
        "macros/old.md:abcdefabcdef:2",
        "returns of hardware",
        "21.5",
        "hit@5",
    ):
        assert told in case.text
    assert console_problems(driver) == []


def test_a_gates_link_unfolds_its_case_though_a_filter_hid_it(
    driver: webdriver.Chrome, tmp_path: Path
) -> None:
    opened(driver, tmp_path, samples.failing(), "#category=conflict")
    assert "case=sample/salaries" not in visible_cases(driver)
    driver.find_element(By.CSS_SELECTOR, ".gates a[href='#case=sample/salaries']").click()
    case = driver.find_element(By.ID, "case=sample/salaries")
    WebDriverWait(driver, 10).until(lambda _: case.get_attribute("open"))
    assert "the answer shows hr/salaries.md" in case.text
    case.find_element(By.CSS_SELECTOR, ".answer .label").click()
    assert driver.execute_script("return document.querySelector(':target').textContent").startswith("S1")
    assert console_problems(driver) == []


def test_hostile_texts_run_nothing_and_are_shown_as_they_are(
    driver: webdriver.Chrome, tmp_path: Path
) -> None:
    opened(driver, tmp_path, samples.hostile())
    driver.find_element(By.CSS_SELECTOR, "button[name=unfold]").click()
    wait = WebDriverWait(driver, 10)
    wait.until(
        lambda d: len(d.find_elements(By.CSS_SELECTOR, ".ranked .passage")) == len(samples.HOSTILE_TEXTS)
    )
    assert driver.execute_script(f"return typeof window.{samples.SENTINEL}") == "undefined"
    passages = [one.get_property("textContent") for one in driver.find_elements(By.CSS_SELECTOR, ".passage")]
    assert passages == list(samples.HOSTILE_TEXTS)
    assert (
        driver.find_elements(By.CSS_SELECTOR, "main img, main iframe, main script, a[href^=javascript]") == []
    )
    # Words without an end widen nothing: the page can be read without scrolling sideways.
    width = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    scrolled, shown = driver.execute_script(width)
    assert scrolled <= shown
    assert console_problems(driver) == []


def test_the_policy_lets_no_other_script_run_and_nothing_load(
    driver: webdriver.Chrome, tmp_path: Path
) -> None:
    opened(driver, tmp_path, samples.good())
    driver.execute_script(
        f"""
        const script = document.createElement("script");
        script.textContent = "window.{samples.SENTINEL} = 7";
        document.body.append(script);
        const picture = document.createElement("img");
        picture.src = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
        document.body.append(picture);
        """
    )
    WebDriverWait(driver, 10).until(
        lambda d: d.execute_script("return document.querySelector('img').complete")
    )
    assert driver.execute_script(f"return typeof window.{samples.SENTINEL}") == "undefined"
    problems = console_problems(driver)
    assert len(problems) == 2
    assert all("Content Security Policy" in one for one in problems)


def test_the_summary_for_dagster_is_tables_that_hostile_texts_do_not_break() -> None:
    told = MarkdownIt("commonmark").enable("table").render(markdown_summary(samples.hostile()))
    names = {tag for tag, _ in Elements(told).found}
    assert names <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert f"window.{samples.SENTINEL}" in told
    summary = markdown_summary(samples.failing())
    assert "| broken | leaks | 1 | 0 |" in summary
    assert "| conflict | 2 | 1 | 1 | 0 | 1 |" in summary
    assert "2 worse (sample/nordic, sample/salaries), 1 better" in summary


def test_the_plot_for_dagster_is_a_picture_of_every_category() -> None:
    found = re.fullmatch(
        r"!\[[^\]]+\]\(data:image/svg\+xml;base64,([\w+/=]+)\)", category_plot(samples.failing())
    )
    assert found
    picture = ElementTree.fromstring(base64.b64decode(found[1]))  # noqa: S314 - made by this test
    shown = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert shown == [
        "answerable", "1 of 1", "conflict", "1 of 2", "outage", "0 of 1", "unauthorized", "0 of 1",
    ]  # fmt: skip


def test_the_console_ends_with_the_verdict_and_names_what_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_evaluation(samples.failing())
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("Failed: 1 of 3 gates is broken.")
    start = lines.index("sample/nordic failed")
    assert lines[start + 1 : start + 3] == [
        "  How long may hardware be returned? (nordic)", "  - refunds/nordic.md is not cited",
    ]  # fmt: skip
    assert "sample/broker errored" in lines
    assert "sample/returns failed" not in lines
    assert "sample/price-update failed" in lines


def test_the_console_shows_no_more_of_hostile_texts_than_fits(capsys: pytest.CaptureFixture[str]) -> None:
    show_evaluation(samples.hostile())
    told = capsys.readouterr().out
    assert "\u202e" not in told
    assert samples.HOSTILE_TEXTS[0] in told
    assert max(map(len, told.splitlines())) < 600
