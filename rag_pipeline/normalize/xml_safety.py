"""XML without its dangers: no entities of the document's own, no document types loaded, no network."""

import re
from typing import Final

from rag_pipeline.errors import DocumentError, FailureCategory

_ENTITY: Final = re.compile(r"<!ENTITY\b", re.IGNORECASE)
_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]*\?>")


def refuse_entities(text: str) -> None:
    """Raise DocumentError for XML that declares entities: they may expand without limit or name files.

    The whole text is searched, since a comment of any length may stand before a declaration.
    """
    if _ENTITY.search(text):
        raise DocumentError(
            FailureCategory.CORRUPT,
            "The XML declares its own entities, which are never expanded. Save it without them.",
        )


def without_declaration(text: str) -> str:
    """The XML without its `<?xml … ?>`, whose encoding is no longer true once the text is decoded."""
    return _DECLARATION.sub("", text, count=1).lstrip()
