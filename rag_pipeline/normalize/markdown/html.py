"""HTML in Markdown: its blocks read as those of a page, its inline tags as the marks that they stand for."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from html import unescape
from typing import Final, NamedTuple

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.assembling import assemble
from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.markdown.edits import Edit, apply_edits
from rag_pipeline.normalize.markdown.regions import MASK, Regions, find_regions
from rag_pipeline.normalize.web.html_inline import Run, inline_markdown, link_target
from rag_pipeline.normalize.web.html_reading import read_page

_TRIGGER: Final = re.compile(r"</?[a-z]|^ {0,3}(=+|-+)[ \t]*$", re.MULTILINE | re.IGNORECASE)
# A tag as Markdown knows it; "a <b" of a comparison is none.
_ATTRIBUTES: Final = r"(?:\s+[\w:@.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>=`]+))?)*\s*/?"
_TAG: Final = re.compile(rf"<(/?)([a-z][a-z0-9]*)({_ATTRIBUTES})>", re.IGNORECASE)
_ELEMENTS: Final = frozenset(
    {"a", "abbr", "address", "article", "aside", "audio", "b", "blockquote", "body", "br", "button",
     "caption", "center", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl",
     "dt", "em", "figcaption", "figure", "font", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
     "head", "header", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd", "label", "li", "link",
     "main", "mark", "meta", "nav", "nobr", "ol", "option", "p", "picture", "pre", "q", "s", "samp",
     "script", "section", "select", "small", "source", "span", "strike", "strong", "style", "sub", "summary",
     "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "title", "tr",
     "tt", "u", "ul", "var", "video", "wbr"}
)  # fmt: skip
# Elements that are shown by their text alone where they stand amid Markdown.
_BARE: Final = frozenset(
    {"a", "abbr", "article", "b", "button", "center", "cite", "del", "details", "div", "em", "figcaption",
     "figure", "font", "i", "ins", "label", "mark", "nobr", "p", "picture", "s", "section", "small",
     "source", "span", "strike", "strong", "summary", "u", "wbr"}
)  # fmt: skip
_MARKS: Final = {
    "b": "strong", "strong": "strong", "i": "em", "em": "em", "cite": "em", "s": "strike", "del": "strike",
    "strike": "strike", "sup": "sup", "sub": "sub", "kbd": "code", "code": "code", "samp": "code",
    "tt": "code",
}  # fmt: skip
_PAIR: Final = re.compile(
    rf"<({'|'.join(['a', *_MARKS])})({_ATTRIBUTES})>((?:[^<>\n]|\n(?![^\S\n]*\n))*)</\1\s*>", re.IGNORECASE
)
_ATTRIBUTE: Final = re.compile(r"\b(href|alt)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_TABLE_START: Final = re.compile(r"^ {0,3}<table\b", re.IGNORECASE | re.MULTILINE)
_TABLE_TAG: Final = re.compile(r"<(/?)table\b", re.IGNORECASE)


class Plain(NamedTuple):
    """A Markdown text without HTML, what was left out with it, and what a reader should know."""

    text: str
    removed: tuple[Removed, ...] = ()
    warnings: tuple[str, ...] = ()


def without_html(text: str) -> Plain:
    """The text with HTML and underlined headings written as Markdown; code and Markdown's tables stay."""
    if not _TRIGGER.search(text):
        return Plain(text)
    removed: list[Removed] = []
    warnings: dict[str, None] = {}
    regions = find_regions(text)
    edits = list(_headings(text, regions))
    at = 0
    for start, end in sorted(_html_blocks(text, regions), key=lambda place: (place[0], -place[1])):
        if start < at or not _is_html(regions.masked[start:end]):
            continue
        # Comments are gone by now; one that nothing closes would hide all that follows it.
        page = read_page(text[start:end].replace("<!--", "&lt;!--"), whole_site=False)
        removed += page.removed
        warnings.update(dict.fromkeys(page.warnings))
        markdown, _ = assemble(page.pieces)
        edits.append(Edit(start, end, f"{markdown}\n" if markdown else "", None))
        at = end
    text = apply_edits(text, edits).text
    text = apply_edits(text, _inline(text)).text
    return Plain(text, tuple(removed), tuple(warnings))


