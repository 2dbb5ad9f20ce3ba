"""What a reader of a document that passed the gates should know about its text."""

import re
from typing import Final

from rag_pipeline.normalize.characters.mojibake import misread_places
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument
from rag_pipeline.normalize.judging.instructions import instruction_warnings
from rag_pipeline.normalize.judging.repetition import repetition_warnings

# A page with a title and a picture has more.
_FEW_CHARACTERS_A_PAGE: Final = 30
# Formats without pages: pictures make files large, but hardly a thousand times their text.
_MANY_BYTES_A_CHARACTER: Final = 20_000
# One row of such a table is longer than a chunk, and is cut apart.
_MANY_COLUMNS: Final = 100
_CELL_BORDER: Final = re.compile(r"(?<!\\)\|")


def notices(document: NormalizedDocument, size: int) -> tuple[str, ...]:
    """Warnings about a document's text; `size` is the number of bytes that it was read from.

    What was left out is looked through for instructions too: who hides them means harm.
    """
    unseen = "\n".join(part.text for part in document.removed)
    return (
        *_little_text(document, size),
        *_wide_tables(document),
        *_misread(document.markdown),
        *repetition_warnings(document),
        *instruction_warnings("\n".join((document.title or "", document.markdown, unseen))),
    )


def _little_text(document: NormalizedDocument, size: int) -> tuple[str, ...]:
    characters = sum(char.isalnum() for char in document.markdown)
    if document.page_count is not None and characters < _FEW_CHARACTERS_A_PAGE * document.page_count:
        return (f"there is very little text: {characters} letters and digits on {document.page_count} pages",)
    if size > _MANY_BYTES_A_CHARACTER * characters:
        return (f"there is very little text: {characters} letters and digits in {size:,} bytes",)
    return ()


def _wide_tables(document: NormalizedDocument) -> tuple[str, ...]:
    widest = 0
    for block in document.blocks:
        if block.kind is BlockKind.TABLE:
            end = document.markdown.find("\n", block.start, block.end)
            header = document.markdown[block.start : block.end if end < 0 else end]
            widest = max(widest, len(_CELL_BORDER.findall(header)) - 1)
    if widest < _MANY_COLUMNS:
        return ()
    return (f"a table has {widest} columns, so that its rows are cut apart; export it with fewer",)


def _misread(text: str) -> tuple[str, ...]:
    places = misread_places(text)
    if not places:
        return ()
    return (
        f"{len(places)} places look like UTF-8 read as Windows-1252 ({places[0]!r}); they were left as is",
    )
