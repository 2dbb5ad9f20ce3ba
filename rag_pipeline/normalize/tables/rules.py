"""The strokes of a page made simple: pieces of one stroke joined, strokes that meet gathered."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.layout.page_text import Rule, around

# More strokes than any table needs make a drawing; looking for grids in it would only take time.
_MAX_MERGED: Final = 2_000
_FAR: Final = 1e6
# The share of a table's width from which on a rule parts its rows, and of a side from which on it frames it.
_MOST_OF_WIDTH: Final = 0.7
_MOST_OF_SIDE: Final = 0.9


def merge_rules(rules: Iterable[Rule], touch: float, least: float) -> list[Rule]:
    """Rules with their pieces joined: strokes on one line that lie within `touch` of each other are one.

    Those that stay shorter than `least` are left out: they make check boxes and bullets. A drawing with too
    many strokes for a table gives none.
    """
    sound = [rule for rule in rules if max(abs(rule.position), abs(rule.start), abs(rule.end)) < _FAR]
    merged: list[Rule] = []
    for horizontal in (True, False):
        parallel = sorted(
            (rule for rule in sound if rule.horizontal is horizontal), key=lambda rule: rule.position
        )
        for group in _close(parallel, touch):
            merged += [rule for rule in _joined(group, touch) if rule.end - rule.start >= least]
    return merged if len(merged) <= _MAX_MERGED else []


def meeting_rules(rules: Sequence[Rule], touch: float) -> list[list[Rule]]:
    """Groups of rules that cross or touch, directly or through others."""
    parents = list(range(len(rules)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    level = sorted(
        (number for number, rule in enumerate(rules) if rule.horizontal), key=lambda n: rules[n].position
    )
    positions = [rules[number].position for number in level]
    for number, rule in enumerate(rules):
        if rule.horizontal:
            continue
        first = bisect_left(positions, rule.start - touch)
        for other in level[first : bisect_right(positions, rule.end + touch)]:
            if rules[other].start - touch <= rule.position <= rules[other].end + touch:
                parents[root(other)] = root(number)
    groups: dict[int, list[Rule]] = defaultdict(list)
    for number, rule in enumerate(rules):
        groups[root(number)].append(rule)
    return list(groups.values())


def rules_box(rules: Iterable[Rule]) -> Box:
    """The smallest box around rules; there must be at least one."""
    return around(
        (rule.start, rule.position, rule.end, rule.position)
        if rule.horizontal
        else (rule.position, rule.start, rule.position, rule.end)
        for rule in rules
    )


def parting_rules(level: Iterable[Rule], box: Box) -> list[Rule]:
    """The level rules in a box that reach over most of its width, alone or side by side."""
    left, top, right, bottom = box
    side_by_side: dict[int, list[Rule]] = defaultdict(list)
    for rule in level:
        if top < rule.position < bottom and rule.start < right and rule.end > left:
            side_by_side[round(rule.position)].append(rule)
    return [
        rule
        for rules in side_by_side.values()
        if sum(min(r.end, right) - max(r.start, left) for r in rules) > _MOST_OF_WIDTH * (right - left)
        for rule in rules
    ]


def on_edge(rule: Rule, box: Box, touch: float) -> bool:
    """Whether a rule makes up most of a side of a box."""
    edges = (box[1], box[3]) if rule.horizontal else (box[0], box[2])
    full = box[2] - box[0] if rule.horizontal else box[3] - box[1]
    return (
        any(abs(rule.position - edge) <= touch for edge in edges)
        and rule.end - rule.start >= _MOST_OF_SIDE * full
    )


def rules_of_one_width(rules: Iterable[Rule], slack: float) -> Iterator[list[Rule]]:
    """Level rules that begin and end at about the same places, two or more, from top to bottom."""
    groups: dict[tuple[int, int], list[Rule]] = defaultdict(list)
    for rule in sorted(rules, key=lambda rule: rule.position):
        left, right = round(rule.start / slack), round(rule.end / slack)
        keys = [(x, y) for x in (left, left - 1, left + 1) for y in (right, right - 1, right + 1)]
        groups[next((key for key in keys if key in groups), keys[0])].append(rule)
    yield from (group for group in groups.values() if len(group) > 1)


def distinct(positions: Iterable[float], apart: float) -> list[float]:
    """Positions in order, those within `apart` of the one before left out."""
    kept: list[float] = []
    for position in sorted(positions):
        if not kept or position - kept[-1] > apart:
            kept.append(position)
    return kept


def _close(rules: Sequence[Rule], touch: float) -> Iterable[list[Rule]]:
    """Parallel rules, sorted by position, in groups no wider than `touch`."""
    group: list[Rule] = []
    for rule in rules:
        if group and rule.position - group[0].position > touch:
            yield group
            group = []
        group.append(rule)
    if group:
        yield group


def _joined(group: Sequence[Rule], touch: float) -> Iterable[Rule]:
    """Rules at about one position, joined where they overlap or nearly meet."""
    current: Rule | None = None
    for rule in sorted(group, key=lambda rule: rule.start):
        if current is not None and rule.start <= current.end + touch:
            current = Rule(current.horizontal, current.position, current.start, max(current.end, rule.end))
        else:
            if current is not None:
                yield current
            current = rule
    if current is not None:
        yield current
