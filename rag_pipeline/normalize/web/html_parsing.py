"""HTML text to an element tree, without entities of its own, network access or scripts."""

import re
from html.entities import name2codepoint
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    # Named here once for all modules of web pages: lxml has no types of its own.
    from lxml.html import HtmlElement as HtmlElement  # type: ignore[import-untyped]

_XHTML: Final = re.compile(
    r"\s*(<\?xml\b|<!DOCTYPE\s+html\s+PUBLIC\s+\S+XHTML|<html\s[^>]*xmlns=)", re.IGNORECASE
)
_NAMED: Final = re.compile(r"&(\w+);")
# Characters that no tree can hold, written as they are or by their numbers.
_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
    r"|&#0*(?:[0-8]|1[124-9]|2\d|3[01])(?!\d);?|&#x0*(?:[0-8bcef]|1[0-9a-f])(?![0-9a-f]);?",
    re.IGNORECASE,
)
_OF_XML: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})


def parse_html(text: str) -> "tuple[HtmlElement, tuple[str, ...]]":
    """The tree of a page, however broken its markup is, and what a reader should know about it.

    Comments and processing instructions are not part of it, names of elements have no namespace. A text
    without any element becomes a body.
    """
    from lxml import etree, html  # type: ignore[import-untyped]

    text, controls = _CONTROLS.subn("", text)
    notes = ("control characters were removed",) if controls else ()
    safe: dict[str, Any] = {"encoding": "utf-8", "remove_comments": True, "remove_pis": True}
    if _XHTML.match(text) and "<!ENTITY" not in text:
        # HTML knows no empty elements like `<title/>`, so it would take all that follows for a title.
        strict = html.XHTMLParser(**safe, resolve_entities=False, load_dtd=False, no_network=True)
        try:
            return _without_namespaces(
                etree.fromstring(_as_bytes(_NAMED.sub(_character, text)), strict)
            ), notes
        except (etree.XMLSyntaxError, ValueError):
            pass  # not the XML that it says it is: browsers read such pages as HTML, too
    parser = html.HTMLParser(**safe, huge_tree=True)
    try:
        root = html.document_fromstring(_as_bytes(text), parser=parser, ensure_head_body=True)
    except etree.ParserError:  # no element and no text at all
        root = html.document_fromstring(b"<body></body>", parser=parser, ensure_head_body=True)
    cut = any("depth" in entry.message.lower() for entry in parser.error_log)
    return root, (*notes, "the page is nested too deeply; its innermost text was not read") if cut else notes


def _as_bytes(text: str) -> bytes:
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1).encode("utf-8", "ignore")


def _character(match: re.Match[str]) -> str:
    name = match.group(1)
    return chr(name2codepoint[name]) if name in name2codepoint and name not in _OF_XML else match.group()


def _without_namespaces(root: "HtmlElement") -> "HtmlElement":
    for element in root.iter("*"):
        element.tag = element.tag.rpartition("}")[2]
    if root.find("body") is None:
        raise ValueError("no page")
    return root
