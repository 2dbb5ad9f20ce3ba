"""Finding and reading lines of text in pictures with rapidocr, whose models are part of its wheel.

Nothing is ever downloaded. Pictures are arrays of height x width x 3 bytes in the order blue, green, red, as
OpenCV has them. A line's place is a quadrilateral: its corners clockwise from where the line begins.
"""

import logging
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Quads = NDArray[np.float32]

# Lines are looked for in a picture with this many pixels on its long side: A4 at 110 dots per inch, on which
# print of 6 points is still found. The time that it takes grows with the area.
_LONG_SIDE: Final = 1_280
# Where most lines are lower than this on the small picture, print may have been missed, and looking for it
# four times as long is worth it.
_FINE_PRINT: Final = 14.0
_LONG_SIDE_IF_FINE: Final = 2_560
# The detector overlooks a few words on a large empty ground. It is only shown what differs from the ground by
# so much, of 255, with a margin of so many pixels.
_DIFFERS: Final = 40
_MARGIN: Final = 40
# A narrow strip gets white margins until its sides relate like this, else it would be scaled out of bounds.
_MOST_OBLONG: Final = 8
# Small pictures are enlarged: letters that are cut off a screen have few pixels. More than this adds nothing.
_MOST_ENLARGED: Final = 3.0
# rapidocr's own limit: what is read with less confidence is rather noise than text.
_LEAST_CONFIDENCE: Final = 0.5


class ReadLine(NamedTuple):
    """A line's text, how sure its letters are on average (0 to 1), and where each letter stands.

    `centres` has one value for each character that is not white space: the middle of the character across the
    line, 0 at its left and 1 at its right end.
    """

    text: str
    confidence: float
    centres: tuple[float, ...]

    @property
    def legible(self) -> bool:
        """Whether it is text rather than a guess at something that is none."""
        return bool(self.text.strip()) and self.confidence >= _LEAST_CONFIDENCE


def find_lines(picture: "Picture", *, threads: int) -> "Quads":
    """The places of the lines of text, n x 4 x 2 in pixels, roughly from top to bottom."""
    import numpy as np

    long_side = max(picture.shape[:2])
    quads = _find_lines(picture, _LONG_SIDE, threads)
    heights = [line_size(quad)[1] for quad in quads]
    if heights and long_side > _LONG_SIDE and np.median(heights) * _LONG_SIDE / long_side < _FINE_PRINT:
        return _find_lines(picture, min(_LONG_SIDE_IF_FINE, long_side), threads)
    return quads


def _find_lines(picture: "Picture", long_side: int, threads: int) -> "Quads":
    import cv2
    import numpy as np

    height, width = picture.shape[:2]
    scale = min(long_side / max(height, width), _MOST_ENLARGED)
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    small: Any = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    left, top, right, bottom = _content(small)
    small = small[top:bottom, left:right]
    high, wide = small.shape[:2]
    below, beside = max(wide // _MOST_OBLONG - high, 0), max(high // _MOST_OBLONG - wide, 0)
    if below or beside:
        small = cv2.copyMakeBorder(small, 0, below, 0, beside, cv2.BORDER_CONSTANT, value=(255, 255, 255))
    found = _engine(threads)(small, use_det=True, use_cls=False, use_rec=False)
    if found.boxes is None:
        return np.zeros((0, 4, 2), np.float32)
    factors = np.array([width / size[0], height / size[1]], np.float32)
    boxes = np.asarray(found.boxes, np.float32).reshape(-1, 4, 2)
    return (boxes + np.array([left, top], np.float32)) * factors


def _content(picture: "Picture") -> tuple[int, int, int, int]:
    """The box (left, top, right, bottom) of all that differs from a picture's ground, with a margin."""
    import cv2
    import numpy as np

    gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    differs = cv2.absdiff(gray, np.full_like(gray, int(np.median(gray)))) > _DIFFERS
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    height, width = gray.shape
    if not len(rows):
        return 0, 0, width, height
    return (
        max(int(columns[0]) - _MARGIN, 0),
        max(int(rows[0]) - _MARGIN, 0),
        min(int(columns[-1]) + 1 + _MARGIN, width),
        min(int(rows[-1]) + 1 + _MARGIN, height),
    )


def cut_out(picture: "Picture", quad: "Quads") -> "Picture":
    """The part of a picture within a quadrilateral, as a rectangle that reads from left to right."""
    import cv2
    import numpy as np

    width, height = line_size(quad)
    size = max(round(width), 1), max(round(height), 1)
    corners = np.array([[0, 0], [size[0], 0], [size[0], size[1]], [0, size[1]]], np.float32)
    matrix = cv2.getPerspectiveTransform(quad.astype(np.float32), corners)
    part = cv2.warpPerspective(picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(part, np.uint8)


def line_size(quad: "Quads") -> tuple[float, float]:
    """The length and the height of the line in a quadrilateral, in pixels."""
    import numpy as np

    across, down = quad[1] - quad[0], quad[3] - quad[0]
    return float(np.hypot(*across)), float(np.hypot(*down))


def upside_down(parts: "Sequence[Picture]", *, threads: int) -> list[bool]:
    """For each cut out line, whether rapidocr's classifier is sure that it stands on its head."""
    if not parts:
        return []
    _, result = _engine(threads).cls_and_rotate(list(parts))
    return [label == "180" and score > 0.9 for label, score in result.cls_res]


def read_lines(parts: "Sequence[Picture]", *, threads: int) -> list[ReadLine]:
    """The texts of cut out lines, each of which must stand upright."""
    if not parts:
        return []
    result = _engine(threads).recognize_txt(list(parts))
    return [
        ReadLine(text, float(score), tuple(_centres(info)))
        for text, score, info in zip(result.txts, result.scores, result.word_results, strict=True)
    ]


def _centres(info: Any) -> list[float]:
    columns = [column for word in info.word_cols for column in word]
    return [min((column + 0.5) / info.line_txt_len, 1.0) for column in columns]


@cache
def _engine(threads: int) -> Any:
    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": _LONG_SIDE_IF_FINE,  # pictures come scaled already
            "Global.return_word_box": True,
            "Det.limit_side_len": 32,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