def _headings(text: str, regions: Regions) -> Iterator[Edit]:
    """Headings that are underlined, written as `# …`, as all others are."""
    for token in regions.tokens:
        if token.type == "heading_open" and token.level == 0 and token.markup in ("=", "-") and token.map:
            start, end = (regions.offsets[number] for number in token.map)
            words = " ".join(text[start:end].rstrip().rpartition("\n")[0].split())
            yield Edit(start, min(end, len(text)), f"{'#' * int(token.tag[1])} {words}\n")


def _html_blocks(text: str, regions: Regions) -> Iterator[tuple[int, int]]:
    """Blocks of HTML, and whole tables even where empty lines divide them, which end a block of Markdown."""
    for match in _TABLE_START.finditer(regions.masked):
        depth = 0
        for tag in _TABLE_TAG.finditer(regions.masked, match.start()):
            depth += -1 if tag.group(1) else 1
            if depth == 0:
                line_end = regions.masked.find("\n", tag.end())
                yield match.start(), len(text) if line_end < 0 else line_end
                break
    for token in regions.tokens:
        if token.type == "html_block" and token.level == 0 and token.map:
            start, end = (regions.offsets[number] for number in token.map)
            yield start, min(end, len(text))


def _is_html(masked: str) -> bool:
    """Whether a block is made of elements that browsers know, and holds no code of Markdown."""
    names = [match.group(2).lower() for match in _TAG.finditer(masked)]
    return bool(names) and all(name in _ELEMENTS for name in names) and MASK not in masked


def _inline(text: str) -> list[Edit]:
    """Inline tags outside of code and tables, replaced by Markdown's own marks or by nothing."""
    regions = find_regions(text)
    edits = [
        *(Edit(match.start(), match.end(), _pair(match, text)) for match in _PAIR.finditer(regions.masked)),
        *(
            Edit(match.start(), match.end(), replaced)
            for match in _TAG.finditer(regions.masked)
            if (replaced := _single(match, text)) is not None
        ),
    ]
    return [edit for edit in edits if bisect_right(regions.offsets, edit.start) - 1 not in regions.tables]


def _pair(match: re.Match[str], text: str) -> str:
    """An element and its text as Markdown, white space at its borders kept."""
    name = match.group(1).lower()
    words = text[match.start(3) : match.end(3)]
    link = link_target(_attribute(match.group(2), "href")) if name == "a" else None
    if _MARKS.get(name) == "code":
        words = unescape(words)
    elif name == "a" and link is None:
        return words
    marks = frozenset({_MARKS[name]}) if name in _MARKS else frozenset()
    marked = inline_markdown([Run(words, marks, link)])
    lead = " " if words[:1].isspace() else ""
    trail = " " if words[-1:].isspace() else ""
    return f"{lead}{marked}{trail}"


def _single(match: re.Match[str], text: str) -> str | None:
    """What a tag on its own stands for; None where it is no tag of a text, but may be an example."""
    name = match.group(2).lower()
    if name == "br":
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        return (
            " " if line.startswith("#") else "  " if text[match.end() : match.end() + 1] == "\n" else "  \n"
        )
    if name == "img":
        return picture_markdown(_attribute(match.group(3), "alt") or "")
    # A few words between angle brackets are rather those of a text than attributes.
    is_markup = "=" in match.group(3) or not match.group(3).strip(" /\n")
    return "" if is_markup and (name in _BARE or name == "hr") else None


def _attribute(attributes: str, name: str) -> str | None:
    for match in _ATTRIBUTE.finditer(attributes):
        if match.group(1).lower() == name:
            return unescape(next(value for value in match.groups()[1:] if value is not None))
    return None
