"""Telling the kinds of text apart by their markup.

This is done while a source is listed, outside the workers, so every pattern takes linear time on any text.
"""

import re
from typing import Final

from rag_pipeline.normalize import mime_types as types

_HTML_START: Final = re.compile(r"<(!doctype\s+html|html|head|body|title|meta|script|style)\b", re.IGNORECASE)
_HTML_ELEMENT: Final = re.compile(
    r"<(div|p|h[1-6]|table|tr|td|ul|ol|li|span|a|br|img|section|article|nav|form)(\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_XML_START: Final = re.compile(r"<(\?xml|!DOCTYPE|!--|[A-Za-z_][\w:.-]*[\s>/])")
_ROOT: Final = re.compile(r"<([A-Za-z_][\w:.-]*)")
_JATS: Final = re.compile(r"//NLM//DTD|\bJATS\b|journalpublishing|journal-meta|<article-meta", re.IGNORECASE)
_USPTO: Final = re.compile(r"us-patent-(application|grant)|patent-application-publication")
_MAIL_HEADER: Final = re.compile(
    r"^(From|To|Cc|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Content-Type|Reply-To|Delivered-To|"
    r"X-[\w-]+|DKIM-Signature|Sender|References|In-Reply-To|List-[\w-]+):", re.IGNORECASE,
)  # fmt: skip
_LATEX: Final = re.compile(r"^[ \t]*\\(documentclass|begin\{document\})", re.MULTILINE)
_ASCIIDOC: Final = re.compile(
    r"^(={1,5} \S|:[\w-]+:( |$)|\[(source|NOTE|TIP|WARNING|cols)\b|\|===$)", re.MULTILINE
)
_MARKDOWN: Final = re.compile(
    r"^(#{1,6} \S|```|~~~| {0,3}[-*+] \S|> |\|?[ \t]*:?-{2,}:?[ \t]*\||(={3,}|-{3,})$)"
    r"|\[[^\[\]\n]+\]\([^()\s]+\)|\*\*\w",
    re.MULTILINE,
)


def markup_kind(text: str) -> str | None:
    """The type that a text's beginning states beyond doubt, whatever its name; None where it states none."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith("WEBVTT"):
        return types.WEBVTT
    if start.startswith(("PATN\n", "PATN\r\n")):
        return types.USPTO
    if _HTML_START.match(start):
        return types.HTML
    if start.startswith(("<?xml", "<!DOCTYPE")):
        return _xml_kind(start)
    if _LATEX.search(text):
        return types.LATEX
    if _mail_headers(start) >= 3:
        return types.EML
    return None


def likely_kind(text: str) -> str:
    """The most likely type of a text that states none and whose name says nothing."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")) and re.match(r'[{\[]\s*([{\["\]}\d-]|true|false|null)', start):
        return types.JSON
    if _XML_START.match(start):
        elements = len(_HTML_ELEMENT.findall(text))
        return types.HTML if elements >= 2 else _xml_kind(start)
    if _mail_headers(start) >= 2:
        return types.EML
    if len(_ASCIIDOC.findall(text)) >= 2 and "```" not in text:
        return types.ASCIIDOC
    if _MARKDOWN.search(text):
        return types.MARKDOWN
    return types.CSV if _is_csv(text) else types.PLAIN


def _xml_kind(start: str) -> str:
    root = _ROOT.search(start)
    if root and root.group(1).lower() == "html":
        return types.HTML
    if _USPTO.search(start[:4096]):
        return types.USPTO
    if root and root.group(1) == "article" and _JATS.search(start[:8192]):
        return types.JATS
    return types.XML


def _mail_headers(start: str) -> int:
    """How many lines of the leading header block are mail headers; 0 if anything else comes first."""
    count = 0
    for line in start.split("\n")[:40]:
        if _MAIL_HEADER.match(line):
            count += 1
        elif not line.strip():
            break
        elif count == 0 and not line.startswith("From "):  # an mbox separator comes before the headers
            return 0
    return count


def _is_csv(text: str) -> bool:
    lines = [line for line in text.split("\n")[:20] if line.strip()][:-1] or text.split("\n")
    if len(lines) < 2:
        return False
    return any(
        lines[0].count(delimiter) >= 1 and len({line.count(delimiter) for line in lines}) == 1
        for delimiter in (",", ";", "\t")
    )
