"""Turning boxes of rotated and vertical text upright and back, so that one reading order serves all."""

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import Line


class Frame(Enum):
    """How text runs over a page."""

    UPRIGHT = 0
    UPWARDS = 90
    UPSIDE_DOWN = 180
    DOWNWARDS = 270
    """Turned clockwise, or written vertically with lines from right to left: both are read alike."""
    SLANTED = -1
    """At an angle of its own; its boxes are left as they are."""


def frame_of(angle: int, *, vertical: bool) -> Frame:
    """The frame that text belongs to; one or two degrees are the skew of a scan."""
    if vertical:
        return Frame.DOWNWARDS
    nearest = round(angle / 90) * 90
    return Frame(nearest % 360) if abs(angle - nearest) <= 2 else Frame.SLANTED


def by_frame(
    lines: Iterable[tuple[int, Line]], width: float, height: float
) -> dict[Frame, list[tuple[int, Line]]]:
    """Numbered lines of a page of that size by frame, that with the most text first, boxes turned upright."""
    frames: dict[Frame, list[tuple[int, Line]]] = {}
    for number, line in lines:
        frame = frame_of(line.angle, vertical=line.vertical)
        if frame not in (Frame.UPRIGHT, Frame.SLANTED):
            line = replace(line, box=turned(line.box, frame, width, height))
        frames.setdefault(frame, []).append((number, line))
    return dict(sorted(frames.items(), key=lambda item: (item[0] is Frame.SLANTED, -_characters(item[1]))))


def turned(box: Box, frame: Frame, width: float = 0.0, height: float = 0.0) -> Box:
    """A box of a page of that size as it stands when the text of the frame is upright."""
    left, top, right, bottom = box
    match frame:
        case Frame.UPWARDS:
            return height - bottom, left, height - top, right
        case Frame.UPSIDE_DOWN:
            return width - right, height - bottom, width - left, height - top
        case Frame.DOWNWARDS:
            return top, width - right, bottom, width - left
        case _:
            return box


def turned_back(box: Box, frame: Frame, width: float = 0.0, height: float = 0.0) -> Box:
    """The place on the page of a box that was turned upright."""
    left, top, right, bottom = box
    match frame:
        case Frame.UPWARDS:
            return top, height - right, bottom, height - left
        case Frame.UPSIDE_DOWN:
            return width - right, height - bottom, width - left, height - top
        case Frame.DOWNWARDS:
            return width - bottom, left, width - top, right
        case _:
            return box


def _characters(lines: Iterable[tuple[int, Line]]) -> int:
    return sum(len(line.text) for _, line in lines)
