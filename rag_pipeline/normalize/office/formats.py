"""Office and OpenDocument files: what no reader sees is taken out, docling reads the rest."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Protocol

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.document import NormalizedDocument, Removed
from rag_pipeline.normalize.judging.coverage import LEAST_COVERAGE, LEAST_USABLE, coverage
from rag_pipeline.normalize.office.odf_reading import prepare_open_document
from rag_pipeline.normalize.office.prepared import Prepared
from rag_pipeline.normalize.office.removals import HIDDEN, SLIDE_FOOTER, notices
from rag_pipeline.normalize.office.sheet_reading import convert_sheets
from rag_pipeline.normalize.office.slide_reading import prepare_slides
from rag_pipeline.normalize.office.word_reading import prepare_word
from rag_pipeline.normalize.trees.formats import is_paged, opened, quiet
from rag_pipeline.normalize.trees.structuring import structure


class _Prepare(Protocol):
    def __call__(self, data: bytes, *, comments: bool) -> Prepared: ...


_PREPARE: Final[dict[str, _Prepare]] = {
    types.DOCX: prepare_word,
    types.PPTX: prepare_slides,
    types.ODT: prepare_open_document,
    types.ODP: prepare_open_document,
    types.ODS: prepare_open_document,
}
OFFICE_TYPES: Final = frozenset({types.DOCX, types.PPTX, types.XLSX, types.ODT, types.ODP, types.ODS})
# Headers and footers of slides are the same on each, and say nothing of what a slide is about.
_WITH_MARGINS: Final = frozenset({types.DOCX, types.ODT})


def convert_office(data: bytes, mime_type: str, *, comments: bool) -> NormalizedDocument:
    """Read a document of one of `OFFICE_TYPES`; `comments` says whether reviewers' comments are kept."""
    if mime_type == types.XLSX:
        return convert_sheets(data, comments=comments)
    from docling_core.types.doc.common.content_layer import ContentLayer
    from docling_core.types.doc.labels import DocItemLabel

    from rag_pipeline.normalize.trees.layers import free_from_lists, left_out, mark_comments, order_margins

    prepared = _PREPARE[mime_type](data, comments=comments) if mime_type in _PREPARE else Prepared(data)
    with quiet():
        backend = opened(prepared.data, mime_type)
        _start_no_program(backend)
        tree = backend.convert()
        free_from_lists(tree)
        mark_comments(tree)
        for text in prepared.comments:
            tree.add_text(label=DocItemLabel.TEXT, text=text, content_layer=ContentLayer.NOTES)
        reasons = {ContentLayer.INVISIBLE: HIDDEN}
        if mime_type in _WITH_MARGINS:
            order_margins(tree)
        else:
            reasons[ContentLayer.FURNITURE] = SLIDE_FOOTER
        apart = left_out(tree, reasons)
        document = structure(tree, paged=is_paged(mime_type), margins=mime_type in _WITH_MARGINS)
    removed = (*prepared.removed, *apart)
    lost = _lost(prepared.text, document.markdown, apart)
    warnings = (*prepared.warnings, *notices(removed), *lost, *document.warnings)
    return replace(document, warnings=warnings, removed=removed)


def _lost(text: str, markdown: str, apart: Iterable[Removed]) -> tuple[str, ...]:
    """Warn of text that was lost on the way, and fail where most of it was."""
    share = coverage([text], markdown, [passage.text for passage in apart])
    if share < LEAST_USABLE:
        raise DocumentError(
            FailureCategory.PARTIAL,
            f"Only {share:.0%} of the document's text could be read. Save it anew, or report it.",
        )
    return (f"{1 - share:.0%} of the document's text could not be read",) if share < LEAST_COVERAGE else ()


def _start_no_program(backend: Any) -> None:
    """Keep docling from starting an office program to draw shapes: only text is wanted, and safely so."""
    for kind in ("docx", "pptx"):
        setattr(backend, f"{kind}_to_pdf_converter_init", True)
