"""Markdown as its author wrote it, without the markup that no reader of the finished page sees.

A round trip through another document tree would lose what the tree has no place for: the layout of tables and
code, link definitions, footnotes. So the text itself is kept, what is not text is taken out of it, and its
blocks are found; a citation then shows what the author wrote.
"""

import re
from typing import Final

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import NormalizedDocument, Removed
from rag_pipeline.normalize.judging.claims import ignored_claims
from rag_pipeline.normalize.markdown.blocks import find_blocks, first_title
from rag_pipeline.normalize.markdown.components import without_components
from rag_pipeline.normalize.markdown.directives import without_directives
from rag_pipeline.normalize.markdown.html import without_html
from rag_pipeline.normalize.markdown.templates import without_templates
from rag_pipeline.sources.front_matter import FrontMatterError, split_front_matter

# Lines of dashes around `key: value`, as front matter begins; a rule above a paragraph does not.
_LIKE_FRONT_MATTER: Final = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n[ \t]*[\w-]+[ \t]*:[^\n]*\n"
    r"(?:(?!---|\.\.\.)[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)"
)


def convert_markdown(data: bytes) -> NormalizedDocument:
    """Read a Markdown text, MDX and the templates of site generators included."""
    decoded = decode(data)
    try:
        fields, body_at = split_front_matter(decoded.text)
    except FrontMatterError as error:
        raise DocumentError(FailureCategory.BAD_METADATA, f"{error}. Correct the front matter.") from error
    warnings = list(decoded.warnings)
    removed: list[Removed] = []
    if fields is None and (broken := _LIKE_FRONT_MATTER.match(decoded.text)):
        body_at = broken.end()
        removed.append(Removed("front matter", broken.group().strip()))
        warnings.append("the front matter is not valid YAML; it was left out")
    warnings.extend(ignored_claims(fields or {}))
    text, notes = clean(decoded.text[body_at:])
    for step in (without_templates, without_directives, without_components):
        edited = step(text)
        text = edited.text
        removed += edited.removed
    plain = without_html(text)
    text = plain.text.strip("\n")
    blocks = find_blocks(text)
    title = (fields or {}).get("title")
    return NormalizedDocument(
        markdown=text,
        blocks=blocks,
        title=title.strip() if isinstance(title, str) and title.strip() else first_title(text, blocks),
        warnings=(*warnings, *notes, *plain.warnings),
        decisions=(decoded.decision,),
        removed=(*removed, *plain.removed),
    )
