"""Small documents of every type, and ways to break them."""

import io
import zipfile
from functools import cache

from hypothesis import strategies as st

from rag_pipeline_tests.pdf_files import pdf_file, ruled_table, text_at

TEXTS: dict[str, bytes] = {
    "a.md": b"""---
title: Refunds
---
# Refunds

- one
  - two

> quote

| a | b |
|---|---|
| 1 | 2 |

```py
x = 1
```

::: tip
{{ x }} {% y %}
:::

<div>html</div>

[a]: http://example.org
""",
    "a.mdx": b"""import X from 'x'

# Title

<Tabs>
<TabItem value="a">text</TabItem>
</Tabs>
""",
    "a.html": b"""<!DOCTYPE html><html><head><title>T</title><meta charset='utf-8'></head><body>
<nav>menu</nav><h1>H</h1><p style='display:none'>no</p><ul><li>a<ul><li>b</li></ul></li></ul>
<table><tr><td rowspan=2>1</td><td>2</td></tr><tr><td>3</td></tr></table>
<pre>code</pre><a href='x'>link</a><img alt='i' src='http://x/y'></body></html>
""",
    "a.xml": b"""<?xml version="1.0" encoding="utf-8"?><!DOCTYPE a SYSTEM "a.dtd">
<a><b c="d">text</b>tail<![CDATA[x]]></a>""",
    "jats.xml": b"""<?xml version="1.0"?><article><front><article-meta><title-group>
<article-title>T</article-title></title-group></article-meta></front>
<body><sec><title>S</title><p>text</p></sec></body></article>""",
    "a.json": b'{"a": [1, 2, {"b": "text"}], "c": null}',
    "a.csv": b'name;days\n"EU; west";14\nUS;30\n',
    "a.eml": b"""From: a@example.org
To: b@example.org
Subject: =?utf-8?q?R=C3=A9?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain; charset=utf-8

hello
> quoted
--\x20
signature
--b
Content-Type: text/html

<p>hi</p>
--b--
""",
    "a.adoc": b"= Title\n:toc:\n\n== Section\n\n* item\n\n|===\n|a |b\n|===\n\n----\ncode\n----\n",
    "a.tex": b"""\\documentclass{article}
\\begin{document}
\\section{S}
Text $x^2$ \\textbf{b}
\\begin{itemize}\\item a\\end{itemize}
\\end{document}
""",
    "a.vtt": b"""WEBVTT

1
00:00:01.000 --> 00:00:02.000
<v Ann>Hello

00:03.000 --> 00:04.000
there
""",
    "a.txt": "Plain text. 退款 für alle. Возврат.\n\nSecond paragraph.\n".encode(),
    "b.txt": "客户可在购买后十四天内申请退款。".encode("gb18030"),
    "c.txt": "Refund 退款".encode("utf-16"),
}


@cache
def packages() -> dict[str, bytes]:
    """Office files and an e-book."""
    import docx
    import openpyxl
    import pptx

    word = docx.Document()
    word.add_heading("Heading", 1)
    word.add_paragraph("A paragraph", style="List Bullet")
    table = word.add_table(2, 2)
    table.cell(0, 0).text = "cell"
    word.sections[0].header.paragraphs[0].text = "header"
    book = openpyxl.Workbook()
    book.active.append(["a", 1.5, "=A1"])
    book.active.merge_cells("A2:B3")
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Title"
    slide.notes_slide.notes_text_frame.text = "notes"
    files = {}
    for name, document in (("a.docx", word), ("a.xlsx", book), ("a.pptx", show)):
        buffer = io.BytesIO()
        document.save(buffer)
        files[name] = buffer.getvalue()
    return files | {"a.epub": _book()}


def pdfs() -> dict[str, bytes]:
    """PDFs with text and with a table."""
    lines = "".join(text_at(72, 700 - 14 * n, f"Line {n} of the text") for n in range(8))
    return {
        "a.pdf": pdf_file([lines, text_at(72, 700, "Second page", size=18)]),
        "table.pdf": pdf_file([ruled_table([["a", "b"], ["1", "2"]])]),
    }


def _book() -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
        'full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest><item id="a" '
        'href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine>'
        "</package>"
    )
    chapter = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>A</h1><p>b</p></body></html>"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("c.opf", package)
        archive.writestr("a.xhtml", chapter)
    return buffer.getvalue()


@st.composite
def broken(draw: st.DrawFn, data: bytes, *, others: tuple[bytes, ...] = ()) -> bytes:
    """The data with bytes flipped, parts cut out, repeated, or taken from other data."""
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        to = min(len(data), at + draw(st.sampled_from([1, 2, 4, 16, 100])))
        match draw(st.sampled_from(["flip", "cut", "truncate", "repeat", "insert", "splice"])):
            case "flip":
                data = (
                    data[:at]
                    + bytes(byte ^ draw(st.integers(1, 255)) for byte in data[at:to][:4])
                    + data[to:]
                )
            case "cut":
                data = data[:at] + data[to:]
            case "truncate":
                data = data[:at]
            case "repeat":
                data = data[:at] + data[at:to] * draw(st.sampled_from([2, 50, 1000])) + data[to:]
            case "insert":
                data = data[:at] + draw(st.binary(max_size=20)) + data[at:]
            case _:
                other = draw(st.sampled_from([data, *others]))
                data = data[:at] + other[draw(st.integers(0, max(len(other) - 1, 0))) :]
    return data


@st.composite
def broken_file(draw: st.DrawFn, files: dict[str, bytes]) -> tuple[str, bytes]:
    """One of the files, broken; its name may be another one's."""
    name = draw(st.sampled_from(sorted(files)))
    data = draw(broken(files[name], others=tuple(files.values())))
    return draw(st.sampled_from([name, name, name, *sorted(files)])), data


@st.composite
def broken_package(draw: st.DrawFn, files: dict[str, bytes]) -> tuple[str, bytes]:
    """One of the packages with one of its parts broken, as no checksum tells."""
    name = draw(st.sampled_from(sorted(files)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(files[name])) as archive, zipfile.ZipFile(buffer, "w") as copy:
        parts = [part for part in archive.namelist() if part.endswith((".xml", ".rels", ".opf", ".xhtml"))]
        chosen = draw(st.sampled_from(parts))
        for part in archive.namelist():
            content = archive.read(part)
            copy.writestr(part, draw(broken(content)) if part == chosen else content)
    return name, buffer.getvalue()
