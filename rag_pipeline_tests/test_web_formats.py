"""Web pages, books, AsciiDoc, LaTeX, subtitles and articles are read as their readers see them."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.document import BlockKind
from rag_pipeline_tests.reading import blocks_of, read_document, removed_texts

SITE = """<!doctype html><html><head><title>Refunds | Shop</title></head><body>
<a class="skip-link" href="#content">Skip to content</a>
<header class="site-header"><a href="/">Shop</a>
<nav><a href="/a">Home</a> <a href="/b">Prices</a></nav></header>
<div id="cookie-banner">We use cookies to improve your visit. <button>Accept all</button></div>
<div class="help">Press ? for help</div>
<main id="content"><p>Valid from March.</p>
<article><header><h1>Refund policy</h1><p>By the legal department</p></header>
<p>Goods may be returned within 14 days.</p>
<div class="ad-slot">Buy our new toaster</div>
<ul class="menu"><li>Soup of the day, made from whatever the market had this morning</li></ul>
<footer>Approved by the board.</footer></article></main>
<aside class="related-posts"><a href="/x">Ten toasters</a> <a href="/y">Five kettles</a></aside>
<footer>© Shop <a href="/imprint">Imprint</a></footer>
</body></html>"""


def test_the_page_is_kept_and_its_sites_furniture_is_reported() -> None:
    document = read_document(SITE, "a.html")
    for kept in (
        "Valid from March.",
        "By the legal department",
        "within 14 days",
        "Soup of the day",
        "the board",
    ):
        assert kept in document.markdown
    for gone in ("Skip to", "Prices", "cookies", "Accept", "toaster", "kettles", "Imprint", "Press"):
        assert gone not in document.markdown
    assert document.title == "Refund policy"
    assert removed_texts(document, "cookie notice") == ["We use cookies to improve your visit. Accept all"]
    assert removed_texts(document, "advertisement") == ["Buy our new toaster"]
    assert removed_texts(document, "page footer") == ["© Shop Imprint"]


def test_text_before_the_first_heading_is_kept() -> None:
    page = "<body><p>First words.</p><header><h1>Title</h1><p>Lead.</p></header><p>Text.</p></body>"
    assert read_document(page, "a.html").markdown == "First words.\n\n# Title\n\nLead.\n\nText."


def test_a_page_that_is_all_links_keeps_them() -> None:
    document = read_document("<body><nav><a href='a'>Terms</a> <a href='b'>Prices</a></nav></body>", "a.html")
    assert "[Terms](a)" in document.markdown
    assert "[Prices](b)" in document.markdown


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>SECRET</p>",
        "<p style='display: none'>SECRET</p>",
        "<div style='visibility:hidden'><p>SECRET</p></div>",
        "<p style='font-size:0'>SECRET</p>",
        "<p style='font-size:1px'>SECRET</p>",
        "<p style='color:#fff'>SECRET</p>",
        "<p style='color: white; background-color: #fefefe'>SECRET</p>",
        "<div style='background:navy'><span style='color:#000080'>SECRET</span></div>",
        "<p style='position:absolute; left:-9999px'>SECRET</p>",
        "<p style='max-height:0;overflow:hidden'>SECRET</p>",
        "<p style='opacity:0'>SECRET</p>",
        "<p aria-hidden='true'>SECRET</p>",
        "<dialog>SECRET</dialog>",
        "<style>.note{display:none}</style><p class='note'>SECRET</p>",
    ],
)
def test_hidden_text_is_left_out_with_a_warning(hidden: str) -> None:
    document = read_document(f"<body><h1>Policy</h1><p>Seen.</p>{hidden}<p>Also seen.</p></body>", "a.html")
    assert "SECRET" not in document.markdown
    assert "Also seen." in document.markdown
    assert removed_texts(document, "hidden") == ["SECRET"]
    assert any("hidden" in warning for warning in document.warnings)


@pytest.mark.parametrize(
    "shown",
    [
        "<div style='font-size:0'><p style='font-size:14px'>SHOWN</p></div>",
        "<div style='visibility:hidden'><p style='visibility:visible'>SHOWN</p></div>",
        "<div style='background:#222'><p style='color:#fff'>SHOWN</p></div>",
        "<table bgcolor='#222222'><tr><th style='color:#fff'>SHOWN</th></tr></table>",
        "<style>.tab{display:none} .tab.on{display:block}</style><p class='tab'>SHOWN</p>",
        "<style>@media print{.x{display:none}}</style><p class='x'>SHOWN</p>",
        "<link rel='stylesheet' href='a.css'><p class='hero' style='color:#fff'>SHOWN</p>",
        "<h2 style='background:url(a.png);color:transparent'>SHOWN</h2>",
    ],
)
def test_what_only_looks_hidden_is_kept(shown: str) -> None:
    assert "SHOWN" in read_document(f"<body><p>Text.</p>{shown}</body>", "a.html").markdown


def test_a_pages_blocks_become_markdown() -> None:
    page = (
        "<body><h1 id=g><a href='#g'>Guide <em>one</em></a> <a href='#g'>§</a></h1>"
        "<p>See <a href='terms.html?a=1&amp;b=2'>the terms</a>, <a href='javascript:go()'>go</a>,"
        " H<sub>2</sub>O, 5 m<sup>2</sup>, un<b>believ</b>able, <b> bold </b>text and <code>a`b</code>.</p>"
        "<dl><dt>Term</dt><dd>First.</dd><dd>Second.</dd></dl>"
        "<details><summary>More</summary><p>Inside.</p></details>"
        "<figure><img src='a.png' alt='A chart'><figcaption>Figure 1: Growth</figcaption></figure>"
        "<div class='highlight-python'><pre><span>def</span> f():\n    return 1\n</pre></div>"
        "<ol start='3'><li>three<ul><li>inner</li></ul></li><li value='7'>seven</li></ol>"
        "<ol type='a'><li>alpha</li></ol>"
        "<blockquote><p>Quoted.</p></blockquote>Loose<br>lines<br><br>and more<p># 1 seller</p></body>"
    )
    document = read_document(page, "a.html")
    assert document.title == "Guide one"
    assert blocks_of(document, BlockKind.HEADING) == ["# Guide *one*"]
    text = "See [the terms](terms.html?a=1&b=2), go, H₂O, 5 m², unbelievable, **bold** text and `` a`b ``."
    assert text in blocks_of(document, BlockKind.PARAGRAPH)
    assert blocks_of(document, BlockKind.LIST_ITEM) == [
        "- **Term**: First.\n\n  Second.", "3. three", "   - inner", "7. seven", "a. alpha",
    ]  # fmt: skip
    assert blocks_of(document, BlockKind.CODE) == ["```python\ndef f():\n    return 1\n```"]
    assert blocks_of(document, BlockKind.QUOTE) == ["> Quoted."]
    assert blocks_of(document, BlockKind.PARAGRAPH)[1:] == [
        "**More**", "Inside.", "![A chart]()", "Figure 1: Growth", "Loose  \nlines", "and more",
        "\\# 1 seller",
    ]  # fmt: skip


def test_cells_that_span_are_repeated_and_layout_is_no_table() -> None:
    page = (
        "<body><table><caption>Days</caption><tr><th rowspan=2>Region</th><th colspan=2>Days</th></tr>"
        "<tr><th>least</th><th>most</th></tr>"
        "<tr><td>EU</td><td><ul><li>14</li><li>15</li></ul></td><td>30 | 40</td></tr></table>"
        "<table><tr><td><h2>Left</h2></td><td>Right"
        "<table><tr><th>a</th></tr><tr><td>b</td></tr></table></td></tr></table></body>"
    )
    document = read_document(page, "a.html")
    assert blocks_of(document, BlockKind.TABLE) == [
        "| Region | Days | Days |\n| - | - | - |\n| Region | least | most |\n| EU | - 14 - 15 | 30 \\| 40 |",
        "| a |\n| - |\n| b |",
    ]
    assert "## Left" in blocks_of(document, BlockKind.HEADING)


def test_deep_nesting_and_absurd_spans_are_survived() -> None:
    deep = "<div class=menu><p>a" * 1500 + "innermost" + "</p></div>" * 1500
    assert "innermost" in read_document(f"<body>{deep}</body>", "a.html").markdown
    assert "nested too deeply" in str(read_document(f"<body>top{'<i>' * 5000}x", "a.html").warnings)
    rows = f"<tr>{'<td colspan=1000 rowspan=65000>x</td>' * 50}</tr>" * 50
    assert "| x |" in read_document(f"<body><table><tr><th>a</th></tr>{rows}</table>", "a.html").markdown
    assert "word word" in read_document("<body>" + "<span>word </span>" * 20_000, "a.html").markdown


@pytest.mark.parametrize("lead", ["w100", "<b>w100</b>", "<p>w100</p>", "<pre>w100</pre>"])
@pytest.mark.parametrize("kinds", [("ul", "ul"), ("ul", "ol"), ("ol", "dir")])
def test_text_at_the_head_of_a_list_right_inside_of_a_list_is_kept(kinds: tuple[str, str], lead: str) -> None:
    outer, inner = kinds
    items = f"<li>first</li><{inner}>{lead}<li>last</li></{inner}>"
    text = read_document(
        f"<body><p>Enough words to be a page.</p><{outer}>{items}</{outer}>", "a.html"
    ).markdown
    assert text.index("first") < text.index("w100") < text.index("last")


HTML_PARTS = st.sampled_from(
    ["<p>", "</p>", "<div class='nav'>", "</div>", "<ul>", "<li>", "</li>", "</ul>", "<table>", "<tr>",
     "<td>", "<th colspan=2>", "</table>", "<b>", "</b>", "<a href='x'>", "</a>", "<pre>", "</pre>", "<br>",
     "<h2>", "</h2>", "<dl><dt>", "<dd>", "<blockquote>", "</blockquote>", "&amp;", "`", "* ", "<q>", "<sup>",
     "|"]
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.one_of(HTML_PARTS, st.integers(100, 999).map("w{} ".format)), max_size=25))
def test_every_word_of_a_page_is_kept_or_reported(parts: list[str]) -> None:
    document = read_document(
        f"<body><p>Here are enough words to be a page of its own.</p>{''.join(parts)}", "a.html"
    )
    told = document.markdown + " ".join(removed.text for removed in document.removed)
    assert [part for part in parts if part.startswith("w") and part.strip() not in told] == []


def book(chapters: dict[str, str], *, spine: list[str]) -> bytes:
    """An EPUB of chapters by name; the one named `nav` is its table of contents."""
    kinds = {"nav": "nav"}
    items = "".join(
        f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"'
        f' properties="{kinds.get(name, "")}"/>'
        for name in chapters
    )
    references = "".join(f'<itemref idref="{name}"/>' for name in spine)
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Book</dc:title>'
        "<dc:creator>First Author</dc:creator><dc:creator>Second Author</dc:creator></metadata>"
        f"<manifest>{items}</manifest><spine>{references}</spine></package>"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
        )
        archive.writestr("OEBPS/content.opf", package)
        for name, body in chapters.items():
            archive.writestr(
                f"OEBPS/text/{name}.xhtml",
                '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
                f"{body}</html>",
            )
    return data.getvalue()


def test_a_books_chapters_come_in_reading_order_without_its_contents() -> None:
    chapters = {
        "two": "<body><h1>Two</h1><p>Second&nbsp;chapter.</p></body>",
        "nav": "<body><nav><ol><li><a href='one.xhtml'>Chapter list</a></li></ol></nav></body>",
        "one": "<body><section><h1>One</h1><a id='p1'/><p>First chapter.</p><aside>A note.</aside></section>"
        "</body>",
        "unused": "<body><p>Not in the spine.</p></body>",
    }
    document = read_document(book(chapters, spine=["nav", "one", "two"]), "a.epub")
    assert document.markdown == (
        "Title: The Book  \nAuthor: First Author, Second Author\n\n# One\n\nFirst chapter.\n\nA note.\n\n"
        "# Two\n\nSecond chapter."
    )
    assert document.title == "The Book"
    assert "Chapter list" in removed_texts(document, "table of contents")[0]


def test_a_book_without_chapters_or_behind_protection_is_refused_with_a_reason() -> None:
    with pytest.raises(DocumentError, match="names no chapters"):
        read_document(book({"one": "<body/>"}, spine=[]), "a.epub")
    protected = io.BytesIO(book({"one": "<body><p>x</p></body>"}, spine=["one"]))
    with zipfile.ZipFile(protected, "a") as archive:
        archive.writestr("META-INF/rights.xml", "<rights/>")
    with pytest.raises(DocumentError) as failure:
        read_document(protected.getvalue(), "a.epub")
    assert failure.value.category is FailureCategory.ENCRYPTED


ASCIIDOC = """= User Guide
Jane Example <jane@example.org>
:product: Gateway

