"""Telling the words of a PDF page that nobody can see though they are painted.

Text in the colour of its ground, transparent, clipped away or covered is a way to put words into a knowledge
base that no reader of the page would find. Which text may be such is told from the page's objects; only where
there is some, the page is rendered and looked at.
"""

import ctypes
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import centre
from rag_pipeline.normalize.layout.words import Word

if TYPE_CHECKING:
    import numpy as np
    from pypdfium2 import PdfPage

# Colours this light are paper to the eye, and this much transparency is nothing.
_LIGHT: Final = 200
_TRANSPARENT: Final = 40
# Letters differ from their ground by this many of 255 grades at least, else they cannot be read.
_LEAST_CONTRAST: Final = 24
_SCALE: Final = 2.0
_MAX_PIXELS: Final = 9_000_000
# A drawing of more objects than this is not searched for text; nor are forms within forms deeper than this.
_MOST_OBJECTS: Final = 20_000
_MOST_DEPTH: Final = 4
# Clips are boxes within boxes; of a drawing that clips, the first strokes tell enough.
_MOST_CLIPS: Final = 8
_MOST_SEGMENTS: Final = 40
# Of the boxes that are painted before and after a text, only the nearest ones are tried.
_MOST_GROUNDS: Final = 100
# Places are sorted by bands of so many points; of very many in one band, the first ones tell enough.
_BAND: Final = 24
_MOST_IN_BAND: Final = 500
# A box that covers less than this share of a word leaves it readable.
_MOSTLY: Final = 0.6

Matrix = tuple[float, float, float, float, float, float]
Colour = tuple[int, int, int]


class _Shown(NamedTuple):
    """An object of a page in the order of painting: its place in points from the bottom left, its colour."""

    text: bool
    box: Box
    colour: Colour
    alpha: int
    clip: Box | None


