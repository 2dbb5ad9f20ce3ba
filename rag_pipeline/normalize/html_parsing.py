"""HTML text to an element tree, without entities of its own, network access or scripts."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    # Named here once for all modules of web pages: lxml has no types of its own.
    from lxml.html import HtmlElement as HtmlElement  # type: ignore[import-untyped]

# libxml2 drops what is nested deeper than this, without a word.
_DEEPEST: Final = 2_000


def parse_html(text: str) -> "tuple[HtmlElement, tuple[str, ...]]":
    """The tree of a page, however broken its markup is, and what a reader should know about it.

    Comments and processing instructions are not part of it. A text without any element becomes a body.
    """
    from lxml import html  # type: ignore[import-untyped]

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    root = html.document_fromstring(_as_bytes(text), parser=parser, ensure_head_body=True)
    cut = any("depth" in entry.message.lower() for entry in parser.error_log)
    return root, (("the page is nested too deeply; its innermost text was not read",) if cut else ())


def _as_bytes(text: str) -> bytes:
    """UTF-8 for the parser; surrogates and NUL, which no page may hold, are dropped."""
    data = text.replace("\x00", "").encode("utf-8", "ignore")
    return data if data.strip() else b"<body></body>"
