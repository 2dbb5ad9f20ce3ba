"""What is on a page, as boxes in points from its top left: the input of structure rebuilding."""

from collections.abc import Iterable
from dataclasses import dataclass

from rag_pipeline.normalize.document import Box


@dataclass(frozen=True, slots=True)
class Line:
    """A run of text on one baseline. `box` is (left, top, right, bottom); `bold` where the font says so."""

    text: str
    box: Box
    bold: bool = False

    @property
    def height(self) -> float:
        """The height of the text in points: close to the font size."""
        return self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight thin stroke: horizontal or vertical, from `start` to `end`, at `position` across."""

    horizontal: bool
    position: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's lines in reading order, its single words (for table cells) and its rules.

    `scanned` says that OCR read it, so that the heights of its lines are rough."""

    number: int
    lines: tuple[Line, ...]
    words: tuple[Line, ...] = ()
    rules: tuple[Rule, ...] = ()
    scanned: bool = False


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all the given ones; there must be at least one."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def centre(box: Box) -> tuple[float, float]:
    """The middle of a box."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
