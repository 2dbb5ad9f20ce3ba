"""Reading a born-digital PDF of 200 pages, beside docling's native pipeline on the same core."""

import io
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, at_most, noted
from benchmarks.material import data_root
from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.sources.manifest import OcrMode

_PAGES: Final = 200
_REPEATS: Final = 3
_MOST: Final = 2.0
# Some pages' fonts give no usable text. docling's native pipeline reads none by OCR, so neither do we.
_OPTIONS: Final = ParsingOptions(ocr=OcrMode.NEVER)


def measure(folder: Path) -> Iterator[Figure]:
    """Structure rebuilt, against text lines in the parser's order; each the least of three runs."""
    book = folder / "book.pdf"
    _bind(book)
    ours, bare = (min(_on_one_core(run, book) for _ in range(_REPEATS)) for run in (_ours, _native))
    yield noted(f"{_PAGES} pages, structure rebuilt", f"{ours:.2f} s")
    yield noted(f"{_PAGES} pages, docling's native pipeline without images", f"{bare:.2f} s")
    yield at_most("ours over docling's", ours / bare, _MOST, " x")


def _bind(book: Path) -> None:
    """Write a PDF of the born-digital test documents' pages, over and over."""
    import pypdfium2

    bound = pypdfium2.PdfDocument.new()
    while len(bound) < _PAGES:
        for path in sorted((data_root() / "documents" / "pdf").glob("*.pdf")):
            pages = pypdfium2.PdfDocument(path)
            bound.import_pages(pages, list(range(min(len(pages), _PAGES - len(bound)))))
    bound.save(book)


def _on_one_core(run: Callable[[Path], float], book: Path) -> float:
    """Seconds of a run in a process of its own, bound to one core from its start."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(run, book, sending))
    process.start()
    sending.close()
    try:
        seconds: float = receiving.recv()
    finally:
        process.join()
    return seconds


def _report(run: Callable[[Path], float], book: Path, sending: Connection) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sending.send(run(book))


def _ours(book: Path) -> float:
    data = book.read_bytes()
    convert(_first_page(), "warm.pdf", _OPTIONS)
    started = time.perf_counter()
    convert(data, book.name, _OPTIONS)
    return time.perf_counter() - started


def _native(book: Path) -> float:
    from docling.datamodel.base_models import DocumentStream, InputFormat
    from docling.datamodel.pipeline_options import NativePdfPipelineOptions
    from docling.document_converter import DocumentConverter, NativePdfFormatOption

    options = NativePdfPipelineOptions(generate_page_images=False, generate_picture_images=False)
    form = NativePdfFormatOption(pipeline_options=options)
    converter = DocumentConverter(allowed_formats=[InputFormat.PDF], format_options={InputFormat.PDF: form})
    converter.convert(DocumentStream(name="warm.pdf", stream=io.BytesIO(_first_page())))
    started = time.perf_counter()
    converter.convert(book)
    return time.perf_counter() - started


def _first_page() -> bytes:
    """A small PDF that loads what a first conversion loads."""
    return (data_root() / "documents" / "pdf" / "multi_page.pdf").read_bytes()
