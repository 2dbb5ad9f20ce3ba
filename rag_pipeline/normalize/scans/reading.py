"""Reading pages that have no usable text: their picture is brought upright, and OCR reads its lines."""

import math
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import Line, PageText, Rule, around
from rag_pipeline.normalize.scans.drawings import share_without_text
from rag_pipeline.normalize.scans.ink import measure_ink, text_rows
from rag_pipeline.normalize.scans.lines import Found, apart, direction, divided, page_lines
from rag_pipeline.normalize.scans.ocr import cut_out, read_lines, upside_down
from rag_pipeline.normalize.scans.placement import Placement
from rag_pipeline.normalize.scans.rules import find_rules, without_rules
from rag_pipeline.normalize.scans.upright import Upright, bring_upright, stands

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

    from rag_pipeline.normalize.scans.ocr import Picture, Quads

# Print of 6 points is 17 pixels high at this resolution; more makes the recognizer no surer.
_DPI: Final = 200
# A sheet of A3 at that resolution, or of A4 at 300; what has more pixels is made smaller.
_MOST_PIXELS: Final = 9_000_000
# Below this mean confidence a reader should be told. Clean scans reach 0.95 and more.
_LOW_CONFIDENCE: Final = 0.8
# From this share of a page on it is worth telling that OCR does not read it.
_MUCH_UNREAD: Final = 0.4
# A line within so many degrees of level is part of the text that runs from left to right.
_LEVEL: Final = 5.0
# A page whose pixels all lie this close together, of 255, is blank.
_BLANK: Final = 12


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """What OCR read on a page, what a reader should know about it, and how it was read.

    Boxes are those of the page turned upright; `placement` leads back to the page as it came.
    """

    text: PageText
    warnings: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    placement: Placement | None = None


def read_scanned_page(page: "PdfPage", number: int, *, threads: int) -> ScannedPage:
    """Read a page by OCR; boxes are in points. Raises PdfiumError where the page cannot be rendered."""
    import numpy as np

    width, height = page.get_size()
    scale = min(_DPI / 72, math.sqrt(_MOST_PIXELS / max(width * height, 1.0)))
    bitmap = page.render(scale=scale, rev_byteorder=False, prefer_bgrx=False, maybe_alpha=False)
    pixels = np.ascontiguousarray(bitmap.to_numpy())
    return read_picture(pixels, number, unit=width / pixels.shape[1], threads=threads)


def read_picture(picture: "Picture", number: int, *, unit: float, threads: int) -> ScannedPage:
    """Read the picture of a page by OCR. `unit` is how large a pixel is on the page."""
    if int(picture.max()) - int(picture.min()) <= _BLANK:
        return ScannedPage(PageText(number, ()), decisions=(f"page {number}: blank",))
    picture, unit = _reduced(picture, unit)
    upright = bring_upright(picture, threads=threads)
    found, rules, unread = _read(upright, threads)
    legible = [item for item in found if item.read.legible]
    lines, words = page_lines(legible)
    height, width = upright.picture.shape[:2]
    text = PageText(
        number,
        tuple(_scaled(line, unit) for line in lines),
        tuple(_scaled(word, unit) for word in words),
        tuple(Rule(r.horizontal, r.position * unit, r.start * unit, r.end * unit) for r in rules),
        scanned=True,
        width=width * unit,
        height=height * unit,
    )
    confidence = _confidence(legible)
    warnings = []
    if legible and confidence < _LOW_CONFIDENCE:
        warnings.append(f"page {number}: read by OCR with low confidence ({confidence:.2f})")
    if unread >= _MUCH_UNREAD:
        warnings.append(
            f"page {number}: little text, {unread:.0%} of what it shows is no text that can be read"
        )
    x0, y0 = upright.placement.x0 * unit, upright.placement.y0 * unit
    return ScannedPage(
        text,
        tuple(warnings),
        (_decision(number, confidence, upright),),
        upright.placement._replace(x0=x0, y0=y0),
    )


def _reduced(picture: "Picture", unit: float) -> "tuple[Picture, float]":
    """A picture that has more pixels than reading needs, made smaller, and how large its pixels are then."""
    import cv2
    import numpy as np

    height, width = picture.shape[:2]
    scale = math.sqrt(_MOST_PIXELS / (width * height))
    if scale >= 1:
        return picture, unit
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8), unit * width / size[
        0
    ]


