"""Normalizing files outside any source: `rag-pipeline normalize FILE… --out DIR`."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rag_pipeline.errors import ConfigurationError, DocumentError, FailureCategory
from rag_pipeline.normalize.detecting import detect
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.page_view import page_images, page_view
from rag_pipeline.normalize.worker_process import convert_document
from rag_pipeline.normalize.workers import ConversionResult, Converter
from rag_pipeline.sources.document import DocumentFacts, RawDocument
from rag_pipeline.sources.listing import read_document
from rag_pipeline.sources.manifest import Limits


def normalize_files(
    paths: Sequence[Path],
    out_dir: Path | None,
    *,
    views: bool = False,
    options: ParsingOptions,
    workers: int,
    limits: Limits,
) -> Iterator[ConversionResult]:
    """Yield each file's result as they are done, having written `out_dir/<file name>.md`, if there is one.

    With `views`, a web page that shows how the file was read stands beside it. Raises ConfigurationError
    before anything is written where a file is missing or two have the same name.
    """
    names = [path.name for path in paths]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigurationError(
            f"Two files are named {twice}; both would become {twice}.md. Run them one by one."
        )
    for path in paths:
        if not path.is_file():
            raise ConfigurationError(f"{path} is not a file.")
    if out_dir:
        out_dir.mkdir(parents=True, exist_ok=True)
    convert = partial(_convert_with_view, folder=out_dir) if out_dir and views else convert_document
    with Converter(
        options=options,
        workers=workers,
        timeout_seconds=limits.timeout_seconds,
        memory_mb=limits.memory_mb,
        convert=convert,
    ) as converter:
        for result in converter.convert_all(map(listed_file, paths)):
            if result.normalized and out_dir:
                (out_dir / f"{result.document.path}.md").write_text(
                    result.normalized.markdown, encoding="utf-8"
                )
            yield result


def _convert_with_view(document: RawDocument, options: ParsingOptions, *, folder: Path) -> NormalizedDocument:
    """Convert and draw, both in the worker: rendering a hostile page is as risky as reading it."""
    normalized = convert_document(document, options)
    images = page_images(read_document(document), document.mime_type, options.passwords)
    view = page_view(document.path, normalized, images)
    (folder / f"{document.path}.html").write_text(view, encoding="utf-8")
    return normalized


def listed_file(path: Path) -> RawDocument:
    """A local file as a document of no source: its id and path are its name, and nobody has access to it."""
    data = path.read_bytes()
    return RawDocument(
        document_id=path.name,
        source_id="",
        path=path.name,
        url=str(path.resolve()),
        size=len(data),
        content_hash=hashlib.sha256(data).hexdigest(),
        mime_type=detect(data, path.name).mime_type,
        facts=DocumentFacts(),
    )


def convert_file(path: Path, *, options: ParsingOptions, limits: Limits) -> NormalizedDocument:
    """One file's normalized form, converted in a worker as indexing would; raises its DocumentError."""
    with Converter(
        options=options, workers=1, timeout_seconds=limits.timeout_seconds, memory_mb=limits.memory_mb
    ) as converter:
        (result,) = converter.convert_all([listed_file(path)])
    if result.normalized is None:
        raise result.error or DocumentError(FailureCategory.CONVERSION_FAILED, f"{path} gave no text.")
    return result.normalized
