"""Putting the words of a page together to lines. Pure functions over boxes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.frames import Frame, frame_of, turned, turned_back
from rag_pipeline.normalize.layout.page_text import Line, around

# Words on one baseline with less than this between them, in heights, belong to one line. Justified lines come
# close to it; the gutter between columns is hardly ever narrower.
_MOST_GAP: Final = 1.0
# A number or bullet stands this far from its text at most; a tab may lie between.
_MOST_GAP_AFTER_MARKER: Final = 3.5
# Code is set in columns of its own: `SELECT     name`.
_MOST_GAP_IN_CODE: Final = 8.0
# A gap of this share of a space is one; the parser splits words by the same rule.
_SPACE: Final = 0.33
# How much of the smaller word's height two words of one line share at least.
_LEAST_OVERLAP: Final = 0.5
# Larger letters than this beside small ones are initials over several lines, or another text.
_MOST_RATIO: Final = 2.2
# Raised digits are at least this much smaller than the text that they follow, and end above its baseline.
_RAISED_HEIGHT: Final = 0.85
_RAISED_BY: Final = 0.15
# How many unfinished lines are tried at one height: many only where words lie upon each other.
_MOST_OPEN: Final = 8

_MARKER: Final = re.compile(
    r"^(?:\W{1,2}|[(（]?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{2,5})[.)）:]?|\d{1,2}(?:\.\d{1,3}){1,4}\.?)$"
)
# A bullet whose font gives only the name of its glyph.
_GLYPH_NAME: Final = re.compile(r"^[A-Za-z]{1,3}\d{2,8}$")
_BOLD: Final = re.compile(r"bold|black|heavy|semibold|demi|medi$|[-,]bd\b|cmbx|cmb\d", re.IGNORECASE)
_MONO: Final = re.compile(
    r"courier|mono|consol|menlo|typewriter|cmtt|lettergothic|mastergothic|fixed|sourcecode|firacode|"
    r"lucidasanstyp|andale|terminal|inconsolata|nimbusmon",
    re.IGNORECASE,
)
_NOT_MONO: Final = re.compile(r"monotype", re.IGNORECASE)
_SUBSET: Final = re.compile(r"^/?(?:[A-Z]{6}\+)?")
_RTL: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LTR: Final = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u058f\u0e00-\u1fff\u2e80-\ua4cf\uac00-\ud7af]")


class Word(NamedTuple):
    """A word as the parser gives it. `space` is the width of a space in its font; 0 where it is not known."""

    text: str
    box: Box
    font: str = ""
    space: float = 0.0
    angle: int = 0
    vertical: bool = False


@cache
def font_name(name: str) -> str:
    """A font's name without the mark of an embedded subset."""
    return _SUBSET.sub("", name)


@cache
def is_bold(font: str) -> bool:
    """Whether a font's name says that its letters are bold."""
    return _BOLD.search(font) is not None


@cache
def is_mono(font: str) -> bool:
    """Whether a font's name says that all its letters are equally wide."""
    return _MONO.search(font) is not None and _NOT_MONO.search(font) is None


def word_line(word: Word) -> Line:
    """A single word as a line of its own."""
    return Line(
        word.text,
        word.box,
        bold=is_bold(word.font),
        font=word.font,
        mono=is_mono(word.font),
        angle=word.angle,
        vertical=word.vertical,
        rtl=_is_rtl(word.text),
    )


def lines_of(words: Sequence[Word]) -> list[Line]:
    """The lines of a page, in the order of their first words.

    Turned and vertical text is joined along its own baselines. Lines that are written from right to left come
    in logical order.
    """
    frames: dict[Frame, list[tuple[int, Word]]] = defaultdict(list)
    for index, word in enumerate(words):
        frames[frame_of(word.angle, vertical=word.vertical)].append((index, word))
    found: list[tuple[int, Line]] = []
    for frame, members in frames.items():
        if frame is Frame.SLANTED:
            found += _slanted(members)
            continue
        upright = [(index, word._replace(box=turned(word.box, frame))) for index, word in members]
        for group in _joined(upright):
            line = _line(group.words)
            if frame is not Frame.UPRIGHT:
                angle = 0 if line.vertical else frame.value
                line = replace(line, box=turned_back(line.box, frame), angle=angle)
            found.append((group.first, line))
    return [line for _, line in sorted(found, key=lambda item: item[0])]


def _slanted(words: Sequence[tuple[int, Word]]) -> Iterator[tuple[int, Line]]:
    """Words at odd angles: those that follow each other at the same angle are a line."""
    for _, group in groupby(words, key=lambda item: item[1].angle):
        members = list(group)
        line = word_line(members[0][1])
        text = " ".join(word.text for _, word in members)
        yield members[0][0], replace(line, text=text, box=around(word.box for _, word in members))


@dataclass(slots=True)
class _Group:
    """The words of a line so far, from left to right or from top to bottom."""

    first: int
    words: list[Word]
    box: Box
    height: float

    def add(self, index: int, word: Word) -> None:
        self.first = min(self.first, index)
        self.words.append(word)
        left, top, right, bottom = word.box
        box = self.box
        self.box = (min(box[0], left), min(box[1], top), max(box[2], right), max(box[3], bottom))
        self.height = max(self.height, word.box[3] - word.box[1])


