"""A docling document tree as Markdown with exact block spans."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rag_pipeline.normalize.assembling import Piece, assemble, placed
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument
from rag_pipeline.normalize.markdown.blocks import find_blocks, first_title

if TYPE_CHECKING:
    from docling_core.transforms.serializer.base import SerializationResult
    from docling_core.types.doc.document import DoclingDocument

# Items that are one block each, by docling's label, as long as their Markdown begins as such a block does.
_SINGLE_BLOCKS: Final = {
    "code": (BlockKind.CODE, "```"),
    "table": (BlockKind.TABLE, "|"),
    "document_index": (BlockKind.TABLE, "|"),
    "title": (BlockKind.HEADING, "#"),
    "section_header": (BlockKind.HEADING, "#"),
}
_TEXTS: Final = frozenset({"text", "paragraph", "caption", "footnote"})


def structure(document: "DoclingDocument", *, paged: bool, margins: bool = False) -> NormalizedDocument:
    """Serialize a document tree item by item. `paged` says whether its page numbers mean pages to a reader.

    Items that hold several blocks (lists, slides, sheets) are divided by their Markdown's own lines.
    `margins` keeps what docling sets apart from the body: headers, footers, footnotes.
    """
    from rag_pipeline.normalize.trees.serializing import serialized_parts

    pieces: list[Piece] = []
    warnings: dict[str, None] = {}
    for part in serialized_parts(document, margins=margins):
        text, notes = clean(part.text)
        warnings.update(dict.fromkeys(notes))
        pieces.extend(_pieces(text, _kind(part), _page(part) if paged else None))
    markdown, blocks = assemble(pieces)
    return NormalizedDocument(
        markdown=markdown,
        blocks=blocks,
        title=first_title(markdown, blocks) or _furniture_title(document),
        page_count=len(document.pages) or None if paged else None,
        warnings=tuple(warnings),
    )


def markdown_pieces(text: str, page: int | None = None) -> Iterator[Piece]:
    """The blocks of a Markdown text as pieces, standing on `page` if one is given."""
    for block in find_blocks(text):
        yield _piece(block.kind, text[block.start : block.end], block.level, page)


def _pieces(text: str, kind: BlockKind | None, page: int | None) -> Iterator[Piece]:
    if kind is None:
        yield from markdown_pieces(text, page)
    else:
        level = len(text) - len(text.lstrip("#")) if kind is BlockKind.HEADING else 0
        yield _piece(kind, text, min(level, 6), page)


def _piece(kind: BlockKind, text: str, level: int, page: int | None) -> Piece:
    return Piece(kind, text, level) if page is None else placed(kind, text, page, level=level)


def _kind(part: "SerializationResult") -> BlockKind | None:
    """The kind of a part that is a single block, None where its Markdown must be looked into.

    Text of several lines is looked into: docling keeps a mail's body as one item, empty lines and all.
    """
    if len(part.spans) != 1:
        return None
    label = part.spans[0].item.label.value
    if label in _TEXTS:
        return None if "\n" in part.text else BlockKind.PARAGRAPH
    kind, begins_with = _SINGLE_BLOCKS.get(label, (None, ""))
    return kind if part.text.startswith(begins_with) else None


def _page(part: "SerializationResult") -> int | None:
    for span in part.spans:
        if span.item.prov:
            return int(span.item.prov[0].page_no)
    return None


def _furniture_title(document: "DoclingDocument") -> str | None:
    """A title that is kept outside the body, as that of a web page."""
    from docling_core.types.doc.common.content_layer import ContentLayer
    from docling_core.types.doc.items.text import TitleItem

    for item, _ in document.iterate_items(included_content_layers={ContentLayer.FURNITURE}):
        if isinstance(item, TitleItem) and item.text.strip():
            return " ".join(clean(item.text).text.split())
    return None
