"""A PDF's own text, by docling's native parser: words and rules of each page, the outline of the whole."""

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from rag_pipeline.normalize.layout.page_text import PageText, Rule
from rag_pipeline.normalize.layout.words import Word, font_name, lines_of, word_line

_THIN: Final = 3.0
_MIN_RULE: Final = 4.0
# More strokes than any page of text has make a drawing; only its first ones are looked at.
_MOST_STROKES: Final = 50_000
# Text render modes of PDF that paint nothing: 3 is invisible, 7 only clips what follows.
_PAINTS_NOTHING: Final = frozenset({3, 7})
_KEY: Final = "document"


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page's text layer: `seen` are the words that are painted, `unseen` those that are not.

    `image_share` is how much of the page its largest image covers, 0 to 1.
    """

    number: int
    seen: tuple[Word, ...]
    unseen: tuple[Word, ...]
    rules: tuple[Rule, ...]
    image_share: float
    width: float
    height: float

    def text(self, words: Sequence[Word]) -> PageText:
        """The page with some of its words put together to lines."""
        return PageText(
            self.number,
            tuple(lines_of(words)),
            tuple(word_line(word) for word in words if not word.angle),
            self.rules,
            width=self.width,
            height=self.height,
        )


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of a document's outline: its title, how deep it is nested (from 1), and its page if known."""

    title: str
    depth: int
    page: int | None


class PdfText:
    """The text layer of one PDF. Pages are parsed one at a time and forgotten, so it stays small.

    docling-parse's own page objects are not used: making them takes four times as long as parsing the page.
    """

    def __init__(self, data: bytes, password: str | None) -> None:
        """Raises ValueError or RuntimeError where the parser cannot open the document."""
        from docling_parse.pdf_parsers import DecodePageConfig, pdf_parser

        self._parser = pdf_parser(level="fatal")
        opened = self._parser.load_document_from_bytesio(
            key=_KEY, bytes_io=io.BytesIO(data), password=password, keep_qpdf_warnings=False
        )
        if not opened:
            raise ValueError("the parser cannot open the document")
        self._config = DecodePageConfig()
        self._config.page_boundary = "crop_box"
        self._config.create_line_cells = False
        self._config.extract_bitmap_pixels = False  # only their places matter; a bomb is never decoded

    def page(self, number: int) -> ParsedPage:
        """Parse a page, counted from 1. Raises ValueError, RuntimeError or IndexError where it is damaged."""
        decoder = self._parser.get_page_decoder(key=_KEY, page=number - 1, config=self._config)
        if decoder is None:
            raise ValueError(f"page {number} cannot be parsed")
        try:
            return _parsed(decoder, number)
        finally:
            self._parser.unload_document_page(key=_KEY, page=number - 1)

    def outline(self) -> list[Bookmark]:
        """The document's bookmarks in their order; empty where there are none."""
        annotations = self._parser.get_annotations(key=_KEY) or {}
        return list(_bookmarks(annotations.get("table_of_contents") or [], 1))


def _bookmarks(entries: Iterable[dict[str, Any]], depth: int) -> Iterator[Bookmark]:
    for entry in entries:
        destination = entry.get("destination") or {}
        page = destination.get("page_no")
        yield Bookmark(" ".join(str(entry.get("title", "")).split()), depth, page)
        yield from _bookmarks(entry.get("children") or [], depth + 1)


def _parsed(decoder: Any, number: int) -> ParsedPage:
    left, bottom, right, top = decoder.get_page_dimension().get_crop_bbox()
    width, height = abs(right - left), abs(top - bottom)
    seen: list[Word] = []
    unseen: list[Word] = []
    for cell in decoder.get_word_cells():
        if cell.text.strip():
            (unseen if cell.rendering_mode in _PAINTS_NOTHING else seen).append(_word(cell, height))
    rules: list[Rule] = []
    for shape in decoder.get_page_shapes():
        xs, ys, ends = shape.get_x(), shape.get_y(), shape.get_i()
        for first, last in zip(ends[::2], ends[1::2], strict=False):
            rules += _rules([(xs[n], height - ys[n]) for n in range(first, last)])
        if len(rules) > _MOST_STROKES:
            break
    images = (abs((i.x1 - i.x0) * (i.y1 - i.y0)) for i in decoder.get_page_images() if i.is_visible)
    share = max(images, default=0.0) / max(width * height, 1.0)
    return ParsedPage(number, tuple(seen), tuple(unseen), tuple(rules), min(share, 1.0), width, height)


def _word(cell: Any, height: float) -> Word:
    x0, y0, x1, y1, x2, y2, x3, y3 = (
        cell.r_x0, cell.r_y0, cell.r_x1, cell.r_y1, cell.r_x2, cell.r_y2, cell.r_x3, cell.r_y3,
    )  # fmt: skip
    angle = 0
    if abs(y1 - y0) > 0.01 or x1 < x0:
        angle = round(math.degrees(math.atan2(y1 - y0, x1 - x0))) % 360
    box = (
        min(x0, x1, x2, x3),
        height - max(y0, y1, y2, y3),
        max(x0, x1, x2, x3),
        height - min(y0, y1, y2, y3),
    )
    vertical = cell.enc_name.endswith("V") and angle == 0
    return Word(cell.text.strip(), box, font_name(cell.font_name), cell.space_width, angle, vertical)


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
