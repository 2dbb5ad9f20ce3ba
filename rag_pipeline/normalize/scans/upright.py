"""Bringing a scanned page upright: quarter turns, pages on their heads, and skew, by the lines of text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag_pipeline.normalize.scans.ocr import cut_out, find_lines, line_size, read_lines, upside_down
from rag_pipeline.normalize.scans.placement import Placement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_pipeline.normalize.scans.ocr import Picture, Quads

    Matrix = NDArray[np.float64]

# A line this much taller than long stands on its side; single letters are up to half as tall again as wide.
_TALL: Final = 2.0
# Skew that moves a line by less than its height over the page harms nothing; skew beyond the second is none.
_LEAST_SKEW: Final = 0.4
_MOST_SKEW: Final = 15.0
# Lines at the page's angle must have this share of the length of all: a drawing's labels are no skew.
_AGREEING: Final = 0.6
_AGREE_WITHIN: Final = 1.0
# Short lines have rough angles and tell the classifier little.
_LONG_LINE: Final = 4.0
_ASKED: Final = 8
_READ: Final = 3
# How much surer lines must be read the other way; a few letters read as well on their heads.
_SURER: Final = 0.1


@dataclass(frozen=True, slots=True)
class Upright:
    """A picture that has been brought upright, the places of its lines, and how it was turned.

    `degrees` (0, 90, 180, 270) and `skew` are what it was turned by, counterclockwise. `placement` leads back
    to the picture as it came.
    """

    picture: "Picture"
    quads: "Quads"
    degrees: int
    skew: float
    placement: Placement


def bring_upright(picture: "Picture", *, threads: int) -> Upright:
    """Find the lines of text, and turn the picture so that most of them are level and read from the left."""
    import numpy as np

    quads = find_lines(picture, threads=threads)
    back: Matrix = np.eye(3)
    degrees = 0
    if _on_its_side(quads):
        height, width = picture.shape[:2]
        picture = np.rot90(picture)
        back = np.array([[0, -1, width], [1, 0, 0], [0, 0, 1]], np.float64)
        degrees = 90
        quads = find_lines(picture, threads=threads)
    if _on_its_head(picture, quads, threads):
        height, width = picture.shape[:2]
        picture = np.rot90(picture, 2)
        quads = (np.array([width, height], np.float32) - quads)[::-1, [2, 3, 0, 1]]
        back = back @ np.array([[-1, 0, width], [0, -1, height], [0, 0, 1]], np.float64)
        degrees += 180
    skew = _skew(quads)
    if abs(skew) >= _LEAST_SKEW:
        picture, quads, levelled = _levelled(picture, quads, skew)
        back = back @ np.linalg.inv(levelled)
    else:
        skew = 0.0
    return Upright(
        np.ascontiguousarray(picture), quads, degrees, skew, Placement(*map(float, back[:2].ravel()))
    )


def stands(quad: "Quads") -> bool:
    """Whether a line stands on its side: it is much taller than long."""
    width, height = line_size(quad)
    return height > _TALL * width


def _on_its_side(quads: "Quads") -> bool:
    """Whether most of the text stands, measured by the length of the lines."""
    sizes = [line_size(quad) for quad in quads]
    standing = sum(height for width, height in sizes if height > _TALL * width)
    lying = sum(width for width, height in sizes if width > _TALL * height)
    return standing > lying


def _on_its_head(picture: "Picture", quads: "Quads", threads: int) -> bool:
    """Whether the longest lines stand on their heads: the classifier says so, and reading them both ways."""
    import numpy as np

    longest = sorted((quad for quad in quads if not stands(quad)), key=lambda quad: -line_size(quad)[0])
    parts = [cut_out(picture, quad) for quad in longest[:_ASKED]]
    turned = upside_down(parts, threads=threads)
    if 2 * sum(turned) <= len(turned):
        return False
    parts = parts[:_READ]
    as_they_are = read_lines(parts, threads=threads)
    on_their_head = read_lines([np.rot90(part, 2) for part in parts], threads=threads)
    gain = sum(line.confidence for line in on_their_head) - sum(line.confidence for line in as_they_are)
    return gain >= _SURER * len(parts)


def _skew(quads: "Quads") -> float:
    """The angle in degrees by which most of the text runs upwards; 0 where its lines do not agree."""
    import numpy as np

    across = quads[:, 1] - quads[:, 0]
    lengths = np.hypot(across[:, 0], across[:, 1])
    heights = np.hypot(*(quads[:, 3] - quads[:, 0]).T)
    long = lengths > _LONG_LINE * heights
    if not long.any():
        return 0.0
    angles = np.degrees(np.arctan2(-across[long, 1], across[long, 0]))
    lengths = lengths[long]
    order = np.argsort(angles)
    middle = np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2)
    angle = float(angles[order][middle])
    agreeing = lengths[np.abs(angles - angle) <= _AGREE_WITHIN].sum() / lengths.sum()
    return angle if agreeing >= _AGREEING and abs(angle) <= _MOST_SKEW else 0.0


def _levelled(picture: "Picture", quads: "Quads", skew: float) -> "tuple[Picture, Quads, Matrix]":
    """The picture and the quadrilaterals turned clockwise by `skew` on a white ground that holds it all."""
    import cv2
    import numpy as np

    height, width = picture.shape[:2]
    matrix: Matrix = np.eye(3)
    matrix[:2] = cv2.getRotationMatrix2D((width / 2, height / 2), -skew, 1.0)
    wide = int(abs(matrix[0, 0]) * width + abs(matrix[0, 1]) * height) + 1
    high = int(abs(matrix[0, 0]) * height + abs(matrix[0, 1]) * width) + 1
    matrix[:2, 2] += (wide - width) / 2, (high - height) / 2
    level: Any = cv2.warpAffine(
        picture, matrix[:2], (wide, high), flags=cv2.INTER_LINEAR, borderValue=(255, 255, 255)
    )
    return level, (quads @ matrix[:2, :2].T + matrix[:2, 2]).astype(np.float32), matrix