class _Places:
    """Boxes in points from the page's top left, found by the points in them: by bands across the page."""

    def __init__(self, boxes: Iterable[Box]) -> None:
        self._bands: dict[int, list[Box]] = defaultdict(list)
        for box in boxes:
            for band in range(int(box[1] // _BAND), int(box[3] // _BAND) + 1):
                if len(self._bands[band]) < _MOST_IN_BAND:
                    self._bands[band].append(box)

    def hold(self, word: Word) -> bool:
        """Whether the middle of a word is in one of them."""
        x, y = centre(word.box)
        near = self._bands.get(int(y // _BAND), ())
        return any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in near)


def unseen_words(page: "PdfPage", words: Sequence[Word]) -> set[int]:
    """Which of a page's words nobody can see, by their indices. Raises PdfiumError if it cannot be drawn."""
    doubtful = _Places(_doubtful(page))
    suspects = [index for index, word in enumerate(words) if doubtful.hold(word)]
    if not suspects:
        return set()
    scale = min(_SCALE, math.sqrt(_MAX_PIXELS / max(page.get_width() * page.get_height(), 1.0)))
    pixels = page.render(scale=scale).to_numpy()
    return {index for index in suspects if _contrast(pixels, words[index].box, scale) < _LEAST_CONTRAST}


def _contrast(pixels: "np.ndarray", box: Box, scale: float) -> int:
    """By how much the pixels within a box differ, in the colour channel in which they differ most."""
    left, top, right, bottom = (value * scale for value in box)
    part = pixels[max(int(top), 0) : math.ceil(bottom) + 1, max(int(left), 0) : math.ceil(right) + 1]
    if part.size == 0:
        return 0
    return max(int(part[..., n].max()) - int(part[..., n].min()) for n in range(min(part.shape[2], 3)))


def _doubtful(page: "PdfPage") -> Iterator[Box]:
    """Text in light colours, in that of the box it stands on, transparent, outside its clip, or covered."""
    shown = _objects(page)
    left, _, _, top = page.get_bbox()
    grounds: list[_Shown] = []
    covered = _covered(shown)
    for number, item in enumerate(shown):
        if not item.text:
            grounds = [*grounds[1 - _MOST_GROUNDS :], item]
        elif (
            min(item.colour) >= _LIGHT
            or item.alpha <= _TRANSPARENT
            or (item.clip is not None and _share(item.box, item.clip) < _MOSTLY)
            or number in covered
            or any(
                ground.colour == item.colour and _share(item.box, ground.box) > _MOSTLY for ground in grounds
            )
        ):
            x0, y0, x1, y1 = item.box
            yield x0 - left - 1, top - y1 - 1, x1 - left + 1, top - y0 + 1


def _covered(shown: Sequence[_Shown]) -> set[int]:
    """The texts on which a box is painted later."""
    covered: set[int] = set()
    covers: list[_Shown] = []
    for number, item in reversed([*enumerate(shown)]):
        if not item.text:
            if item.alpha > 255 - _TRANSPARENT:
                covers = [*covers[1 - _MOST_GROUNDS :], item]
        elif any(_share(item.box, cover.box) > _MOSTLY for cover in covers):
            covered.add(number)
    return covered


def _share(box: Box, other: Box) -> float:
    """Which share of a box another one covers."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    area = (box[2] - box[0]) * (box[3] - box[1])
    return width * height / area if area > 0 and width > 0 and height > 0 else 0.0


def _objects(page: "PdfPage") -> list[_Shown]:
    """The texts and filled boxes of a page in the order of painting."""
    from pypdfium2 import raw

    found: list[_Shown] = []
    _Walk(found).container(
        raw.FPDFPage_CountObjects(page), lambda n: raw.FPDFPage_GetObject(page, n), (1, 0, 0, 1, 0, 0), 0
    )
    return found


class _Walk:
    """Goes through a page's objects and those of its forms."""

    def __init__(self, found: list[_Shown]) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._found = found
        self._floats = [ctypes.c_float() for _ in range(4)]
        self._numbers = [ctypes.c_uint() for _ in range(4)]
        self._seen = 0

    def container(self, count: int, at: Callable[[int], Any], matrix: Matrix, depth: int) -> None:
        for n in range(count):
            self._seen += 1
            if self._seen > _MOST_OBJECTS:
                return
            item = at(n)
            kind = self._raw.FPDFPageObj_GetType(item)
            if kind == self._raw.FPDF_PAGEOBJ_FORM and depth < _MOST_DEPTH:
                inner = self._raw.FPDFFormObj_CountObjects(item)
                form = _product(self._matrix(item), matrix)
                self.container(inner, partial(self._raw.FPDFFormObj_GetObject, item), form, depth + 1)
            elif kind == self._raw.FPDF_PAGEOBJ_TEXT or (
                kind == self._raw.FPDF_PAGEOBJ_PATH and self._is_filled(item)
            ):
                self._add(item, matrix, text=kind == self._raw.FPDF_PAGEOBJ_TEXT)

    def _add(self, item: Any, matrix: Matrix, *, text: bool) -> None:
        if not self._raw.FPDFPageObj_GetBounds(item, *map(ctypes.byref, self._floats)):
            return
        left, bottom, right, top = (value.value for value in self._floats)
        colour, alpha = (0, 0, 0), 255
        if self._raw.FPDFPageObj_GetFillColor(item, *map(ctypes.byref, self._numbers)):
            red, green, blue, alpha = (value.value for value in self._numbers)
            colour = (red, green, blue)
        clip = self._clip(item) if text else None
        self._found.append(
            _Shown(
                text, _moved((left, bottom, right, top), matrix), colour, alpha, clip and _moved(clip, matrix)
            )
        )

    def _is_filled(self, item: Any) -> bool:
        mode, stroke = ctypes.c_int(), ctypes.c_int()
        self._raw.FPDFPath_GetDrawMode(item, ctypes.byref(mode), ctypes.byref(stroke))
        return mode.value != 0

    def _matrix(self, item: Any) -> Matrix:
        matrix = self._raw.FS_MATRIX()
        self._raw.FPDFPageObj_GetMatrix(item, matrix)
        return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f

    def _clip(self, item: Any) -> Box | None:
        """The box that all clips of an object leave open, None where it has none."""
        path = self._raw.FPDFPageObj_GetClipPath(item)
        count = self._raw.FPDFClipPath_CountPaths(path) if path else 0
        box = None
        for number in range(min(max(count, 0), _MOST_CLIPS)):
            points = []
            segments = self._raw.FPDFClipPath_CountPathSegments(path, number)
            for segment in range(min(max(segments, 0), _MOST_SEGMENTS)):
                part = self._raw.FPDFClipPath_GetPathSegment(path, number, segment)
                x, y = self._floats[0], self._floats[1]
                if self._raw.FPDFPathSegment_GetPoint(part, ctypes.byref(x), ctypes.byref(y)):
                    points.append((x.value, y.value))
            if points:
                xs, ys = zip(*points, strict=True)
                outer = (min(xs), min(ys), max(xs), max(ys))
                box = outer if box is None else (
                    max(box[0], outer[0]), max(box[1], outer[1]), min(box[2], outer[2]), min(box[3], outer[3])
                )  # fmt: skip
        return box


def _product(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _moved(box: Box, matrix: Matrix) -> Box:
    a, b, c, d, e, f = matrix
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (box[0], box[2]) for y in (box[1], box[3])]
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)
