"""Reading documents that tests write, with what must hold for every document that was read."""

import json

from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument
from rag_pipeline.normalize.options import ParsingOptions


def read_document(data: bytes | str, name: str) -> NormalizedDocument:
    """A document's normalized form, whose blocks cover all of its text and which survives being stored."""
    document = convert(data.encode() if isinstance(data, str) else data, name, ParsingOptions())
    at = 0
    for block in document.blocks:
        assert at <= block.start < block.end <= len(document.markdown)
        assert not document.markdown[at : block.start].strip()
        assert (block.level > 0) == (block.kind is BlockKind.HEADING)
        at = block.end
    assert not document.markdown[at:].strip()
    assert NormalizedDocument.from_json(json.loads(json.dumps(document.to_json()))) == document
    return document


def blocks_of(document: NormalizedDocument, kind: BlockKind) -> list[str]:
    """The texts of a document's blocks of one kind."""
    return [document.markdown[block.start : block.end] for block in document.blocks if block.kind is kind]


def removed_texts(document: NormalizedDocument, reason: str) -> list[str]:
    """What was left out of a document for one reason."""
    return [removed.text for removed in document.removed if removed.reason == reason]