def _read(upright: Upright, threads: int) -> tuple[list[Found], tuple[Rule, ...], float]:
    """The lines of an upright picture as OCR reads them, its rules, and the share of it that is no text."""
    level, other = _level_boxes(upright.quads)
    line_height = median(bottom - top for _, top, _, bottom in level) if level else 0.0
    rules = find_rules(upright.picture, line_height, level) if level else ()
    picture = without_rules(upright.picture, rules, line_height)
    across = [rule for rule in rules if not rule.horizontal]
    height, width = picture.shape[:2]
    boxes = [_within(part, width, height) for box in apart(level) for part in divided(box, across)]
    boxes = [_trimmed(box, picture) for box in boxes]
    parts = [_part(picture, box) for box in boxes]
    turned, angles = _turned_parts(picture, other, threads)
    reads = read_lines([*parts, *turned], threads=threads)
    found = [
        Found(box, 0, read, measure_ink(part, read.text))
        for box, part, read in zip(boxes, parts, reads, strict=False)
    ]
    found += [
        Found(_around(quad), angle, read, None)
        for quad, angle, read in zip(other, angles, reads[len(parts) :], strict=True)
    ]
    return found, rules, share_without_text(picture, upright.quads)


def _part(picture: "Picture", box: Box) -> "Picture":
    left, top, right, bottom = map(int, box)
    return picture[top:bottom, left:right]


def _trimmed(box: Box, picture: "Picture") -> Box:
    """A line's box without what it holds of other lines: the recognizer makes all of it equally high."""
    first, last = text_rows(_part(picture, box))
    return box[0], box[1] + first, box[2], box[1] + last


def _level_boxes(quads: "Quads") -> "tuple[list[Box], list[Quads]]":
    """The boxes of the lines that run from left to right, and the other lines."""
    level, other = [], []
    for quad in quads:
        if stands(quad) or abs(_degrees(quad)) > _LEVEL:
            other.append(quad)
        else:
            level.append(_around(quad))
    return level, other


def _turned_parts(
    picture: "Picture", quads: "list[Quads]", threads: int
) -> "tuple[list[Picture], list[int]]":
    """Slanted and standing lines, cut out so that they can be read, and their directions."""
    import numpy as np

    parts, degrees = [], []
    for quad in quads:
        part = cut_out(picture, quad)
        parts.append(np.rot90(part) if stands(quad) else part)
        degrees.append(_degrees(quad) - 90 * stands(quad))
    heads = upside_down(parts, threads=threads)
    return (
        [np.rot90(part, 2) if head else part for part, head in zip(parts, heads, strict=True)],
        [direction(angle + 180 * head) for angle, head in zip(degrees, heads, strict=True)],
    )


def _confidence(found: list[Found]) -> float:
    """How sure the characters of a page are on average."""
    weights = [len(item.read.text) for item in found]
    return sum(item.read.confidence * weight for item, weight in zip(found, weights, strict=True)) / max(
        sum(weights), 1
    )


def _decision(number: int, confidence: float, upright: Upright) -> str:
    parts = [f"page {number}: read by OCR, confidence {confidence:.2f}"]
    if upright.degrees:
        parts.append(f"turned by {upright.degrees} degrees")
    if upright.skew:
        parts.append(f"levelled by {upright.skew:.1f} degrees")
    return ", ".join(parts)


def _degrees(quad: "Quads") -> float:
    """The angle of a line counterclockwise from level."""
    across = quad[1] - quad[0]
    return math.degrees(math.atan2(-float(across[1]), float(across[0])))


def _around(quad: "Quads") -> Box:
    return around([(float(x), float(y), float(x), float(y)) for x, y in quad])


def _within(box: Box, width: int, height: int) -> Box:
    """A box in whole pixels that lies in the picture and is not empty."""
    left, top = min(max(int(box[0]), 0), width - 1), min(max(int(box[1]), 0), height - 1)
    return (
        float(left),
        float(top),
        float(min(max(round(box[2]), left + 1), width)),
        float(min(max(round(box[3]), top + 1), height)),
    )


def _scaled(line: Line, unit: float) -> Line:
    left, top, right, bottom = line.box
    return replace(line, box=(left * unit, top * unit, right * unit, bottom * unit))
