"""What is on a page, as boxes in points from its top left: the input of structure rebuilding."""

from collections.abc import Iterable
from dataclasses import dataclass

from rag_pipeline.normalize.document import Box


@dataclass(frozen=True, slots=True)
class Line:
    """A run of text on one baseline. `box` is (left, top, right, bottom); `bold` where the font says so.

    `font` is the name of the font that most of it is set in, empty where it is not known, as on scans. `mono`
    says that all its letters are equally wide. `angle` is the direction of its baseline in degrees
    counterclockwise, 0 for upright text; `vertical` text runs down the page, its lines from right to left.
    `lead` is the first word where that is set in a font of its own, as list markers are. `rtl` text runs from
    right to left and is stored in logical order. `raised` text begins with a small raised sign, as footnotes.
    """

    text: str
    box: Box
    bold: bool = False
    font: str = ""
    mono: bool = False
    angle: int = 0
    vertical: bool = False
    rtl: bool = False
    lead: str = ""
    raised: bool = False

    @property
    def height(self) -> float:
        """The height of the text in points: close to the font size."""
        return self.box[3] - self.box[1]

    @property
    def width(self) -> float:
        """The width of the text in points."""
        return self.box[2] - self.box[0]


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight thin stroke: horizontal or vertical, from `start` to `end`, at `position` across."""

    horizontal: bool
    position: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's lines in the order they are stored in, its single words (for table cells) and its rules.

    `scanned` says that OCR read it, so that the heights of its lines are rough. `width` and `height` are the
    page's, 0 where they are not known."""

    number: int
    lines: tuple[Line, ...]
    words: tuple[Line, ...] = ()
    rules: tuple[Rule, ...] = ()
    scanned: bool = False
    width: float = 0.0
    height: float = 0.0


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all the given ones; there must be at least one."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def centre(box: Box) -> tuple[float, float]:
    """The middle of a box."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
