"""Lines and words of a page from what OCR read: their places, their sizes, and which are bold."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import Line, Rule

if TYPE_CHECKING:
    from rag_pipeline.normalize.scans.ink import Ink
    from rag_pipeline.normalize.scans.ocr import ReadLine

_TOKEN: Final = re.compile(r"\S+")
_FULL_WIDTH: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# Where a line's box lies about its baseline, in font sizes.
_ABOVE: Final = 0.78
_BELOW: Final = 0.22
# Font sizes are about the same share of the heights of the boxes that lines are found in, all over a page.
# What is measured larger by more than this is measured wrong: the line's letters are of unusual forms.
_OFF_BOX: Final = 0.15
# A piece of a line narrower than this share of its height is but the margin of the box.
_NARROWEST: Final = 0.25
# How much more ink than the running text has makes letters bold: surely, or where the line stands apart from
# others. Small print is heavier by design, and few characters tell little.
_BOLD: Final = 1.35
_BOLD_ALONE: Final = 1.2
_SMALL_PRINT: Final = 0.9
_TELLING: Final = 4
_APART: Final = 1.5


@dataclass(frozen=True, slots=True)
class Found:
    """A line as it was found and read: `box` in pixels of the upright picture, `angle` as in `Line`."""

    box: Box
    angle: int
    read: "ReadLine"
    ink: "Ink | None"


def divided(box: Box, upright: Sequence[Rule]) -> Iterator[Box]:
    """The parts of a level line that upright rules divide it into, as where cells stand close together."""
    left, top, right, bottom = box
    middle = (top + bottom) / 2
    crossing = sorted(
        rule.position for rule in upright if rule.start <= middle <= rule.end and left < rule.position < right
    )
    edges = [left, *crossing, right]
    for start, end in pairwise(edges):
        if not crossing or end - start > _NARROWEST * (bottom - top):
            yield start, top, end, bottom


def apart(boxes: Sequence[Box]) -> list[Box]:
    """Boxes row by row, from left to right, that do not reach into each other: detected ones have margins."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: box[1] + box[3]):
        middle = (box[1] + box[3]) / 2
        if rows and rows[-1][0][1] <= middle <= rows[-1][0][3]:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [box for row in rows for box in _apart_in_row(sorted(row))]


def _apart_in_row(row: list[Box]) -> list[Box]:
    for index, (one, other) in enumerate(pairwise(row)):
        if other[0] < one[2] < other[2]:
            middle = (other[0] + one[2]) / 2
            row[index] = (one[0], one[1], middle, one[3])
            row[index + 1] = (middle, other[1], other[2], other[3])
    return row


def page_lines(found: Sequence[Found]) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The lines of a page and their words, in pixels of the upright picture."""
    sizes = _sizes(found)
    bold = _bold(found, sizes)
    lines, words = [], []
    for index, (item, size) in enumerate(zip(found, sizes, strict=True)):
        line = Line(" ".join(item.read.text.split()), _placed(item, size), index in bold, angle=item.angle)
        lines.append(line)
        words += _words(line, item)
    return tuple(lines), tuple(words)


def _sizes(found: Sequence[Found]) -> list[float]:
    """The font sizes of lines; those that were measured too large for their boxes are put right."""
    shares: dict[bool, list[float]] = {False: [], True: []}
    for item in found:
        if item.ink and not item.angle:
            shares[_full_width(item)].append(item.ink.size / _height(item))
    usual = {script: median(values) if values else 1.0 for script, values in shares.items()}
    return [_size(item, usual[_full_width(item)] * _height(item)) for item in found]


def _size(item: Found, expected: float) -> float:
    if item.ink is None or item.angle:
        return _height(item)
    return min(item.ink.size, expected * (1 + _OFF_BOX))


def _height(item: Found) -> float:
    return item.box[3] - item.box[1]


def _placed(item: Found, size: float) -> Box:
    """The box of a level line by its ink: as high as its font size, so that heights can be compared."""
    if item.angle or item.ink is None:
        return item.box
    left, top, _, bottom = item.box
    base = min(max(top + item.ink.base, top + size * _ABOVE), bottom)
    return left + item.ink.left, base - size * _ABOVE, left + item.ink.right, base + size * _BELOW


def _words(line: Line, item: Found) -> list[Line]:
    """A level line's words by where its characters were read; the line as a whole where that is not known."""
    tokens = [match.group() for match in _TOKEN.finditer(line.text)]
    if item.angle or sum(map(len, tokens)) != len(item.read.centres) or len(tokens) < 2:
        return [line]
    left, _, right, _ = item.box
    centres = [left + (right - left) * centre for centre in item.read.centres]
    at = 0
    spans = []
    for token in tokens:
        spans.append((centres[at], centres[at + len(token) - 1], len(token)))
        at += len(token)
    half = _half_width(spans, line.height)
    boxes = [(max(first - half, line.box[0]), min(last + half, line.box[2])) for first, last, _ in spans]
    boxes[0] = (line.box[0], boxes[0][1])
    boxes[-1] = (boxes[-1][0], line.box[2])
    return [
        replace(line, text=token, box=(start, line.box[1], max(end, start), line.box[3]))
        for token, (start, end) in zip(tokens, boxes, strict=True)
    ]


def _half_width(spans: Sequence[tuple[float, float, int]], height: float) -> float:
    """Half the usual width of the characters of a line."""
    pitches = [(last - first) / (count - 1) for first, last, count in spans if count > 1]
    return (median(pitches) if pitches else height / 2) / 2


def _bold(found: Sequence[Found], sizes: Sequence[float]) -> set[int]:
    """Which lines have clearly more ink than the running text in the same kind of script."""
    telling = {
        index: item.ink
        for index, item in enumerate(found)
        if item.ink and not item.angle and sum(map(str.isalnum, item.read.text)) >= _TELLING
    }
    if not telling:
        return set()
    usual = _median_by_length((sizes[index], found[index]) for index in telling)
    sized = {index: ink for index, ink in telling.items() if sizes[index] >= _SMALL_PRINT * usual}
    bold = set()
    for full_width in (False, True):
        alike = {n: ink for n, ink in sized.items() if _full_width(found[n]) is full_width}
        if not alike:
            continue
        weight = _median_by_length((ink.weight, found[index]) for index, ink in alike.items())
        for index, ink in alike.items():
            if ink.weight >= _BOLD * weight or (
                ink.weight >= _BOLD_ALONE * weight and _stands_apart(found[index], sizes[index], found)
            ):
                bold.add(index)
    return bold


def _median_by_length(values: Iterator[tuple[float, Found]]) -> float:
    """The median of values of lines, longer lines counting more."""
    return median(value for value, item in values for _ in range(1 + len(item.read.text) // 8))


def _full_width(item: Found) -> bool:
    return 2 * len(_FULL_WIDTH.findall(item.read.text)) > len(item.read.text)


def _stands_apart(item: Found, size: float, others: Sequence[Found]) -> bool:
    """Whether no other line is so close above or below that it would be of the same paragraph."""
    left, _, right, bottom = item.box
    near = _APART * size
    return not any(
        other is not item
        and 0 < abs(other.box[3] - bottom) < near
        and min(right, other.box[2]) > max(left, other.box[0])
        for other in others
    )


def direction(degrees: float) -> int:
    """A line's angle in whole degrees counterclockwise, 0 to 359."""
    return math.floor(degrees + 0.5) % 360
