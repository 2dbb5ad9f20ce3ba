"""Web pages, books, mails, articles and subtitles, each with its reader."""

from collections.abc import Callable
from typing import Final

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.mails.reading import convert_mail, convert_outlook_mail
from rag_pipeline.normalize.markup.asciidoc_reading import convert_asciidoc
from rag_pipeline.normalize.markup.jats_reading import convert_jats
from rag_pipeline.normalize.markup.latex_reading import convert_latex
from rag_pipeline.normalize.markup.webvtt_reading import convert_webvtt
from rag_pipeline.normalize.web.epub_reading import convert_epub
from rag_pipeline.normalize.web.html_reading import convert_html

_READERS: Final[dict[str, Callable[[bytes], NormalizedDocument]]] = {
    types.HTML: convert_html,
    types.EPUB: convert_epub,
    types.EML: convert_mail,
    types.MSG: convert_outlook_mail,
    types.JATS: convert_jats,
    types.ASCIIDOC: convert_asciidoc,
    types.LATEX: convert_latex,
    types.WEBVTT: convert_webvtt,
}
WEB_TYPES: Final = frozenset(_READERS)


def convert_web(data: bytes, mime_type: str) -> NormalizedDocument:
    """Read a document of one of `WEB_TYPES`. Nothing that it refers to is fetched."""
    return _READERS[mime_type](data)