// not for readers
Welcome to *{product}* and _more_ with `a*b*c` and https://example.org[the site].
See <<install,Installation>>.

[[install]]
== Installation

[WARNING]
====
Do not pull the plug.
====

. First
.. Inner
. Second
+
[source,bash]
----
run --all <1>
----

CPU:: The brain.

.Days by region
[cols="2*"]
|===
| Region | Days

| EU
| 14

2+| all the same
|===

[quote, Somebody]
____
Quoted.
____

* [x] done
* [ ] open

image::diagram.png[A diagram]

include::other.adoc[]
"""


def test_asciidoc_is_read_by_its_own_rules() -> None:
    document = read_document(ASCIIDOC, "a.adoc")
    assert document.title == "User Guide"
    assert (
        "Welcome to **Gateway** and *more* with `a*b*c` and [the site](https://example.org).\n"
        "See [Installation](#install)."
    ) in document.markdown
    assert "WARNING:\n\nDo not pull the plug." in document.markdown
    assert blocks_of(document, BlockKind.TABLE) == [
        "| Region | Days |\n| - | - |\n| EU | 14 |\n| all the same | all the same |"
    ]
    assert blocks_of(document, BlockKind.QUOTE) == ["> Quoted.\n>\n> — Somebody"]
    assert "   ```bash\n   run --all\n   ```" in document.markdown
    assert "- [x] done\n- [ ] open" in document.markdown
    assert "![A diagram]()" in document.markdown
    assert removed_texts(document, "comment") == ["not for readers"]
    assert removed_texts(document, "directive") == ["include::other.adoc[]"]


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["====", "----", "|===", "| a | b", "* item", ". one", "term:: said", "+", "", "NOTE: x",
                 "[NOTE]", "== Part", "....", "____", ".Title", "|| ||", "2+| x", "--",
                 "image::a.png[b]", "ifdef::x[]"]
            ),
            st.integers(100, 999).map("w{}".format),
        ),
        max_size=20,
    ).map("\n".join)
)  # fmt: skip
def test_every_word_of_asciidoc_is_kept(text: str) -> None:
    document = read_document(f"= Title\n\n== First part\n\n{text}", "a.adoc")
    assert [word for word in text.split() if word.startswith("w") and word not in document.markdown] == []


def test_latex_keeps_links_notes_typography_and_spanning_cells() -> None:
    source = r"""\documentclass{article}\begin{document}\section{Intro}
