"""The strokes of a page made simple: pieces of one stroke joined, strokes that meet gathered."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.page_text import Rule, around

# More strokes than any table needs make a drawing; looking for grids in it would only take time.
_MAX_MERGED: Final = 2_000
_FAR: Final = 1e6


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
