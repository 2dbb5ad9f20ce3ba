"""The words of a page as table cells need them: each tied to its line, gathered to rows and to texts."""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.flow import join_lines
from rag_pipeline.normalize.layout.page_text import Line, PageText, around, centre

# Lines that lie over each other at one spot; more are a trick, and would only take time.
_MAX_STACKED: Final = 50
# Words whose middles differ by less than this share of their height stand on one row.
_SAME_ROW: Final = 0.45
_TOKEN: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its box; `line` is the place of its line in `PageText.lines`, `number` its own place.

    `mono` says that its letters are equally wide, as in code.
    """

    text: str
    box: Box
    line: int
    number: int
    mono: bool = False


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page that belong to its lines. `em` is the usual height of a word, at least 1."""

    words: tuple[Word, ...]
    lines: tuple[Line, ...]
    line_sizes: tuple[int, ...]
    em: float
    scanned: bool


def page_words(page: PageText) -> PageWords:
    """Tie the words of a page to its lines.

    Words outside all lines are left out: they stand in text that was removed from the page. A line without
    words of its own, as OCR may give it, is divided at its spaces; a turned line counts as one word.
    """
    near = _LineIndex(page.lines)
    owned = [(word, line) for word in page.words if (line := near.line_at(centre(word.box))) is not None]
    with_words = {line for _, line in owned}
    for number, alone in enumerate(page.lines):
        if number not in with_words and _sound(alone.box):
            owned += [(part, number) for part in _parts(alone)]
    words = tuple(
        Word(word.text, word.box, line, number, word.mono) for number, (word, line) in enumerate(owned)
    )
    sizes = Counter(word.line for word in words)
    heights = [min(word.box[3] - word.box[1], word.box[2] - word.box[0] + 4) for word in words]
    em = max(median(heights), 1.0) if heights else 1.0
    return PageWords(words, page.lines, tuple(sizes[n] for n in range(len(page.lines))), em, page.scanned)


def rows_of(words: Iterable[Word]) -> list[list[Word]]:
    """Words that stand beside each other, as rows from top to bottom, each from left to right."""
    rows: list[list[Word]] = []
    middle = height = 0.0
    for word in sorted(words, key=lambda word: word.box[1] + word.box[3]):
        y, tall = centre(word.box)[1], word.box[3] - word.box[1]
        if rows and y - middle <= max(height, tall) * _SAME_ROW:
            rows[-1].append(word)
            middle += (y - middle) / len(rows[-1])
            height = max(height, tall)
        else:
            rows.append([word])
            middle, height = y, tall
    return [sorted(row, key=lambda word: word.box[0]) for row in rows]


def segments_of(row: Sequence[Word], gap: float) -> list[list[Word]]:
    """A row divided where more than `gap` points lie between one word and the next."""
    segments: list[list[Word]] = []
    reached = -math.inf
    for word in row:
        if not segments or word.box[0] - reached > gap:
            segments.append([])
        segments[-1].append(word)
        reached = max(reached, word.box[2])
    return segments


def cell_text(words: Sequence[Word], page: PageWords) -> str:
    """The text of a cell: its rows from top to bottom, each in its script's direction.

    A line that lies in the cell as a whole is taken as it reads, which also keeps turned text right.
    """
    counts = Counter(word.line for word in words)
    whole = [line for line, count in counts.items() if count == page.line_sizes[line]]
    units = [word for word in words if counts[word.line] < page.line_sizes[word.line]]
    units += [Word(page.lines[line].text, page.lines[line].box, line, -1) for line in whole]
    return join_lines(_row_text(row) for row in rows_of(units))


def right_to_left(text: str) -> bool:
    """Whether most letters of a text belong to a script that is written from right to left."""
    directions = Counter(unicodedata.bidirectional(char) for char in text)
    return directions["R"] + directions["AL"] > directions["L"]


def box_of(words: Iterable[Word]) -> Box:
    """The smallest box around words; there must be at least one."""
    return around(word.box for word in words)


def _row_text(row: Sequence[Word]) -> str:
    if not right_to_left("".join(word.text for word in row)):
        return " ".join(word.text for word in row)
    # Numbers and Latin words keep their own order within a line that runs the other way.
    runs: list[list[str]] = []
    for word in reversed(row):
        foreign = not right_to_left(word.text)
        if runs and foreign and not right_to_left(runs[-1][0]):
            runs[-1].insert(0, word.text)
        else:
            runs.append([word.text])
    return " ".join(text for run in runs for text in run)


def _parts(line: Line) -> Iterable[Line]:
    """A line's words with boxes by their share of its characters."""
    if line.angle or line.vertical:
        yield line
        return
    left, top, right, bottom = line.box
    width = (right - left) / max(len(line.text), 1)
    for match in _TOKEN.finditer(line.text):
        box = (left + match.start() * width, top, left + match.end() * width, bottom)
        yield Line(match.group(), box, line.bold)


def _sound(box: Box) -> bool:
    return all(abs(side) < 1e6 for side in box) and box[0] <= box[2] and box[1] <= box[3]


class _LineIndex:
    """Finds the line at a point, by tiles of the page."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        sound = [number for number, line in enumerate(lines) if _sound(line.box)]
        self._high = max(median([lines[number].height for number in sound]) if sound else 1.0, 1.0)
        self._wide = self._high * 10
        self._tiles: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number in sound:
            left, top, right, bottom = lines[number].box
            columns = range(int(left // self._wide), int(right // self._wide) + 1)
            rows = range(int(top // self._high), int(bottom // self._high) + 1)
            if len(columns) * len(rows) > 1_000:
                continue
            for tile in ((column, row) for column in columns for row in rows):
                if len(self._tiles[tile]) < _MAX_STACKED:
                    self._tiles[tile].append(number)

    def line_at(self, point: tuple[float, float]) -> int | None:
        """The smallest line around a point, None where there is none."""
        x, y = point
        if not (abs(x) < 1e6 and abs(y) < 1e6):
            return None
        around_it = [
            number
            for number in self._tiles.get((int(x // self._wide), int(y // self._high)), ())
            if self._lines[number].box[0] - 0.5 <= x <= self._lines[number].box[2] + 0.5
            and self._lines[number].box[1] - 0.5 <= y <= self._lines[number].box[3] + 0.5
        ]
        return min(around_it, key=lambda number: _area(self._lines[number].box), default=None)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
