"""Types are told by content, encodings by the bytes; names only help where the content leaves it open."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.detecting import detect, detect_type
from rag_pipeline.normalize.text_kinds import likely_kind, markup_kind


def zipped(*names: str, first: tuple[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if first:
            archive.writestr(*first)
        for name in names:
            archive.writestr(name, "<x/>")
    return buffer.getvalue()


CONTENTS = [
    (b"%PDF-1.7\n", "a.pdf", types.PDF),
    (b"\n\n%PDF-1.4\n", "scan.bin", types.PDF),
    (zipped("[Content_Types].xml", "word/document.xml"), "a.docx", types.DOCX),
    (zipped("[Content_Types].xml", "ppt/presentation.xml"), "a.pptx", types.PPTX),
    (zipped("[Content_Types].xml", "xl/workbook.xml"), "a.xlsx", types.XLSX),
    (zipped("content.xml", first=("mimetype", types.ODT)), "a.odt", types.ODT),
    (zipped("content.opf", first=("mimetype", types.EPUB)), "a.epub", types.EPUB),
    (zipped("readme.txt"), "a.zip", types.ZIP),
    (b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "a.png", "image/png"),
    (b"<!DOCTYPE html><html><body>x</body></html>", "page", types.HTML),
    (b"<html><p>x</p></html>", "a.txt", types.HTML),
    (b'<?xml version="1.0"?><article><front><journal-meta/></front></article>', "a.xml", types.JATS),
    (b'<?xml version="1.0"?><us-patent-grant lang="EN"/>', "a.xml", types.USPTO),
    (b'<?xml version="1.0"?><facts><fact>x</fact></facts>', "a.xml", types.XML),
    (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n", "a.txt", types.WEBVTT),
    (b"\\documentclass{article}\n\\begin{document}x\\end{document}", "a", types.LATEX),
    (b"From: a@example.org\nTo: b@example.org\nSubject: Hi\n\nBody", "mail", types.EML),
    (b"= Title\n:toc:\n\n== Section\n\ntext", "a", types.ASCIIDOC),
    (b"# Title\n\n- one\n- two\n", "a", types.MARKDOWN),
    (b'<p align="center">logo</p>\n\n# Title\n', "README.md", types.MARKDOWN),
    (b"name,days\nEU,14\nUS,30\nUK,14\n", "a", types.CSV),
    (b'{"days": 14}', "a", types.JSON),
    (b"Just a sentence.", "a", types.PLAIN),
    (b"Just a sentence.", "notes.rst", types.PLAIN),
    (b"\x00\x01\x02\x03" * 100, "a.dat", types.BINARY),
    (b"", "a.txt", types.EMPTY),
]


@pytest.mark.parametrize(("data", "name", "expected"), CONTENTS)
def test_the_content_tells_the_type(data: bytes, name: str, expected: str) -> None:
    assert detect(data, name).mime_type == expected
    assert detect_type(data[:8192], name) == expected


def test_a_wrong_extension_is_overruled_and_noted() -> None:
    detected = detect(b"%PDF-1.7\n", "contract.docx")
    assert detected.mime_type == types.PDF
    assert ".docx" in (detected.note or "")
    assert detect(b"%PDF-1.7\n", "contract.PDF").note is None
    assert detect(zipped("readme.txt"), "contract.docx").mime_type == types.ZIP


def test_the_head_tells_the_same_as_the_whole_file(data_root: Path) -> None:
    files = [
        path
        for folder in ("office", "web", "text", "pdf")
        for path in (data_root / "documents" / folder).iterdir()
    ]
    for path in files:
        data = path.read_bytes()
        assert detect_type(data[:8192], path.name) == detect(data, path.name).mime_type, path.name


@pytest.mark.parametrize(
    "unit", ["|", "[", "[a", "[a](", "\n", " \n", "-", "<a ", ":a", "= a\n", "a|b\n", "a,b;"]
)
def test_no_text_takes_long_to_be_told(unit: str) -> None:
    # Listing has no time limit for a document: in quadratic time, this would take hours.
    text = "x" + unit * 500_000
    assert "/" in (markup_kind(text) or likely_kind(text))


@given(
    data=st.binary(max_size=300),
    start=st.sampled_from([b"", b"PK\x03\x04", b"%PDF-", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]),
)
def test_any_bytes_have_a_type(data: bytes, start: bytes) -> None:
    assert "/" in detect(start + data, "file.docx").mime_type
    assert "/" in detect_type(start + data, "file")


def test_the_decision_tells_what_the_name_said() -> None:
    assert detect(b"# Title\n", "a.md").decision == "type: text/markdown, by its content and its name"
    page = detect(b"<!DOCTYPE html><p>x</p>", "a.txt")
    assert page.decision == "type: text/html, by its content; its name says text/plain"
    assert page.note is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "gb18030", "big5", "cp932", "koi8_r"])
def test_markup_is_told_in_any_encoding(encoding: str) -> None:
    page = "<!DOCTYPE html><html><head><title>14</title></head><body>退款</body></html>"
    if encoding == "koi8_r":
        page = page.replace("退款", "Возврат")
    elif encoding in ("big5", "cp932"):
        page = page.replace("款", "金")
    assert detect(page.encode(encoding), "page").mime_type == types.HTML
    assert detect(page.encode(encoding), "page.docx").mime_type == types.HTML


def test_a_character_cut_in_two_at_the_end_of_the_head_changes_nothing() -> None:
    for shift in range(4):
        text = "x" * shift + "退款" * 40_000
        assert detect(text.encode(), "a").mime_type == types.PLAIN
