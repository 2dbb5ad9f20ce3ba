"""Encodings are told from the bytes: marked or not, declared rightly, wrongly or not at all."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.characters.mojibake import misread_places
from rag_pipeline_tests.charset_samples import SAMPLES, encoded

LEGACY = [
    pytest.param(text, encoding, id=f"{language}-{encoding}-{length}")
    for language, sample in SAMPLES.items()
    for encoding in sample.encodings
    for length, text in zip(("words", "sentence", "paragraph"), sample[1:], strict=True)
]
WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-8", "utf-8-sig")
# Western European is what programs declare whatever they write, and close to what these languages look like
# in it: a few words do not show the lie.
ALIKE = {"tr", "sk", "ro", "hr", "sl", "lv", "lt"}


def same(one: str, other: str) -> bool:
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


@pytest.mark.parametrize(("text", "encoding"), LEGACY)
def test_an_undeclared_legacy_encoding_is_told_from_the_text(text: str, encoding: str) -> None:
    decoded = decode(encoded(text, encoding))
    assert same(decoded.text, text), decoded.encoding
    assert decoded.encoding in decoded.decision


@pytest.mark.parametrize(("text", "encoding"), LEGACY)
def test_a_true_declaration_is_believed_without_a_warning(text: str, encoding: str) -> None:
    page = f'<meta charset="{encoding}">{text}'
    decoded = decode(encoded(page, encoding), declared=True)
    assert same(decoded.text, page), decoded.encoding
    assert not decoded.warnings


@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1"])
@pytest.mark.parametrize("language", SAMPLES)
def test_a_wrong_declaration_is_overruled_and_reported(language: str, declared: str) -> None:
    sample = SAMPLES[language]
    for encoding in sample.encodings:
        page = f'<meta charset="{declared}">{sample.paragraph}'
        decoded = decode(encoded(page, encoding), declared=True)
        if declared == "iso-8859-1" and language in ALIKE:
            continue
        assert same(decoded.text, page), decoded.encoding
        western = decoded.encoding == "cp1252" and declared == "iso-8859-1"
        assert western or any("declares" in warning for warning in decoded.warnings)


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("language", SAMPLES)
def test_unicode_is_told_with_and_without_its_mark(language: str, encoding: str) -> None:
    sample = SAMPLES[language]
    for text in (sample.sentence, sample.paragraph):
        decoded = decode(text.encode(encoding))
        assert decoded.text == text, decoded.encoding
        assert not decoded.warnings


def test_utf8_wins_over_a_declaration_that_it_disproves() -> None:
    page = '<meta charset="gb2312"><p>十四天内可退款，naïve café</p>'
    decoded = decode(page.encode(), declared=True)
    assert (decoded.text, decoded.encoding) == (page, "utf-8")
    assert any("declares" in warning for warning in decoded.warnings)


def test_two_chinese_characters_that_happen_to_be_utf8_are_read_as_declared() -> None:
    page = '<meta charset="gbk">茅台'
    assert "茅台".encode("gbk").decode("utf-8")
    assert decode(page.encode("gbk"), declared=True).text == page


def test_a_long_beginning_in_ascii_does_not_hide_the_encoding() -> None:
    text = "A line in plain English.\n" * 4_000 + SAMPLES["zh-Hans"].sentence
    assert decode(text.encode("gb18030")).text == text


def test_a_chinese_word_in_an_english_text_is_read() -> None:
    text = f"The 退款 policy says: {'refunds take some days. ' * 40}"
    assert decode(text.encode("gbk")).text == text


@pytest.mark.parametrize(
    "text", ["€ 14,50 price", "“Refund”", "14 days © 2024", "§ 5 Abs. 2", "• one\n• two", "£20"]
)
def test_signs_alone_are_western(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


def test_japanese_mail_in_escape_sequences_is_read() -> None:
    assert decode("返金について 14日".encode("iso2022_jp")).text == "返金について 14日"


def test_an_uncertain_guess_is_reported_and_a_certain_one_is_not() -> None:
    assert any("guessed" in warning for warning in decode("Čapek".encode("cp1250")).warnings)
    assert not decode(SAMPLES["ru"].paragraph.encode("koi8_r")).warnings


@pytest.mark.parametrize("language", SAMPLES)
def test_utf8_that_was_read_as_western_is_turned_back(language: str) -> None:
    text = SAMPLES[language].paragraph
    data = text.encode()
    undefined = b"\x81\x8d\x8f\x90\x9d"  # in Windows-1252
    broken = data.decode("latin-1" if set(data) & set(undefined) else "cp1252")
    decoded = decode(broken.encode())
    assert decoded.text == text
    assert any("turned back" in warning for warning in decoded.warnings)


def test_text_about_broken_characters_is_left_alone_but_noted() -> None:
    text = "Where é shows as Ã©, and ’ as â€™, the file was read in the wrong encoding. 退款"
    decoded = decode(text.encode())
    assert decoded.text == text
    assert len(misread_places(decoded.text)) == 2


@pytest.mark.parametrize("language", SAMPLES)
def test_ordinary_text_is_never_taken_for_broken(language: str) -> None:
    sample = SAMPLES[language]
    for text in sample[1:]:
        assert decode(text.encode()).text == text
        assert not misread_places(text)


@given(st.text(max_size=200))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    data = text.encode("utf-8")
    if b"\0" not in data and not data.startswith((b"\xff", b"\xfe", b"\xef\xbb\xbf")):
        assert decode(data).text == text or misread_places(text)


@given(st.binary(max_size=200))
def test_decoding_never_fails(data: bytes) -> None:
    assert isinstance(decode(data, declared=True).text, str)
