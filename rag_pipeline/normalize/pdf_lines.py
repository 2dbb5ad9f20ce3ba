"""Rebuilding headings, paragraphs, lists and tables from the lines of a page. Pure functions over boxes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from rag_pipeline.normalize.assembling import Piece, placed
from rag_pipeline.normalize.document import BlockKind
from rag_pipeline.normalize.page_text import Line, PageText, around, centre
from rag_pipeline.normalize.pdf_tables import Table, ruled_tables

# Text this much larger than a document's body text is a heading.
_HEADING_SIZE: Final = 1.18
# OCR's boxes vary with the letters in them.
_SCANNED_HEADING_SIZE: Final = 1.5
_MAX_HEADING: Final = 200
# The distance from line to line within a paragraph, in line heights, ends somewhere between these.
_LEAST_SPACING: Final = 1.9
_MOST_SPACING: Final = 4.0
_BULLET: Final = re.compile(r"^[•◦‣▪▫●○■□–—·\uf0b7\uf0a7*-]\s+(?=\S)")
_NUMBERED: Final = re.compile(r"^(?:\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_MARKDOWN_START: Final = re.compile(r"^(?=[#>+|]|[-*+]\s|\d+[.)]\s|```|~~~)")
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_ENDS_IN_CJK: Final = re.compile(f"[{_CJK}]$")
_STARTS_WITH_CJK: Final = re.compile(f"^[{_CJK}]")
_HYPHENATED: Final = re.compile(r"\w[\u2010-]$")


def page_pieces(pages: Sequence[PageText]) -> Iterator[Piece]:
    """The blocks of a document's pages in reading order, each with its page and box.

    Lines must come in reading order; a table stands where its first line did. Headings are told by size
    against the body text of all pages, bold lines that stand alone included; larger text gets a higher
    level.
    """
    body = _body_height(line for page in pages for line in page.lines)
    levels = _heading_levels(pages, body)
    spacing = _line_spacing(pages)
    for page in pages:
        least = body * _least(page)
        tables = ruled_tables(page)
        for group in _groups(page.lines, tables, spacing):
            if isinstance(group, Table):
                yield placed(BlockKind.TABLE, group.markdown, page.number, group.box)
            else:
                yield from _text_piece(group, page.number, least, levels)


def join_lines(texts: Iterable[str]) -> str:
    """Lines of one paragraph as running text: hyphens at line ends undone, Chinese joined tightly."""
    joined = ""
    for text in texts:
        text = " ".join(text.split())
        if not joined:
            joined = text
        elif _HYPHENATED.search(joined) and text[:1].islower():
            joined = joined[:-1] + text
        elif _ENDS_IN_CJK.search(joined) and _STARTS_WITH_CJK.search(text):
            joined += text
        else:
            joined += " " + text
    return joined


def _body_height(lines: Iterable[Line]) -> float:
    """The height of the document's body text: that of its middle character."""
    heights = [line.height for line in lines for _ in range(0, max(len(line.text), 1), 8)]
    return median(heights) if heights else 0.0


def _line_spacing(pages: Sequence[PageText]) -> float:
    """Up to which distance from line to line, in line heights, lines form one paragraph.

    A little over the document's own narrow distance: fonts that do not tell their height make flat boxes, and
    no fixed figure fits all.
    """
    distances = sorted(
        distance
        for page in pages
        for above, line in pairwise(page.lines)
        if 0.5 < (distance := _distance(above, line)) < _MOST_SPACING and _overlap(above, line) > 0
    )
    narrow = distances[len(distances) // 4] if distances else 0.0
    return min(max(narrow * 1.3, _LEAST_SPACING), _MOST_SPACING)


def _distance(above: Line, line: Line) -> float:
    """From one line's bottom to the next one's, in line heights: close to the distance of their baselines."""
    return (line.box[3] - above.box[3]) / max(above.height, line.height, 0.1)


def _overlap(one: Line, other: Line) -> float:
    """How far two lines share the page's width, in points; negative where they stand apart."""
    return min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])


def _heading_levels(pages: Sequence[PageText], body: float) -> dict[int, int]:
    """Heading levels by rounded height: the largest size in the document is level 1, and 4 the lowest."""
    sizes = {round(line.height) for page in pages for line in page.lines if line.height > body * _least(page)}
    return {size: min(level, 4) for level, size in enumerate(sorted(sizes, reverse=True), start=1)}


def _least(page: PageText) -> float:
    """How many times as high as the body text a page's headings are at least."""
    return _SCANNED_HEADING_SIZE if page.scanned else _HEADING_SIZE


def _groups(lines: Sequence[Line], tables: Sequence[Table], spacing: float) -> Iterator[list[Line] | Table]:
    """Lines that belong together, and each table once, where its first line stands."""
    waiting = list(tables)
    group: list[Line] = []
    for line in lines:
        table = next((table for table in tables if _inside(line, table)), None)
        if table is None and (not group or _continues(group[-1], line, spacing)):
            group.append(line)
            continue
        if group:
            yield group
        group = [] if table else [line]
        if table in waiting and table is not None:
            waiting.remove(table)
            yield table
    if group:
        yield group


def _inside(line: Line, table: Table) -> bool:
    x, y = centre(line.box)
    left, top, right, bottom = table.box
    return left <= x <= right and top <= y <= bottom


def _continues(above: Line, line: Line, spacing: float) -> bool:
    """Whether a line goes on with the one before it: same size and weight, close below it or beside it."""
    height = max(above.height, line.height)
    if abs(above.height - line.height) > height * 0.25 or above.bold != line.bold:
        return False
    if _BULLET.match(line.text) or _NUMBERED.match(line.text):
        return False
    if abs(centre(above.box)[1] - centre(line.box)[1]) < height * 0.5:
        return -height < line.box[0] - above.box[2] < height * 3
    return 0.5 < _distance(above, line) < spacing and _overlap(above, line) > 0


def _text_piece(group: list[Line], page: int, least: float, levels: dict[int, int]) -> Iterator[Piece]:
    text = join_lines(line.text for line in group)
    if not text:
        return
    box = around(line.box for line in group)
    first = group[0]
    if bullet := _BULLET.match(text):
        yield placed(BlockKind.LIST_ITEM, f"- {text[bullet.end() :]}", page, box)
    elif len(text) <= _MAX_HEADING and (level := _heading_level(group, text, least, levels)):
        yield placed(BlockKind.HEADING, f"{'#' * level} {text}", page, box, level=level)
    elif _NUMBERED.match(first.text):
        yield placed(BlockKind.LIST_ITEM, text, page, box)
    else:
        yield placed(BlockKind.PARAGRAPH, _MARKDOWN_START.sub(r"\\", text), page, box)


def _heading_level(group: list[Line], text: str, least: float, levels: dict[int, int]) -> int:
    """The level of a heading, 0 for text that is none."""
    if not any(char.isalpha() for char in text):
        return 0
    height = median(line.height for line in group)
    if height > least:
        return levels.get(round(height), 4)
    stands_alone = (
        len(group) <= 2 and len(text) <= 100 and not text.endswith((".", ",", ";", ":", "。", "，", "；"))
    )
    if all(line.bold for line in group) and height > least * 0.75 and stands_alone:
        return min(max(levels.values(), default=1) + 1, 5)
    return 0
