"""One document's bytes to normalized Markdown, in this process."""

from dataclasses import replace
from typing import Final

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.archives import check_archive, check_bomb
from rag_pipeline.normalize.detecting import Detected, detect
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.judging import gates
from rag_pipeline.normalize.judging.noticing import notices
from rag_pipeline.normalize.judging.remote import remote_parts
from rag_pipeline.normalize.office.formats import OFFICE_TYPES, convert_office
from rag_pipeline.normalize.office.opening import ModernFile, modern_office
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.pdf.reading import convert_pdf
from rag_pipeline.normalize.scans.images import convert_image
from rag_pipeline.normalize.text_formats import TEXT_TYPES, convert_text
from rag_pipeline.normalize.trees.formats import TREE_TYPES, convert_tree
from rag_pipeline.normalize.web.formats import WEB_TYPES, convert_web

_READ: Final = TREE_TYPES | TEXT_TYPES | WEB_TYPES | types.IMAGES | {types.PDF}
_READABLE: Final = "PDF, Office, OpenDocument, EPUB, HTML, e-mail, text formats and images can be read"


def convert(data: bytes, name: str, options: ParsingOptions) -> NormalizedDocument:
    """Read a document: detect its type, check its limits, convert it, and pass it through the gates.

    `name` is its file name; its extension decides only where the content leaves it open. Raises DocumentError
    with a category and what to do. Nothing but the bytes is read: no network, no other file.
    """
    if len(data) > options.max_bytes:
        raise DocumentError(
            FailureCategory.OVER_LIMIT,
            f"The file has {len(data):,} bytes; {options.max_bytes:,} are allowed. "
            "Split it, or raise `parsing.limits.max_bytes` in the manifest.",
        )
    detected = detect(data, name)
    file = modern_office(data, detected.mime_type, name, options.passwords)
    _refuse_unreadable(file.data, replace(detected, mime_type=file.mime_type))
    document = _converted(file.data, file.mime_type, options)
    gates.check(document, len(file.data))
    return _annotated(document, file, detected)


def _annotated(document: NormalizedDocument, file: ModernFile, detected: Detected) -> NormalizedDocument:
    """The document with the decisions and warnings that concern it as a whole."""
    decisions = [detected.decision, *file.decisions, *document.decisions]
    if parts := remote_parts(file.data, file.mime_type):
        decisions.append(f"{parts} images or other parts that lie elsewhere were not fetched")
    notes = () if detected.note is None else (detected.note,)
    warnings = (*notes, *document.warnings, *notices(document, len(file.data)))
    return replace(document, warnings=tuple(dict.fromkeys(warnings)), decisions=tuple(decisions))


def _converted(data: bytes, mime_type: str, options: ParsingOptions) -> NormalizedDocument:
    try:
        if mime_type in types.ZIP_BASED:
            check_archive(data)
        if mime_type == types.PDF:
            return convert_pdf(data, options)
        if mime_type in types.IMAGES:
            return convert_image(data, options)
        if mime_type in OFFICE_TYPES:
            return convert_office(data, mime_type, comments=options.comments)
        if mime_type in WEB_TYPES:
            return convert_web(data, mime_type)
        return convert_text(data, mime_type) if mime_type in TEXT_TYPES else convert_tree(data, mime_type)
    except (DocumentError, MemoryError):
        raise
    except RecursionError as error:
        raise DocumentError(
            FailureCategory.OVER_LIMIT, "The document is nested too deeply to be read. Flatten or split it."
        ) from error
    except Exception as error:
        raise DocumentError(
            FailureCategory.CONVERSION_FAILED,
            f"The file could not be read as {mime_type} ({type(error).__name__}: {_brief(error)}). "
            "Open it in the program that wrote it, save it anew, and try again.",
        ) from error


def _refuse_unreadable(data: bytes, detected: Detected) -> None:
    mime_type = detected.mime_type
    if mime_type == types.EMPTY:
        raise DocumentError(FailureCategory.EMPTY, "The file has no content.")
    if mime_type in _READ:
        return
    if mime_type in types.ARCHIVES:
        check_bomb(data)
        reason = "Archives are not opened. Unpack it beside the other documents."
    else:
        reason = f"Files of type {mime_type} cannot be read; {_READABLE}."
    if detected.note:
        raise DocumentError(FailureCategory.WRONG_TYPE, f"Note that {detected.note}. {reason}")
    raise DocumentError(FailureCategory.UNSUPPORTED_TYPE, reason)


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
