"""Cleaning removes what no reader sees and changes nothing that one does."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline_tests.charset_samples import SAMPLES

odd_text = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            "a\u0301\u200b\u200c\u200d\u202e\u00ad\u2060\ufeff\r\n\f\v\0\u2029ﬁﬆ가\u1100\U000e0041🏴葛\U000e0100"
        ),
    ),
    max_size=60,
)


@given(odd_text)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    cleaned = clean(text).text
    assert clean(cleaned).text == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not set(cleaned) & set("\r\0\f\v\u200b\u202e\ufeff\u00adﬁ")


@pytest.mark.parametrize("language", SAMPLES)
def test_ordinary_text_stays_as_it_is(language: str) -> None:
    for text in SAMPLES[language][1:]:
        text = unicodedata.normalize("NFC", text)
        assert clean(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "m² and x₁, ①, ½, №, ㈱, １４天，ＡＢＣ",  # other characters would mean, or show, something else
        "می\u200cخواهم",  # a joiner that shapes Persian
        "क्\u200dष",
        "family 👩\u200d💻 👍🏽",
        "the flag of Wales 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
        "葛\U000e0100城",  # a variant of an ideograph
        "שָׁלוֹם",  # points
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n    code\n\tcode",
        "hard  break  \nnext\n\n\n\nfar below",  # Markdown means something by it
    ],
)
def test_what_a_reader_sees_is_kept(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    assert clean(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("re\u200bfund\u00ad pol\u2060icy", "refund policy"),
        ("re\u200dfund pol\u200cicy", "refund policy"),
        ("\ufeffone\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("one\ftwo\u2029three", "one\n\ntwo\n\nthree"),
        ("eﬃcient oﬀice ﬁle ﬂow", "efficient office file flow"),
        (
            unicodedata.normalize("NFD", "Ängström Tiếng 한국어"),
            unicodedata.normalize("NFC", "Ängström Tiếng 한국어"),
        ),
    ],
)
def test_what_no_reader_sees_goes_without_a_word(text: str, cleaned: str) -> None:
    assert clean(text) == (cleaned, ())


@pytest.mark.parametrize(
    ("text", "cleaned", "warning"),
    [
        ("a\0b\x1b[31mc", "ab[31mc", "control characters"),
        ("Refund \u202egnihtemos\u202c", "Refund gnihtemos", "direction override"),
        ("ask\U000e0069\U000e0067\U000e006e", "ask", "hidden text"),
        ("ask\U000e0101\U000e0102", "ask", "hidden text"),
        ("Z\u0335\u0336\u0337\u0338\u0321\u0322\u0327 text", None, "heaps of combining marks"),
    ],
)
def test_what_may_deceive_is_reported(text: str, cleaned: str | None, warning: str) -> None:
    result = clean(text)
    assert cleaned is None or result.text == cleaned
    assert any(warning in one for one in result.warnings)


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\U0001d165\U00011046", "\u05b0\u0591"])
def test_endless_marks_on_one_letter_take_no_endless_time(marks: str) -> None:
    # Composing them takes time that grows with the square: this would be hours.
    assert len(clean("a" + marks * 400_000).text) < 100
