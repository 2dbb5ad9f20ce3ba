"""Web pages, books and mails, each with its reader."""

from collections.abc import Callable
from typing import Final

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.epub_reading import convert_epub
from rag_pipeline.normalize.html_reading import convert_html
from rag_pipeline.normalize.mail_reading import convert_mail, convert_outlook_mail

_READERS: Final[dict[str, Callable[[bytes], NormalizedDocument]]] = {
    types.HTML: convert_html,
    types.EPUB: convert_epub,
    types.EML: convert_mail,
    types.MSG: convert_outlook_mail,
}
WEB_TYPES: Final = frozenset(_READERS)


def convert_web(data: bytes, mime_type: str) -> NormalizedDocument:
    """Read a document of one of `WEB_TYPES`. Nothing that it refers to is fetched."""
    return _READERS[mime_type](data)
