"""Measuring the print of a line: where its ink is, how large its letters are, how much ink they have."""

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from rag_pipeline.normalize.scans.ocr import Picture

_FULL_WIDTH: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uff5e]")
# Parts of the font size, as in common text fonts: how high small letters and capitals are, how wide
# characters of less than full width are on average, and how far apart the ink of full-width ones stands.
_SMALL_LETTERS: Final = 0.47
_CAPITALS: Final = 0.70
_NARROW_WIDTH: Final = 0.55
_GAP: Final = 0.08
# The ink of a character in squares of the font size, as in common text fonts at normal weight.
_INK_FULL_WIDTH: Final = 0.20
_INK_SMALL: Final = 0.085
_INK_CAPITAL: Final = 0.115
_INK_SIGN: Final = 0.03
# A row of pixels is between the baseline and the top of the small letters where it has half the ink of a full
# one; ascenders and descenders are fewer. Gaps in it, as between the strokes of a character, are this small.
_HALF: Final = 0.5
_INNER_GAP: Final = 0.25
# A picture that is higher than this many times the rows of small letters holds parts of other lines.
# Ascenders and descenders need so much.
_TOO_HIGH: Final = 4.0
_ASCENDERS: Final = 1.3
_DESCENDERS: Final = 0.8
# Pixels that differ less than this from the ground are noise; finer than pixels is measured by so many steps.
_NOISE: Final = 0.1
_STEPS: Final = 8


class Ink(NamedTuple):
    """The print of a line, in pixels of its own picture.

    `left` and `right` are where its ink begins and ends, `base` is its baseline, `size` its font size.
    `weight` is how much ink its characters have, about 1 at a normal weight.
    """

    left: float
    right: float
    base: float
    size: float
    weight: float


def measure_ink(part: "Picture", text: str) -> Ink | None:
    """Measure a cut out line that reads `text`; None where no ink stands out from the ground."""
    import numpy as np

    darkness = _darkness(part)
    if darkness is None or not (counts := _Counts.of(text)).characters:
        return None
    columns = np.flatnonzero(darkness.max(axis=0) > _HALF)
    core = _core(darkness)
    if core is None or not len(columns):
        return None
    left, right = float(columns[0]), float(columns[-1] + 1)
    top, base = core
    if counts.mostly_full_width:
        size = (right - left + _GAP * (base - top)) / (counts.full_width + _NARROW_WIDTH * counts.narrow)
    else:
        size = (base - top) / (_SMALL_LETTERS if counts.mostly_small else _CAPITALS)
    return Ink(left, right, base, size, float(darkness.sum()) / (counts.ink * size * size))


def text_rows(part: "Picture") -> tuple[int, int]:
    """The rows of a cut out line that hold its letters: it may reach into the lines above and below."""
    darkness = _darkness(part)
    core = _core(darkness) if darkness is not None else None
    if core is None or len(part) <= _TOO_HIGH * (core[1] - core[0]):
        return 0, len(part)
    height = core[1] - core[0]
    return max(int(core[0] - _ASCENDERS * height), 0), min(round(core[1] + _DESCENDERS * height), len(part))


class _Counts(NamedTuple):
    """How many characters of each kind a text has; white space is none."""

    full_width: int
    small: int
    capitals: int
    signs: int

    @classmethod
    def of(cls, text: str) -> "_Counts":
        full_width = len(_FULL_WIDTH.findall(text))
        narrow = [char for char in text if not char.isspace() and not _FULL_WIDTH.match(char)]
        small = sum(char.islower() for char in narrow)
        capitals = sum(char.isalnum() for char in narrow) - small
        return cls(full_width, small, capitals, len(narrow) - small - capitals)

    @property
    def narrow(self) -> int:
        return self.small + self.capitals + self.signs

    @property
    def characters(self) -> int:
        return self.full_width + self.narrow

    @property
    def mostly_full_width(self) -> bool:
        return self.full_width > self.narrow

    @property
    def mostly_small(self) -> bool:
        return self.small > self.capitals

    @property
    def ink(self) -> float:
        """The ink that the characters have at a normal weight, in squares of the font size."""
        return (
            self.full_width * _INK_FULL_WIDTH
            + self.small * _INK_SMALL
            + self.capitals * _INK_CAPITAL
            + self.signs * _INK_SIGN
        )


def _darkness(part: "Picture") -> Any:
    """How much of each pixel is ink, 0 to 1, whose sum blur does not change; None for a plain picture."""
    import cv2
    import numpy as np

    gray = cv2.cvtColor(part, cv2.COLOR_BGR2GRAY)
    threshold, _ = cv2.threshold(gray, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    dark = gray <= threshold
    if dark.mean() > _HALF:  # light letters on a dark ground
        gray, dark = 255 - gray, ~dark
    if dark.all() or not dark.any():
        return None
    ground, ink = float(np.median(gray[~dark])), float(np.percentile(gray[dark], 1))
    share = (ground - gray.astype(np.float32)) / max(ground - ink, 1.0)
    return np.clip((share - _NOISE) / (1 - _NOISE), 0, 1)


def _core(darkness: Any) -> tuple[float, float] | None:
    """The rows from the top of the small letters (of all, if there are none) down to the baseline."""
    import cv2
    import numpy as np

    height = len(darkness)
    rows = darkness.sum(axis=1, keepdims=True).astype(np.float32)
    rows = cv2.resize(rows, (1, height * _STEPS), interpolation=cv2.INTER_LINEAR)[:, 0]
    inked = rows[rows > rows.max() / 5]
    if not len(inked):
        return None
    full = np.flatnonzero(rows >= _HALF * np.percentile(inked, 75))
    runs = np.split(full, np.flatnonzero(np.diff(full) > height * _STEPS * _INNER_GAP) + 1)
    run = max(runs, key=lambda run: float(rows[run].sum()))
    return float(run[0]) / _STEPS, float(run[-1] + 1) / _STEPS
