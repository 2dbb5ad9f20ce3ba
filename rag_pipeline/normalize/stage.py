"""The normalizing stage of a source: every listed document becomes an artifact or a failure."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from rag_pipeline.artifacts import ArtifactStore, artifact_key
from rag_pipeline.errors import DocumentError
from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.office.legacy import office_program
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.worker_process import convert_document
from rag_pipeline.normalize.workers import ConversionResult, ConvertDocument, Converter
from rag_pipeline.sources.document import RawDocument
from rag_pipeline.sources.manifest import CommentMode, Manifest, Parsing

VERSION: Final = 3
"""Raise it when the same bytes give another Markdown: every document is then converted anew."""

# Results that need no conversion are handed on at least this often.
_MOST_SETTLED: Final = 1_000


@dataclass(frozen=True, slots=True)
class NormalizedResult:
    """What became of one document: stored under `artifact_key`, or failed with `error`.

    `reused` says that an earlier run stored it. `seconds` is the conversion's wall time, `characters` the
    length of the Markdown, `pages` None where the format has none.
    """

    document: RawDocument
    artifact_key: str | None = None
    error: DocumentError | None = None
    reused: bool = False
    seconds: float = 0.0
    title: str | None = None
    characters: int = 0
    pages: int | None = None
    warnings: tuple[str, ...] = ()


def normalized_key(document: RawDocument, parsing: Parsing) -> str:
    """The artifact key of a document's normalized form: the same bytes read the same way share it."""
    by_ocr = document.mime_type == types.PDF or document.mime_type in types.IMAGES
    office = types.LEGACY_OFFICE | types.ZIP_BASED | {types.ENCRYPTED_OFFICE}
    return artifact_key(
        "normalized",
        VERSION,
        document.content_hash,
        document.mime_type,
        types.extension(document.path),
        parsing.ocr.value if by_ocr else None,
        parsing.comments.value if document.mime_type in office else None,
    )


def keys_of(document: RawDocument, parsing: Parsing) -> tuple[str, str]:
    """The keys of all that is stored of a normalized document."""
    key = normalized_key(document, parsing)
    return key, summary_key(key)


def attempt_key(document: RawDocument, parsing: Parsing) -> str:
    """What a failure to normalize a document depends on: its input, the limits and the passwords named.

    Another limit or variable makes another key, so that the document is tried again by itself, and so does
    LibreOffice where a document needs it. Only the names of the variables are part of it.
    """
    legacy = document.mime_type in types.LEGACY_OFFICE
    return artifact_key(
        "attempt",
        VERSION,
        normalized_key(document, parsing),
        parsing.limits.model_dump(),
        parsing.password_env,
        office_program() is not None if legacy else None,
    )


def summary_key(key: str) -> str:
    """The key of the few facts that are kept beside a normalized document."""
    return key.removesuffix(".json") + ".summary.json"


def document_title(document: RawDocument, read: str | None) -> str:
    """What a document is called: what is said of it, else the title `read` in it, else its file's name."""
    return document.facts.title or read or PurePosixPath(document.path).stem


def stored_summary(artifacts: ArtifactStore, key: str) -> dict[str, Any] | None:
    """The few facts kept beside the document that is stored under `key`; None where there are none."""
    summary: dict[str, Any] | None = artifacts.read(summary_key(key))
    return summary


def parsing_options(manifest: Manifest, *, passwords: Sequence[str], workers: int) -> ParsingOptions:
    """How a source's documents are read; OCR gets the processor cores that `workers` leave."""
    limits = manifest.parsing.limits
    return ParsingOptions(
        ocr=manifest.parsing.ocr,
        passwords=tuple(passwords),
        comments=manifest.parsing.comments is CommentMode.KEEP,
        max_bytes=limits.max_bytes,
        max_pages=limits.max_pages,
        ocr_threads=max(1, (os.cpu_count() or 1) // workers),
    )


def normalize_source(
    documents: Iterable[RawDocument],
    *,
    manifest: Manifest,
    passwords: Sequence[str],
    workers: int,
    artifacts: ArtifactStore,
    known_failure: Callable[[RawDocument], DocumentError | None],
    advance: Callable[[], None],
    convert: ConvertDocument = convert_document,
) -> Iterator[NormalizedResult]:
    """Normalize a source's documents in worker processes, yielding one result a document as they are done.

    A document that is stored already is not converted again, nor is one for which `known_failure` gives the
    permanent failure of the same attempt (`attempt_key`). An artifact is stored before its result is yielded.
    `passwords` are the values of the variables that the manifest names. `advance` is called once a
    document.
    """
    limits = manifest.parsing.limits
    settled: deque[NormalizedResult] = deque()
    waiting = iter(documents)
    exhausted = False

    def unsettled() -> Iterator[RawDocument]:
        nonlocal exhausted
        for document in waiting:
            result = _settled(document, manifest.parsing, artifacts, known_failure)
            if result is None:
                yield document
                continue
            advance()
            settled.append(result)
            if len(settled) >= _MOST_SETTLED:
                return
        exhausted = True

    with Converter(
        options=parsing_options(manifest, passwords=passwords, workers=workers),
        workers=workers,
        timeout_seconds=limits.timeout_seconds,
        memory_mb=limits.memory_mb,
        convert=convert,
    ) as converter:
        while not exhausted:
            for conversion in converter.convert_all(unsettled()):
                result = _stored(conversion, manifest.parsing, artifacts)
                advance()
                yield result
                while settled:
                    yield settled.popleft()
            while settled:
                yield settled.popleft()


def _settled(
    document: RawDocument,
    parsing: Parsing,
    artifacts: ArtifactStore,
    known_failure: Callable[[RawDocument], DocumentError | None],
) -> NormalizedResult | None:
    """The result of a document that needs no conversion, or None."""
    if error := known_failure(document):
        return NormalizedResult(document, error=error)
    key = normalized_key(document, parsing)
    summary = stored_summary(artifacts, key)
    # The summary is written last, but the document may have been deleted since.
    if summary is None or not artifacts.exists(key):
        return None
    return NormalizedResult(
        document,
        artifact_key=key,
        reused=True,
        title=summary["title"],
        characters=summary["characters"],
        pages=summary["pages"],
        warnings=tuple(summary["warnings"]),
    )


def _stored(conversion: ConversionResult, parsing: Parsing, artifacts: ArtifactStore) -> NormalizedResult:
    normalized = conversion.normalized
    if normalized is None:
        return NormalizedResult(conversion.document, error=conversion.error, seconds=conversion.seconds)
    key = normalized_key(conversion.document, parsing)
    artifacts.write(key, normalized.to_json())
    artifacts.write(summary_key(key), _summary(normalized))
    return NormalizedResult(
        conversion.document,
        artifact_key=key,
        seconds=conversion.seconds,
        title=normalized.title,
        characters=len(normalized.markdown),
        pages=normalized.page_count,
        warnings=normalized.warnings,
    )


def _summary(normalized: NormalizedDocument) -> dict[str, Any]:
    return {
        "title": normalized.title,
        "characters": len(normalized.markdown),
        "pages": normalized.page_count,
        "warnings": list(normalized.warnings),
    }
