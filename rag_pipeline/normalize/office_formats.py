"""Office and OpenDocument files: what no reader sees is taken out, docling reads the rest."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Protocol

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.document import NormalizedDocument, Removed
from rag_pipeline.normalize.prepared import Prepared
from rag_pipeline.normalize.structuring import structure
from rag_pipeline.normalize.tree_formats import is_paged, opened, quiet
from rag_pipeline.normalize.word_reading import COMMENT, PAGE_NUMBER, prepare_word
from rag_pipeline.normalize.word_revisions import REVISION

HIDDEN: Final = "hidden in the program that wrote it"
SLIDE_FOOTER: Final = "footer of a slide"


class _Prepare(Protocol):
    def __call__(self, data: bytes, *, comments: bool) -> Prepared: ...


_PREPARE: Final[dict[str, _Prepare]] = {types.DOCX: prepare_word}
OFFICE_TYPES: Final = frozenset({types.DOCX, types.PPTX, types.XLSX, types.ODT, types.ODP, types.ODS})
# What every reader would leave out, too, or what the manifest asks to leave out.
_UNREMARKABLE: Final = frozenset({PAGE_NUMBER, SLIDE_FOOTER, COMMENT, REVISION})
# Headers and footers of slides are the same on each, and say nothing of what a slide is about.
_WITH_MARGINS: Final = frozenset({types.DOCX, types.ODT})


def convert_office(data: bytes, mime_type: str, *, comments: bool) -> NormalizedDocument:
    """Read a document of one of `OFFICE_TYPES`; `comments` says whether reviewers' comments are kept."""
    from docling_core.types.doc.common.content_layer import ContentLayer

    from rag_pipeline.normalize.tree_layers import left_out, order_margins

    prepared = _PREPARE[mime_type](data, comments=comments) if mime_type in _PREPARE else Prepared(data)
    with quiet():
        backend = opened(prepared.data, mime_type)
        _start_no_program(backend)
        tree = backend.convert()
        reasons = {ContentLayer.INVISIBLE: HIDDEN}
        if mime_type in _WITH_MARGINS:
            order_margins(tree)
        else:
            reasons[ContentLayer.FURNITURE] = SLIDE_FOOTER
        removed = (*prepared.removed, *left_out(tree, reasons))
        document = structure(tree, paged=is_paged(mime_type), margins=mime_type in _WITH_MARGINS)
    return replace(
        document,
        warnings=(*prepared.warnings, *_notices(removed), *document.warnings),
        removed=removed,
    )


def _start_no_program(backend: Any) -> None:
    """Keep docling from starting an office program to draw shapes: only text is wanted, and safely so."""
    for kind in ("docx", "pptx", "xlsx"):
        setattr(backend, f"{kind}_to_pdf_converter_init", True)


def _notices(removed: Iterable[Removed]) -> list[str]:
    """What a reader should know of the passages that were left out although the file holds them."""
    counts = Counter(passage.reason for passage in removed if passage.reason not in _UNREMARKABLE)
    return [
        f"{count} passages were left out: {reason}" if count > 1 else f"a passage was left out: {reason}"
        for reason, count in counts.items()
    ]
