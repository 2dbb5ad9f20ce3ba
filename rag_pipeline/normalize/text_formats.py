"""Texts that are kept as they are written: Markdown, plain text, JSON, and XML of no known vocabulary."""

import json
import re
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.assembling import Piece, assemble, code_markdown
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.characters.decoding import Decoded, decode
from rag_pipeline.normalize.document import Block, BlockKind, NormalizedDocument
from rag_pipeline.normalize.markdown.reading import convert_markdown
from rag_pipeline.normalize.xml_safety import refuse_entities, without_declaration

TEXT_TYPES: Final = frozenset({types.MARKDOWN, types.PLAIN, types.JSON, types.XML})
_PARAGRAPH: Final = re.compile(r"\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*")


def convert_text(data: bytes, mime_type: str) -> NormalizedDocument:
    """Read a text of one of `TEXT_TYPES`."""
    if mime_type == types.MARKDOWN:
        return convert_markdown(data)
    decoded = decode(data, declared=mime_type == types.XML)
    if mime_type == types.JSON:
        return _json(decoded)
    if mime_type == types.XML:
        return _xml(decoded)
    text, notes = clean(decoded.text)
    blocks = tuple(Block(BlockKind.PARAGRAPH, m.start(), m.end()) for m in _PARAGRAPH.finditer(text))
    return NormalizedDocument(
        text, blocks, warnings=(*decoded.warnings, *notes), decisions=(decoded.decision,)
    )


def _json(decoded: Decoded) -> NormalizedDocument:
    text, notes = clean(decoded.text.strip())
    warnings = (*decoded.warnings, *notes)
    try:
        json.loads(text)
    except RecursionError as error:
        raise DocumentError(
            FailureCategory.OVER_LIMIT, "The JSON is nested too deeply to be read. Flatten or split it."
        ) from error
    except ValueError as error:
        warnings = (*warnings, f"the JSON is not valid ({error}); it was kept as text")
    markdown, blocks = assemble([Piece(BlockKind.CODE, code_markdown(text, "json"))] if text else [])
    return NormalizedDocument(markdown, blocks, warnings=warnings, decisions=(decoded.decision,))


def _xml(decoded: Decoded) -> NormalizedDocument:
    """The text of the elements: one paragraph for each that holds text of its own, named by its tag."""
    refuse_entities(decoded.text)
    text, notes = clean(without_declaration(decoded.text))
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - entities are refused, and nothing external is loaded
    except ElementTree.ParseError as error:
        raise DocumentError(
            FailureCategory.CORRUPT, f"The XML is not well-formed ({error}). Correct it or export it anew."
        ) from error
    markdown, blocks = assemble(Piece(BlockKind.PARAGRAPH, line) for line in _texts(root))
    return NormalizedDocument(
        markdown, blocks, warnings=(*decoded.warnings, *notes), decisions=(decoded.decision,)
    )


def _texts(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        own = " ".join("".join([element.text or "", *(child.tail or "" for child in element)]).split())
        if own:
            yield f"{element.tag.rpartition('}')[2]}: {own}"
