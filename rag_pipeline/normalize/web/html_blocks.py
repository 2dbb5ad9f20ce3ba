"""The blocks of an HTML tree as pieces of Markdown, in the order of the page."""

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.assembling import Piece, assemble, code_markdown
from rag_pipeline.normalize.document import BlockKind
from rag_pipeline.normalize.web.html_inline import Run, inline_markdown, link_target
from rag_pipeline.normalize.web.html_leaves import (
    code_language,
    code_text,
    control_text,
    image_text,
    math_text,
)
from rag_pipeline.normalize.web.html_lists import item_pieces, list_markers
from rag_pipeline.normalize.web.html_tables import cells_in_order, is_layout, stray_text, table_text

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_PARTS: Final = frozenset(
    {"address", "article", "aside", "body", "caption", "center", "dd", "details", "div", "dt", "fieldset",
     "figcaption", "figure", "footer", "form", "head", "header", "hgroup", "html", "legend", "li", "main",
     "nav", "p", "search", "section", "summary", "tbody", "td", "tfoot", "th", "thead", "tr"}
)  # fmt: skip
_LISTS: Final = frozenset({"ul", "ol", "menu", "dir"})
# To the text of the list item before them.
_NEVER_JOINED: Final = frozenset({BlockKind.LIST_ITEM, BlockKind.TABLE, BlockKind.HEADING})
_MARKS: Final = {
    "b": "strong", "strong": "strong", "i": "em", "em": "em", "cite": "em", "dfn": "em",
    "var": "em", "s": "strike", "strike": "strike", "del": "strike", "code": "code", "kbd": "code",
    "samp": "code", "tt": "code", "sup": "sup", "sub": "sub",
}  # fmt: skip
_CONTROLS: Final = frozenset({"input", "select", "textarea"})
_AROUND: Final = {"q": ("“", "”"), "rt": ("(", ")")}
# What is nested deeper is not walked but read as one text: no author means it.
_DEEPEST: Final = 100
_EMPTY_LINE: Final = re.compile(r"(?: *\n){2,}")
# Characters at the start of a line that would make something else of a paragraph.
_MARKDOWN_START: Final = re.compile(r"^(?=#{1,6}\s|[-+*>]\s|```|~~~)", re.MULTILINE)


class _Look(NamedTuple):
    """What the inline elements around a text make of it."""

    marks: frozenset[str] = frozenset()
    link: str | None = None
    in_heading: bool = False


def html_pieces(element: "HtmlElement") -> list[Piece]:
    """What an element shows, as pieces: headings, paragraphs, list items, tables, code and quotes."""
    return _Walk().pieces_in(element, _Look())


