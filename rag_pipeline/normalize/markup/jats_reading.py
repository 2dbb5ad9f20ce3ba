"""Journal articles in JATS, with the numbers and the titles of their sections."""

import re
from dataclasses import replace
from typing import Final

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.trees.formats import convert_tree
from rag_pipeline.normalize.xml_safety import without_declaration

# docling takes the first of a section's label and title for its heading, and drops the other.
_LABEL_BEFORE_TITLE: Final = re.compile(r"<label>([^<>]*)</label>\s*<title>")


def convert_jats(data: bytes) -> NormalizedDocument:
    """Read an article."""
    decoded = decode(data, declared=True)
    text = without_declaration(decoded.text.removeprefix("\ufeff"))
    article = _LABEL_BEFORE_TITLE.sub(r"<title>\1 ", text)
    document = convert_tree(article.encode("utf-8", "replace"), types.JATS)
    return replace(
        document,
        warnings=tuple(dict.fromkeys((*decoded.warnings, *document.warnings))),
        decisions=(decoded.decision,),
    )
