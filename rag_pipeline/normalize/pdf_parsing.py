"""A PDF's own text, by docling's native parser: lines, words and rules of each page."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.page_text import Line, PageText, Rule

if TYPE_CHECKING:
    from docling_core.types.doc.page import PdfTextCell, SegmentedPdfPage

# Nobody reads text below this height in points; it is put there for machines.
_MIN_HEIGHT: Final = 1.5
_THIN: Final = 3.0
_MIN_RULE: Final = 4.0


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page's text layer: `text` is what can be seen, `unseen` are lines that paint nothing.

    `left_out` counts lines that are too small or off the page. `image_share` is how much of the page its
    largest image covers, 0 to 1.
    """

    text: PageText
    unseen: tuple[Line, ...]
    left_out: int
    image_share: float


class PdfText:
    """The text layer of one PDF. Pages are parsed one at a time and forgotten, so it stays small."""

    def __init__(self, data: bytes, password: str | None) -> None:
        """Raises ValueError or RuntimeError where the parser cannot open the document."""
        from docling_parse.pdf_parser import ContentConfig, ContentLevel, DoclingPdfParser

        self._document = DoclingPdfParser(loglevel="fatal").load(io.BytesIO(data), password=password)
        self._content = ContentConfig(
            char_cells_content_level=ContentLevel.COMPUTE,
            word_cells_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE,
            line_cells_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE,
            shapes_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE,
            bitmaps_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE,
            include_bitmap_bytes=False,  # only their places matter; a bomb is never decoded
        )

    def page(self, number: int) -> ParsedPage:
        """Parse a page, counted from 1. Raises ValueError, RuntimeError or IndexError where it is damaged."""
        page = self._document.get_page(number, content_config=self._content)
        try:
            return _parsed(page, number)
        finally:
            self._document.unload_pages((number, number + 1))


def _parsed(page: "SegmentedPdfPage", number: int) -> ParsedPage:
    width, height = page.dimension.width, page.dimension.height
    seen, unseen, left_out = [], [], 0
    for cell, line in _lines(page.textline_cells, height):
        if line.height < _MIN_HEIGHT or not _on_page(line.box, width, height):
            left_out += 1
        elif _invisible(cell):
            unseen.append(line)
        else:
            seen.append(line)
    words = tuple(line for cell, line in _lines(page.word_cells, height) if not _invisible(cell))
    rules = tuple(
        rule for shape in page.shapes for rule in _rules([(x, height - y) for x, y in shape.points])
    )
    images = (bitmap.rect.to_bounding_box() for bitmap in page.bitmap_resources)
    share = max((abs(image.width * image.height) for image in images), default=0.0) / max(width * height, 1.0)
    return ParsedPage(PageText(number, tuple(seen), words, rules), tuple(unseen), left_out, min(share, 1.0))


def _lines(cells: Iterable[Any], height: float) -> "Iterator[tuple[PdfTextCell, Line]]":
    for cell in cells:
        if cell.text.strip():
            box = cell.rect.to_top_left_origin(height).to_bounding_box()
            yield cell, Line(cell.text, (box.l, box.t, box.r, box.b), bold="bold" in cell.font_name.lower())


def _on_page(box: Box, width: float, height: float) -> bool:
    return box[2] > 0 and box[3] > 0 and box[0] < width and box[1] < height


def _invisible(cell: "PdfTextCell") -> bool:
    from docling_core.types.doc.page import PdfCellRenderingMode

    return cell.rendering_mode in (PdfCellRenderingMode.INVISIBLE, PdfCellRenderingMode.ONLY_CLIPPING)


def _rules(points: list[tuple[float, float]]) -> Iterator[Rule]:
    """The straight strokes of a path; a thin box is one stroke."""
    if not points:
        return
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
    if bottom - top < _THIN < right - left:
        yield Rule(True, (top + bottom) / 2, left, right)
        return
    if right - left < _THIN < bottom - top:
        yield Rule(False, (left + right) / 2, top, bottom)
        return
    for (x0, y0), (x1, y1) in pairwise(points):
        if abs(y0 - y1) < 1 and abs(x0 - x1) > _MIN_RULE:
            yield Rule(True, y0, min(x0, x1), max(x0, x1))
        elif abs(x0 - x1) < 1 and abs(y0 - y1) > _MIN_RULE:
            yield Rule(False, x0, min(y0, y1), max(y0, y1))
