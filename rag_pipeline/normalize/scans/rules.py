"""Finding the rules of tables in a picture: long thin strokes, level or upright."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import Rule

if TYPE_CHECKING:
    from rag_pipeline.normalize.scans.ocr import Picture

# A rule is longer than the strokes of letters, and no thicker than those of a headline, in line heights.
# Where an upright one is broken, as it is drawn row by row, a part of it may be as short as letters are high.
_SHORTEST: Final = 1.6
_SHORTEST_PART: Final = 0.8
_THICKEST: Final = 0.3
# How much darker than the ground on both its sides a rule is, of 255; pale gray ones are 30. The border of a
# coloured cell is found by it, and its ground is not.
_DARKER: Final = 14
# A rule that scanning broke is one where the parts are level and this close, in line heights.
_GAP: Final = 0.5
# Where rules cross, neither has a ground on both its sides; so far each is broken.
_CROSSING: Final = 0.15
# Where letters touch they make level strokes: within a line, but for its outermost parts, there is no rule.
# Nor is an upright stroke of a headline, which is lower than the line's box by so much.
_MARGIN: Final = 0.15
# A rule is painted over up to this distance from its middle, in line heights.
_PAINTED: Final = 0.1
# More strokes than any page of tables has are a photograph or a drawing.
_MOST: Final = 2_000


def find_rules(picture: "Picture", line_height: float, lines: Sequence[Box]) -> tuple[Rule, ...]:
    """The rules of a level picture, in pixels.

    `line_height` is that of its body text, `lines` are the places of its text. A picture with more strokes
    than any page of tables has gives none.
    """
    import cv2

    gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    thickest = max(_THICKEST * line_height, 3.0)
    strokes = cv2.max(*(_thin(gray, 2 * thickest, horizontal=horizontal) for horizontal in (True, False)))
    strokes = cv2.threshold(strokes, _DARKER, 255, cv2.THRESH_BINARY)[1]
    rules = [
        rule
        for horizontal in (True, False)
        for rule in _joined(_straight(strokes, line_height, thickest, horizontal), line_height)
    ]
    if len(rules) > _MOST:
        return ()
    return tuple(rule for rule in rules if not _of_a_line(rule, lines))


def without_rules(picture: "Picture", rules: Sequence[Rule], line_height: float) -> "Picture":
    """The picture with its rules painted over by what is beside them, so that no letter is read in them."""
    import numpy as np

    if not rules:
        return picture
    painted = picture.copy()
    height, width = picture.shape[:2]
    reach = max(int(_PAINTED * line_height), 2)
    for rule in rules:
        first, last = max(int(rule.start), 0), int(rule.end) + 1
        middle = int(rule.position)
        top, bottom = max(middle - reach, 0), min(middle + reach + 1, height if rule.horizontal else width)
        strip = (slice(top, bottom), slice(first, last))
        band = painted[strip] if rule.horizontal else painted[strip[::-1]].swapaxes(0, 1)
        if not band.size:
            continue
        edge = np.maximum(band[0], band[-1])
        band[:] = edge
    return painted


def _thin(gray: Any, length: float, *, horizontal: bool) -> Any:
    """How much darker than its ground all is that is narrower than `length` across."""
    import cv2

    return cv2.morphologyEx(gray, cv2.MORPH_BLACKHAT, _bar(int(length) + 1, horizontal=not horizontal))


def _straight(strokes: Any, line_height: float, thickest: float, horizontal: bool) -> list[Rule]:
    import cv2

    shortest = max(int((_SHORTEST if horizontal else _SHORTEST_PART) * line_height), 8)
    straight = cv2.morphologyEx(strokes, cv2.MORPH_OPEN, _bar(shortest, horizontal=horizontal))
    _, _, stats, _ = cv2.connectedComponentsWithStats(straight, connectivity=8)
    found = []
    for left, top, width, height, area in stats[1:].tolist():  # the first is the ground
        along, across = (width, height) if horizontal else (height, width)
        if area / along <= thickest:
            start, position = (left, top) if horizontal else (top, left)
            found.append(Rule(horizontal, position + across / 2, float(start), float(start + along)))
    return found


def _bar(length: int, *, horizontal: bool) -> Any:
    import cv2

    return cv2.getStructuringElement(cv2.MORPH_RECT, (length, 1) if horizontal else (1, length))


def _joined(rules: list[Rule], line_height: float) -> list[Rule]:
    """Parallel rules, joined where they continue each other; parts that continue no long one are left out."""
    joined: list[Rule] = []
    for level in _levels(rules, line_height * _GAP / 2):
        strokes = [_whole(run) for run in _runs(level, line_height * _CROSSING)]
        for run in _runs(strokes, line_height * _GAP):
            if max(stroke.end - stroke.start for stroke in run) >= _SHORTEST * line_height:
                joined.append(_whole(run))
    return joined


def _runs(level: list[Rule], gap: float) -> list[list[Rule]]:
    """Rules of one position in groups that have no wider gaps than this."""
    runs: list[list[Rule]] = []
    end = 0.0
    for rule in sorted(level, key=lambda rule: rule.start):
        if runs and rule.start - end <= gap:
            runs[-1].append(rule)
        else:
            runs.append([rule])
        end = max(rule.end, end)
    return runs


def _whole(run: list[Rule]) -> Rule:
    longest = max(run, key=lambda rule: rule.end - rule.start)
    return Rule(longest.horizontal, longest.position, run[0].start, max(rule.end for rule in run))


def _levels(rules: list[Rule], near: float) -> list[list[Rule]]:
    """Parallel rules by their positions."""
    levels: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.position):
        if levels and rule.position - levels[-1][-1].position <= near:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    return levels


def _of_a_line(rule: Rule, lines: Sequence[Box]) -> bool:
    """Whether a stroke is part of a line's letters: a level one runs through, an upright one ends in them."""
    for left, top, right, bottom in lines:
        margin = _MARGIN * (bottom - top)
        if rule.horizontal:
            shared = min(rule.end, right) - max(rule.start, left)
            inside = top + margin < rule.position < bottom - margin and 2 * shared > rule.end - rule.start
        else:
            low = rule.end - rule.start < (1 - _MARGIN) * (bottom - top)
            inside = low and left < rule.position < right and top <= rule.start and rule.end <= bottom
        if inside:
            return True
    return False