See \href{https://example.org/a_b}{the site}, ``quoted''\footnote{A note.} --- and $a--b$.
\begin{tabular}{lc}\hline Region & Days \\ \hline
\multicolumn{2}{c}{All \& more} \\ \hline\end{tabular}
\begin{verbatim}
a -- b
\end{verbatim}\end{document}"""
    document = read_document(source, "a.tex")
    assert "[the site](https://example.org/a_b), “quoted” (A note.) — and" in document.markdown
    assert "$a--b$" in document.markdown
    assert "a -- b" in document.markdown
    (table,) = blocks_of(document, BlockKind.TABLE)
    assert table.replace("  ", " ") == "| Region | Days |\n| - | - |\n| All & more | |"


def test_subtitles_become_the_turns_of_their_speakers() -> None:
    source = (
        "WEBVTT - A talk\n\nNOTE made by hand\n\n1\n00:01.000 --> 00:02.000\n<v Ann>We are here\n\n"
        "00:02.000 --> 00:03.000 align:left\n<v Ann>at &lt;last&gt;.\n\n"
        "00:03.000 --> 00:04.000\n<v Bob><i>Laughs</i>\n"
    )
    document = read_document(source, "a.vtt")
    assert document.markdown == "# A talk\n\nAnn: We are here at <last>.\n\nBob: *Laughs*"
    assert removed_texts(document, "note") == ["made by hand"]


def test_subtitles_that_roll_up_are_not_repeated() -> None:
    source = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\none two\n\n00:02.000 --> 00:03.000\none two\nthree four\n\n"
        "00:03.000 --> 00:04.000\nthree four\nfive.\n\n00:09.000 --> 00:10.000\nLater.\n"
    )
    assert read_document(source, "a.vtt").markdown == "one two three four five.\n\nLater."


def test_an_articles_sections_keep_number_and_title() -> None:
    source = (
        '<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2'
        ' 20190208//EN" "JATS-journalpublishing1.dtd"><article><front><article-meta>'
        "<title-group><article-title>On Ducks</article-title></title-group></article-meta></front><body>"
        "<sec><label>2.1.</label><title>Basic forms</title><p>Ducks swim.</p></sec></body></article>"
    )
    assert "## 2.1. Basic forms\n\nDucks swim." in read_document(source, "a.nxml").markdown
