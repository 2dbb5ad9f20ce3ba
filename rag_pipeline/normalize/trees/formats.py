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
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.trees.structuring import structure
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
    types.CSV: _Format("csv", "csv_backend.CsvDocumentBackend", "CsvBackendOptions", "csv"),
    types.LATEX: _Format("latex", "latex_backend.LatexDocumentBackend", "LatexBackendOptions", "tex"),
    types.JATS: _Format("xml_jats", "xml.jats_backend.JatsDocumentBackend", "JatsBackendOptions", "nxml"),
    types.USPTO: _Format("xml_uspto", "xml.uspto_backend.PatentUsptoDocumentBackend", None, "xml"),
}
TREE_TYPES: Final = frozenset(_FORMATS)
_XML: Final = frozenset({types.JATS, types.USPTO})


def convert_tree(data: bytes, mime_type: str) -> NormalizedDocument:
    """Read a document of one of `TREE_TYPES`. Nothing outside its bytes is read: no link, file or entity."""
    notes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    if mime_type in types.TEXTS:
        decoded = decode(data, declared=mime_type in _XML)
        data, notes, decisions = _as_utf8(decoded.text, mime_type), decoded.warnings, (decoded.decision,)
    with quiet():
        document = structure(opened(data, mime_type).convert(), paged=is_paged(mime_type))
    return replace(document, warnings=(*notes, *document.warnings), decisions=decisions)


def opened(data: bytes, mime_type: str) -> "DeclarativeDocumentBackend":
    """docling's reader of a type with a document opened in it; its `convert` gives the tree.

    Raises DocumentError for a damaged file.
    """
    from docling.datamodel import backend_options
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    form = _FORMATS[mime_type]
    module, _, name = form.backend.rpartition(".")
    options = None
    if form.options:
        options = getattr(backend_options, form.options)(enable_remote_fetch=False, enable_local_fetch=False)
    document = InputDocument(
        path_or_stream=io.BytesIO(data),
        format=InputFormat(form.input_format),
        backend=getattr(importlib.import_module(f"docling.backend.{module}"), name),
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


def _as_utf8(text: str, mime_type: str) -> bytes:
    text = text.removeprefix("\ufeff").replace("\x00", "")
    if mime_type in _XML:
        refuse_entities(text)
        text = without_declaration(text)
    return text.encode("utf-8", "replace")
