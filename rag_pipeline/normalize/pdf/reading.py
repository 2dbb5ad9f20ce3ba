"""Reading a PDF: its own text where that is usable, OCR for the pages where it is not."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.assembling import assemble
from rag_pipeline.normalize.document import NormalizedDocument, Removed
from rag_pipeline.normalize.judging.coverage import LEAST_COVERAGE, LEAST_USABLE, coverage
from rag_pipeline.normalize.judging.gates import garbled
from rag_pipeline.normalize.layout.page_text import PageText
from rag_pipeline.normalize.layout.structure import structured
from rag_pipeline.normalize.layout.words import Word
from rag_pipeline.normalize.markdown.blocks import first_title
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.pdf.damage import damage_of
from rag_pipeline.normalize.pdf.dangers import draws_itself, packed_as_images
from rag_pipeline.normalize.pdf.layer import Layer, shown_text
from rag_pipeline.normalize.pdf.parsing import Bookmark, ParsedPage, PdfText
from rag_pipeline.normalize.pdf.passwords import password_forms
from rag_pipeline.normalize.pdf.visibility import unseen_words
from rag_pipeline.normalize.scans.placement import Placement, placed_back
from rag_pipeline.normalize.scans.reading import read_scanned_page
from rag_pipeline.sources.manifest import OcrMode

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

# A page with less text than this under an image that fills it is a scan with a stamp.
_FEW_CHARACTERS: Final = 50
_MOST_OF_PAGE: Final = 0.6
# Text has more letters and digits than this share of its signs; leaders of a table of contents do not count.
_LEAST_LETTERS: Final = 0.4
_LEADERS: Final = frozenset("._-·…•*=|")


@dataclass
class _Reading:
    """What has been read of a document so far."""

    pages: list[PageText] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    warnings: dict[str, None] = field(default_factory=dict)  # ordered, each once
    decisions: list[str] = field(default_factory=list)
    removed: list[Removed] = field(default_factory=list)
    layer: list[str] = field(default_factory=list)  # the text layer of the pages that were read by it
    outline: list[Bookmark] = field(default_factory=list)
    placements: dict[int, Placement] = field(default_factory=dict)  # of the pages that OCR read

    def warn(self, text: str) -> None:
        self.warnings[text] = None


def convert_pdf(data: bytes, options: ParsingOptions) -> NormalizedDocument:
    """Read a PDF page by page. Raises DocumentError where it is encrypted, too long or (partly) damaged."""
    if draws_itself(data):
        raise DocumentError(
            FailureCategory.CORRUPT, "The PDF draws a part of a page inside itself. Export it anew."
        )
    with opened(data, options.passwords) as (document, password):
        count = len(document)
        if count > options.max_pages:
            raise DocumentError(
                FailureCategory.OVER_LIMIT,
                f"The PDF has {count:,} pages; {options.max_pages:,} are allowed. "
                "Split it, or raise `parsing.limits.max_pages` in the manifest.",
            )
        reading = _Reading()
        if damage := damage_of(data, count):
            reading.warn(f"the PDF is damaged ({damage}); some of its text may be missing")
        if packed := packed_as_images(data):
            reading.warn(f"{packed} parts of the PDF are packed as images, but are none; they were not read")
        text = _text_layer(data, password, reading)
        for number in range(1, count + 1):
            _read_page(number, text, document, options, reading)
    if reading.failed:
        pages = ", ".join(map(str, reading.failed[:10]))
        everything = len(reading.failed) == count
        raise DocumentError(
            FailureCategory.CORRUPT if everything else FailureCategory.PARTIAL,
            f"{len(reading.failed)} of {count} pages are damaged (page {pages}). Export the PDF anew.",
        )
    structure = placed_back(structured(reading.pages, reading.outline), reading.placements)
    markdown, blocks = assemble(structure.pieces)
    removed = (*reading.removed, *structure.removed)
    _check_coverage(reading, markdown, removed)
    return NormalizedDocument(
        markdown,
        blocks,
        first_title(markdown, blocks),
        count,
        tuple(reading.warnings),
        tuple(reading.decisions),
        removed,
    )


def _check_coverage(reading: _Reading, markdown: str, removed: Sequence[Removed]) -> None:
    """Warn of text that was lost on the way, and fail where most of it was."""
    share = coverage(reading.layer, markdown, [item.text for item in removed])
    if share < LEAST_USABLE:
        raise DocumentError(
            FailureCategory.PARTIAL,
            f"Only {share:.0%} of the PDF's text could be put in order. Export it anew, or report it.",
        )
    if share < LEAST_COVERAGE:
        reading.warn(f"{1 - share:.0%} of the PDF's text could not be put in order and is missing")


@contextmanager
def opened(data: bytes, passwords: Sequence[str]) -> "Iterator[tuple[PdfDocument, str | None]]":
    """The document by pdfium, which repairs most damage, and the password that opened it."""
    import pypdfium2
    from pypdfium2.raw import FPDF_ERR_PASSWORD

    for password in (None, *password_forms(passwords)):
        try:
            document = pypdfium2.PdfDocument(data, password=password)
        except pypdfium2.PdfiumError as error:
            if error.err_code == FPDF_ERR_PASSWORD:
                continue
            raise DocumentError(
                FailureCategory.CORRUPT, f"The PDF is damaged and cannot be opened ({error}). Export it anew."
            ) from error
        try:
            yield document, password
        finally:
            document.close()
        return
    if b"/Encrypt" not in data:  # which every encrypted PDF says in its trailer
        raise DocumentError(
            FailureCategory.CORRUPT, "The PDF is damaged and cannot be opened. Export it anew."
        )
    tried = f"none of the {len(passwords)} given passwords opens it" if passwords else "it needs a password"
    raise DocumentError(
        FailureCategory.ENCRYPTED,
        f"The PDF is encrypted: {tried}. Name an environment variable that holds the password in "
        "`parsing.password_env` of the source's manifest, or save the PDF without one.",
    )


def _text_layer(data: bytes, password: str | None, reading: _Reading) -> PdfText | None:
    try:
        text = PdfText(data, password)
        reading.outline = text.outline()
        return text
    except (RuntimeError, ValueError):
        reading.warn("the PDF is damaged: its text could not be read, only its pages' images")
        return None


def _read_page(
    number: int, text: PdfText | None, document: "PdfDocument", options: ParsingOptions, reading: _Reading
) -> None:
    parsed = _parse(text, number) if text else None
    layer = _shown(parsed, document) if parsed else Layer(PageText(number, ()))
    page = layer.page
    unreadable = _unreadable(page)
    wanted = options.ocr is OcrMode.AUTO and (unreadable or _is_scan(page, parsed))
    if wanted or options.ocr is OcrMode.ALWAYS:
        recognized = _recognized(document, number, options.ocr_threads, reading)
        if recognized.lines:
            if unreadable:
                reading.warn(f"page {number}: its text layer is no readable text; OCR read its image instead")
            reading.pages.append(recognized)
            return
    if unreadable:
        reading.warn(f"page {number}: its text layer is no readable text")
    if parsed is None:
        reading.failed.append(number)
    for warning in layer.warnings:
        reading.warn(warning)
    reading.decisions += layer.decisions
    reading.removed += layer.removed
    if page.lines:
        reading.pages.append(page)
        reading.layer += [word.text for word in page.words]


def _shown(parsed: ParsedPage, document: "PdfDocument") -> Layer:
    import pypdfium2

    def unseen(words: Sequence[Word]) -> set[int]:
        try:
            return unseen_words(document[parsed.number - 1], words)
        except pypdfium2.PdfiumError:
            return set()

    return shown_text(parsed, unseen)


def _parse(text: PdfText, number: int) -> ParsedPage | None:
    try:
        return text.page(number)
    except (RuntimeError, ValueError, IndexError, MemoryError):
        # The parser runs out of memory on forms that contain themselves, and has freed it by now.
        return None


def _unreadable(page: PageText) -> bool:
    """Whether a page's text layer is no text: its fonts do not tell which letters their glyphs are."""
    text = "".join(line.text for line in page.lines)
    visible = [char for char in text if not char.isspace() and char not in _LEADERS]
    letters = sum(char.isalnum() for char in visible)
    unnamed = text.count("GLYPH<") * 10 > letters
    return bool(garbled(text)) or unnamed or letters < _LEAST_LETTERS * len(visible)


def _is_scan(page: PageText, parsed: ParsedPage | None) -> bool:
    """Whether a page has no text of its own, or no more than a stamp on an image that fills it."""
    characters = sum(char.isalnum() for line in page.lines for char in line.text)
    few = characters < _FEW_CHARACTERS and parsed is not None and parsed.image_share >= _MOST_OF_PAGE
    return not characters or few


def _recognized(document: "PdfDocument", number: int, threads: int, reading: _Reading) -> PageText:
    import pypdfium2

    try:
        scan = read_scanned_page(document[number - 1], number, threads=threads)
    except pypdfium2.PdfiumError:
        return PageText(number, ())
    for warning in scan.warnings:
        reading.warn(warning)
    reading.decisions += scan.decisions
    if scan.text.lines and scan.placement:
        reading.placements[number] = scan.placement
    return scan.text
