"""The formats that docling turns into one document tree, each with its backend and safe options.

docling's own DocumentConverter is left out: it imports every pipeline there is (seconds, and torch in some
installs), while these formats need nothing but their backend.
"""

import importlib
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.decoding import decode
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.structuring import structure
from rag_pipeline.normalize.xml_safety import refuse_entities, without_declaration

if TYPE_CHECKING:
    from docling.backend.abstract_backend import DeclarativeDocumentBackend


class _Format(NamedTuple):
    """A docling backend: its input format, class, options class, and the extension that it expects.

    `paged` says whether its page numbers mean pages to a reader.
    """

    input_format: str
    backend: str
    options: str | None
    extension: str
    paged: bool = False


_FORMATS: Final[dict[str, _Format]] = {
    types.DOCX: _Format("docx", "msword_backend.MsWordDocumentBackend", "MsWordBackendOptions", "docx"),
    types.PPTX: _Format(
        "pptx",
        "mspowerpoint_backend.MsPowerpointDocumentBackend",
        "MsPowerpointBackendOptions",
        "pptx",
        paged=True,
    ),
    types.XLSX: _Format("xlsx", "msexcel_backend.MsExcelDocumentBackend", "MsExcelBackendOptions", "xlsx"),
    types.ODT: _Format("odt", "opendocument_backend.OdtDocumentBackend", "OdsBackendOptions", "odt"),
    types.ODP: _Format(
        "odp", "opendocument_backend.OdpDocumentBackend", "OdsBackendOptions", "odp", paged=True
    ),
    types.ODS: _Format("ods", "opendocument_backend.OdsDocumentBackend", "OdsBackendOptions", "ods"),
    types.EPUB: _Format("epub", "epub_backend.EpubDocumentBackend", "EpubBackendOptions", "epub"),
    types.HTML: _Format("html", "html_backend.HTMLDocumentBackend", "HTMLBackendOptions", "html"),
    types.CSV: _Format("csv", "csv_backend.CsvDocumentBackend", "CsvBackendOptions", "csv"),
    types.ASCIIDOC: _Format("asciidoc", "asciidoc_backend.AsciiDocBackend", "AsciiDocBackendOptions", "adoc"),
    types.LATEX: _Format("latex", "latex_backend.LatexDocumentBackend", "LatexBackendOptions", "tex"),
    types.WEBVTT: _Format("vtt", "webvtt_backend.WebVTTDocumentBackend", None, "vtt"),
    types.JATS: _Format("xml_jats", "xml.jats_backend.JatsDocumentBackend", "JatsBackendOptions", "nxml"),
    types.USPTO: _Format("xml_uspto", "xml.uspto_backend.PatentUsptoDocumentBackend", None, "xml"),
    types.EML: _Format("email", "email_backend.EmailDocumentBackend", "EmailBackendOptions", "eml"),
    types.MSG: _Format("email", "email_backend.EmailDocumentBackend", "EmailBackendOptions", "msg"),
}
TREE_TYPES: Final = frozenset(_FORMATS)


def convert_tree(data: bytes, mime_type: str) -> NormalizedDocument:
    """Read a document of one of `TREE_TYPES`. Nothing outside its bytes is read: no link, file or entity."""
    notes: tuple[str, ...] = ()
    if mime_type in types.TEXTS and mime_type != types.EML:  # a mail's parts each have their own charset
        data, notes = _as_utf8(data, mime_type)
    with quiet():
        document = structure(opened(data, mime_type).convert(), paged=is_paged(mime_type))
    return replace(document, warnings=(*notes, *document.warnings))


def opened(data: bytes, mime_type: str, backend: str | None = None) -> "DeclarativeDocumentBackend":
    """docling's reader of a type with a document opened in it; its `convert` gives the tree.

    `backend` names a class to use instead of docling's own. Raises DocumentError for a damaged file.
    """
    from docling.datamodel import backend_options
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    form = _FORMATS[mime_type]
    module, _, name = (backend or f"docling.backend.{form.backend}").rpartition(".")
    options = None
    if form.options:
        options = getattr(backend_options, form.options)(enable_remote_fetch=False, enable_local_fetch=False)
    document = InputDocument(
        path_or_stream=io.BytesIO(data),
        format=InputFormat(form.input_format),
        backend=getattr(importlib.import_module(module), name),
        backend_options=options,
        filename=f"document.{form.extension}",
    )
    if not document.valid:
        raise DocumentError(
            FailureCategory.CORRUPT, f"The file cannot be read as {mime_type}: it is damaged. Save it anew."
        )
    return cast(
        "DeclarativeDocumentBackend", document._backend
    )  # the way that docling's own SimplePipeline takes


def is_paged(mime_type: str) -> bool:
    """Whether a type's page numbers mean pages to a reader."""
    return _FORMATS[mime_type].paged


@contextmanager
def quiet() -> Iterator[None]:
    """Parsers warn of oddities in documents that nobody here can act on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _as_utf8(data: bytes, mime_type: str) -> tuple[bytes, tuple[str, ...]]:
    markup = mime_type in (types.HTML, types.JATS, types.USPTO)
    decoded = decode(data, declared=markup)
    text = decoded.text.removeprefix("\ufeff").replace("\x00", "")
    if mime_type in (types.JATS, types.USPTO):
        refuse_entities(text)
        text = without_declaration(text)
    # The mark outranks a charset that the page declares, rightly or wrongly.
    encoding = "utf-8-sig" if mime_type == types.HTML else "utf-8"
    return text.encode(encoding, "replace"), decoded.warnings