class _Walk:
    """A walk over a tree that collects runs of text until a block ends, and the pieces that they become.

    `in_cell` is true inside of a table's cell, where another table can only be text.
    """

    def __init__(self, depth: int = 0, *, in_cell: bool = False) -> None:
        self._depth = depth
        self._in_cell = in_cell
        self._pieces: list[Piece] = []
        self._runs: list[Run] = []

    def pieces_in(self, element: "HtmlElement", look: _Look) -> list[Piece]:
        """The pieces of an element's content; a walk is used once."""
        self._children(element, look)
        self._end_block()
        return self._pieces

    def _children(self, element: "HtmlElement", look: _Look) -> None:
        self._text(element.text, look)
        self._depth += 1
        for child in element:
            if self._depth > _DEEPEST:
                self._text(child.text_content(), look)
            else:
                self._element(child, look)
            self._text(child.tail, look)
        self._depth -= 1

    def _element(self, element: "HtmlElement", look: _Look) -> None:
        tag = element.tag
        if tag == "br":
            self._runs.append(Run("\n", look.marks, look.link, is_break=True))
        elif tag == "img":
            self._image(element, look)
        elif tag in ("math", "svg"):
            self._text(math_text(element) if tag == "math" else _drawn_text(element), look)
        elif tag in _CONTROLS:
            self._text(control_text(element), look)
        elif tag == "hr":
            self._end_block()
        elif tag in _HEADINGS or element.get("role") == "heading":
            self._heading(element, look)
        elif tag in _LISTS:
            self._list(element, look)
        elif tag == "dl":
            self._end_block()
            self._definitions(element, look)
        elif tag == "table":
            self._table(element, look)
        elif tag == "pre":
            self._code(element)
        elif tag == "blockquote":
            self._quote(element, look)
        elif tag in _PARTS:
            self._end_block()
            self._children(element, _within(element, look))
            self._end_block()
        elif tag != "rp" and not _is_anchor(element):
            before, after = _AROUND.get(tag, ("", ""))
            self._text(before, look)
            self._children(element, _within(element, look))
            self._text(after, look)

    def _text(self, text: str | None, look: _Look) -> None:
        if text:
            self._runs.append(Run(text, look.marks, look.link))

    def _image(self, element: "HtmlElement", look: _Look) -> None:
        """What stands for an image: the words of a link that it is, else a picture that the text names."""
        text = image_text(element)
        if text and look.link is None:
            text = picture_markdown(text)
        if text:
            self._runs.append(Run(f" {text} ", link=look.link))

    def _end_block(self) -> None:
        text = inline_markdown(self._runs)
        self._runs = []
        for paragraph in _EMPTY_LINE.split(text):
            if paragraph.strip():
                escaped = _MARKDOWN_START.sub(r"\\", paragraph.strip())
                self._pieces.append(Piece(BlockKind.PARAGRAPH, escaped))

    def _inside(self, element: "HtmlElement", look: _Look) -> list[Piece]:
        return _Walk(self._depth + 1, in_cell=self._in_cell).pieces_in(element, look)

    def _line(self, element: "HtmlElement", look: _Look) -> str:
        """All that an element shows on one line, tables flattened."""
        inner = _Walk(self._depth + 1, in_cell=True).pieces_in(element, look)
        return " ".join(" ".join(piece.text.split()) for piece in inner)

    def _heading(self, element: "HtmlElement", look: _Look) -> None:
        self._end_block()
        level = _HEADINGS.get(element.tag, 0) or _level(element.get("aria-level"))
        if text := self._line(element, _Look(link=look.link, in_heading=True)):
            self._pieces.append(Piece(BlockKind.HEADING, f"{'#' * level} {text}", level))

    def _list(self, element: "HtmlElement", look: _Look) -> None:
        self._end_block()
        self._text(element.text, look)
        self._end_block()
        for child, marker in list_markers(element):
            if marker:
                self._pieces.extend(item_pieces(marker, self._inside(child, look)))
            elif child.tag in _LISTS:  # a list right inside of a list belongs to the item before it
                nested = _Walk(self._depth + 1, in_cell=self._in_cell)
                nested._list(child, look)
                # What it begins with before any item would be joined to the item that stands in for that one.
                lead = list(takewhile(lambda one: one.kind not in _NEVER_JOINED, nested._pieces))
                rest = nested._pieces[len(lead) :]
                self._pieces.extend(lead)
                self._pieces.extend(item_pieces("-", [Piece(BlockKind.PARAGRAPH, ""), *rest])[1:])
            else:
                self._element(child, look)
            self._text(child.tail, look)
            self._end_block()

    def _definitions(self, element: "HtmlElement", look: _Look) -> None:
        """Terms, each with all that is said of it, as a list; `dd` without a term is a plain part."""
        terms: list[str] = []
        said: list[Piece] = []
        self._text(element.text, look)
        self._end_block()
        for child in element:
            if child.tag == "div":
                self._define(terms, said)
                terms, said = [], []
                self._definitions(child, look)
            elif child.tag == "dt":
                if said:
                    self._define(terms, said)
                    terms, said = [], []
                terms += filter(None, [self._line(child, look)])
            else:
                said += self._inside(child, look)
            if child.tail and child.tail.strip():
                said.append(Piece(BlockKind.PARAGRAPH, " ".join(child.tail.split())))
        self._define(terms, said)

    def _define(self, terms: list[str], said: list[Piece]) -> None:
        if not terms:
            self._pieces.extend(said)
            return
        term = f"**{' / '.join(terms)}**"
        if said and said[0].kind is BlockKind.PARAGRAPH:
            inner = [Piece(BlockKind.PARAGRAPH, f"{term}: {said[0].text}"), *said[1:]]
        else:
            inner = [Piece(BlockKind.PARAGRAPH, term), *said]
        self._pieces.extend(item_pieces("-", inner))

    def _table(self, element: "HtmlElement", look: _Look) -> None:
        self._end_block()
        self._text(stray_text(element), look)
        self._end_block()
        if self._in_cell or is_layout(element):
            for cell in cells_in_order(element):
                self._element(cell, look)
            return
        for caption in element.iterchildren("caption"):
            self._element(caption, look)
        if text := table_text(element, lambda cell: self._line(cell, look)):
            self._pieces.append(Piece(BlockKind.TABLE, text))

    def _code(self, element: "HtmlElement") -> None:
        self._end_block()
        if (text := code_text(element)).strip():
            kind = BlockKind.CODE
            code = code_markdown(text, code_language(element))
            self._pieces.append(Piece(kind, code))

    def _quote(self, element: "HtmlElement", look: _Look) -> None:
        self._end_block()
        if text := quote_markdown(self._inside(element, look)):
            self._pieces.append(Piece(BlockKind.QUOTE, text))


def quote_markdown(pieces: Iterable[Piece]) -> str:
    """Pieces as one quotation, "" where they hold nothing."""
    text, _ = assemble(pieces)
    return "\n".join(f"> {line}" if line.strip() else ">" for line in text.split("\n")) if text else ""


def _within(element: "HtmlElement", look: _Look) -> _Look:
    mark = _MARKS.get(element.tag)
    if element.tag == "summary" and len(element) == 0:
        mark = "strong"
    link = link_target(element.get("href")) if element.tag == "a" else None
    if link and look.in_heading and link.startswith("#"):
        link = None  # a heading's link to itself
    return look._replace(marks=look.marks | {mark} if mark else look.marks, link=link or look.link)


def _is_anchor(element: "HtmlElement") -> bool:
    """Whether an element is the sign beside a heading that links to the heading: #, §, ¶."""
    if element.tag != "a" or not (element.get("href") or "").startswith("#"):
        return False
    text = element.text_content().strip()
    return (
        len(text) <= 2
        and not any(char.isalnum() for char in text)
        and next(element.iter("img"), None) is None
    )


def _level(value: str | None) -> int:
    return int(value) if value and value.isdigit() and 1 <= int(value) <= 6 else 2


def _drawn_text(drawing: "HtmlElement") -> str:
    return " ".join(part.text_content() for part in drawing.iter("text"))
