"""Finding the rules of tables in a picture: long thin strokes, level or upright."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.page_text import Rule

if TYPE_CHECKING:
    from rag_pipeline.normalize.ocr import Picture

# A rule is longer than the strokes of letters, and no thicker than those of a headline, in line heights.
# Upright strokes of letters are shorter than a line, level ones may join.
_SHORTEST_LEVEL: Final = 1.6
_SHORTEST_UPRIGHT: Final = 1.0
_THICKEST: Final = 0.3
# How much darker than the ground on both its sides a rule is, of 255; pale gray ones are 30. The border of a
# coloured cell is found by it, and its ground is not.
_DARKER: Final = 14
# A rule that scanning broke is one where the parts are level and this close, in line heights.
_GAP: Final = 0.5
# Where letters touch they make level strokes: within a line, but for its outermost parts, there is no rule.
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
        for rule in _joined(_straight(strokes, line_height, thickest, horizontal), _GAP * line_height)
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

    shortest = max(int((_SHORTEST_LEVEL if horizontal else _SHORTEST_UPRIGHT) * line_height), 8)
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


def _joined(rules: list[Rule], gap: float) -> list[Rule]:
    """Parallel rules with those joined that continue each other."""
    levels: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.position):
        if levels and rule.position - levels[-1][-1].position <= gap / 2:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    joined: list[Rule] = []
    for level in levels:
        level.sort(key=lambda rule: rule.start)
        run = level[0]
        for rule in level[1:]:
            if rule.start - run.end <= gap:
                run = Rule(run.horizontal, run.position, run.start, max(run.end, rule.end))
            else:
                joined.append(run)
                run = rule
        joined.append(run)
    return joined


def _of_a_line(rule: Rule, lines: Sequence[Box]) -> bool:
    """Whether a stroke is part of a line's letters: a level one runs through, an upright one ends in them."""
    for left, top, right, bottom in lines:
        margin = _MARGIN * (bottom - top)
        if rule.horizontal:
            shared = min(rule.end, right) - max(rule.start, left)
            inside = top + margin < rule.position < bottom - margin and 2 * shared > rule.end - rule.start
        else:
            inside = (
                left < rule.position < right and top - margin <= rule.start and rule.end <= bottom + margin
            )
        if inside:
            return True
    return False
