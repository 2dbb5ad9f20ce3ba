"""Web pages: decoded, freed of what is hidden or not theirs, and read as Markdown."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from rag_pipeline.normalize.assembling import Piece, assemble
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import NormalizedDocument, Removed
from rag_pipeline.normalize.markdown.blocks import first_title
from rag_pipeline.normalize.web.html_blocks import html_pieces
from rag_pipeline.normalize.web.html_cleaning import remove_boilerplate
from rag_pipeline.normalize.web.html_hidden import remove_hidden
from rag_pipeline.normalize.web.html_parsing import parse_html

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement


class Page(NamedTuple):
    """What an HTML text shows: its pieces, its `<title>`, what was left out, what a reader should know."""

    pieces: tuple[Piece, ...]
    title: str | None
    removed: tuple[Removed, ...]
    warnings: tuple[str, ...]


def convert_html(data: bytes) -> NormalizedDocument:
    """Read a web page. Nothing that it refers to is fetched."""
    decoded = decode(data, declared=True)
    page = read_page(decoded.text.removeprefix("\ufeff"))
    markdown, blocks = assemble(page.pieces)
    return NormalizedDocument(
        markdown=markdown,
        blocks=blocks,
        title=first_title(markdown, blocks) or page.title,
        warnings=(*decoded.warnings, *page.warnings),
        decisions=(decoded.decision,),
        removed=page.removed,
    )


def read_page(text: str, *, whole_site: bool = True) -> Page:
    """Read an HTML text. `whole_site` says whether it may carry its site's navigation, banners and ads.

    A book's chapter or a mail does not: all that it shows is its own.
    """
    root, warnings = parse_html(text)
    title = _title(root)
    removed = remove_hidden(root)
    if removed_words := [part for part in removed if any(char.isalnum() for char in part.text)]:
        warnings = (*warnings, f"hidden text was left out ({len(removed_words)} passages)")
    body = root.find("body")
    if whole_site:
        removed += remove_boilerplate(body)
    pieces = []
    notes: dict[str, None] = {}
    for piece in html_pieces(body):
        cleaned, new = clean(piece.text)
        notes.update(dict.fromkeys(new))
        pieces.append(replace(piece, text=cleaned))
    return Page(tuple(pieces), title, tuple(removed), (*warnings, *notes))


def _title(root: "HtmlElement") -> str | None:
    for element in root.iter("title"):
        if text := " ".join(clean(element.text_content()).text.split()):
            return text
    return None
