"""Reading a PDF page that has no usable text: it is rendered, and OCR reads the picture."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_pipeline.normalize.ocr import LOW_CONFIDENCE, recognize
from rag_pipeline.normalize.page_text import PageText

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage

# rapidocr scales larger images down to 2,000 pixels a side: an A4 page has 1,754 at this resolution.
_DPI: Final = 150
# A sheet of A2 at that resolution; larger pages are rendered coarser.
_MAX_PIXELS: Final = 9_000_000


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """What OCR read on a page, what a reader should know about it, and how it was read."""

    text: PageText
    warnings: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


def read_scanned_page(page: "PdfPage", number: int, *, threads: int) -> ScannedPage:
    """Read a page by OCR; boxes are in points. Raises PdfiumError where the page cannot be rendered."""
    image = _render(page)
    darkest, lightest = image.convert("L").getextrema()
    if darkest == lightest:
        return ScannedPage(PageText(number, ()), decisions=(f"page {number}: blank",))
    result = recognize(image, threads=threads)
    warnings: tuple[str, ...] = ()
    if result.lines and result.confidence < LOW_CONFIDENCE:
        warnings = (f"page {number}: read by OCR with low confidence ({result.confidence:.2f})",)
    points = page.get_width() / image.width
    lines = tuple(replace(line, box=_scaled(line.box, points)) for line in result.lines)
    decision = f"page {number}: read by OCR, confidence {result.confidence:.2f}"
    return ScannedPage(PageText(number, lines, scanned=True), warnings, (decision,))


def _render(page: "PdfPage") -> "Image":
    width, height = page.get_size()
    scale = min(_DPI / 72, math.sqrt(_MAX_PIXELS / max(width * height, 1.0)))
    image: Image = page.render(scale=scale).to_pil()
    return image


def _scaled(box: tuple[float, float, float, float], factor: float) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    return left * factor, top * factor, right * factor, bottom * factor