def _joined(words: Iterable[tuple[int, Word]]) -> list[_Group]:
    """Words grouped to lines, looking at each height only at the lines that grew last."""
    groups: list[_Group] = []
    open_at: dict[int, list[_Group]] = defaultdict(list)
    for index, word in sorted(words, key=lambda item: item[1].box[0]):
        _, top, _, bottom = word.box
        level = int((top + bottom) / 2) // 8
        near = [group for step in (level, level - 1, level + 1) for group in open_at[step]]
        group = min(
            (group for group in near if _same_line(group, word)),
            key=lambda group: word.box[0] - group.box[2],
            default=None,
        )
        if group is None:
            group = _Group(index, [word], word.box, bottom - top)
            groups.append(group)
        else:
            group.add(index, word)
        kept = [other for other in open_at[level] if other is not group]
        open_at[level] = [*kept[1 - _MOST_OPEN :], group]
    return groups


def _same_line(group: _Group, word: Word) -> bool:
    last = group.words[-1]
    height, last_height = word.box[3] - word.box[1], last.box[3] - last.box[1]
    smaller, larger = min(height, group.height), max(height, group.height, 0.1)
    shared = min(group.box[3], word.box[3]) - max(group.box[1], word.box[1])
    if shared < smaller * _LEAST_OVERLAP or larger > smaller * _MOST_RATIO:
        return False
    allowed = _MOST_GAP * max(height, last_height)
    sign = _GLYPH_NAME.match(last.text) is not None and last.font != word.font
    if len(group.words) == 1 and (sign or _MARKER.match(last.text)):
        allowed *= _MOST_GAP_AFTER_MARKER
    elif word.font == last.font and is_mono(word.font):
        allowed *= _MOST_GAP_IN_CODE
    return -larger * _LEAST_OVERLAP < word.box[0] - group.box[2] < allowed


def _line(words: Sequence[Word]) -> Line:
    rtl = _is_rtl(" ".join(word.text for word in words))
    ordered = _from_right_to_left(words) if rtl else words
    main = _main_font(words)
    core = [word.box for word in words if word.font == main]
    tallest = max(box[3] - box[1] for box in core)
    core = [box for box in core if box[3] - box[1] > tallest * _RAISED_HEIGHT]
    left, _, right, _ = around(word.box for word in words)
    _, top, _, bottom = around(core)
    text = ordered[0].text
    for before, word in pairwise(ordered):
        text += _between(before, word, bottom) + word.text
    characters = sum(len(word.text) for word in words)
    return Line(
        text,
        (left, top, right, bottom),
        bold=2 * sum(len(word.text) for word in words if is_bold(word.font)) > characters,
        font=main,
        mono=all(is_mono(word.font) for word in words),
        vertical=words[0].vertical,
        rtl=rtl,
        lead=ordered[0].text if len(words) > 1 and ordered[0].font != ordered[1].font else "",
        raised=len(words) > 1 and _is_raised(ordered[0], bottom - top, bottom),
    )


def _main_font(words: Sequence[Word]) -> str:
    """The font of most characters."""
    count: dict[str, int] = defaultdict(int)
    for word in words:
        count[word.font] += len(word.text)
    return max(count, key=count.__getitem__)


def _between(before: Word, word: Word, baseline: float) -> str:
    """What stands between two neighbours in a line: nothing, a space, or several in code."""
    gap = max(word.box[0] - before.box[2], before.box[0] - word.box[2])
    height = max(word.box[3] - word.box[1], before.box[3] - before.box[1])
    if before.font == word.font and is_mono(word.font) and gap > 0:
        return " " * max(1, round(gap / (before.space or height / 2)))
    if gap > _SPACE * (min(before.space or height / 4, word.space or height / 4)):
        return " "
    raised = _is_raised(before, height, baseline) or _is_raised(word, height, baseline)
    turns = bool(_RTL.search(before.text)) != bool(_RTL.search(word.text))
    letters = before.text[-1:].isalpha() and word.text[:1].isalpha()
    return " " if raised or (turns and letters) else ""


def _is_raised(word: Word, height: float, baseline: float) -> bool:
    """Whether a word is smaller than the line and stands above its baseline, as the mark of a footnote."""
    _, top, _, bottom = word.box
    return bottom - top < height * _RAISED_HEIGHT and bottom < baseline - height * _RAISED_BY


def _is_rtl(text: str) -> bool:
    right = len(_RTL.findall(text))
    return right > 0 and right >= len(_LTR.findall(text))


def _from_right_to_left(words: Sequence[Word]) -> list[Word]:
    """Words from right to left, but runs of numbers and foreign words among them from left to right."""
    ordered: list[Word] = []
    run: list[Word] = []
    for word in sorted(words, key=lambda word: -word.box[2]):
        if _RTL.search(word.text):
            ordered += [*reversed(run), word]
            run = []
        else:
            run.append(word)
    return [*ordered, *reversed(run)]
