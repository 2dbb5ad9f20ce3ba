"""All values of a sentence."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from rag_pipeline.query.conflicts.amounts import find_counts, find_money, find_percentages
from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.durations import find_durations
from rag_pipeline.query.conflicts.permissions import find_permissions
from rag_pipeline.query.conflicts.points import find_dates, find_versions
from rag_pipeline.query.conflicts.value import Bound, Value

_FINDERS: Final[Mapping[ValueKind, Callable[[str], Iterator[Value]]]] = {
    # In this order: what an earlier one took is no value of a later one. 1 March 2026 holds no count, and
    # 30 days neither.
    ValueKind.DATE: find_dates,
    ValueKind.VERSION: find_versions,
    ValueKind.MONEY: find_money,
    ValueKind.PERCENTAGE: find_percentages,
    ValueKind.DURATION: find_durations,
    ValueKind.COUNT: find_counts,
    ValueKind.PERMISSION: find_permissions,
}

_CONDITION = re.compile(
    r"(?:\b(?:more|longer|later|older|greater|higher)[ ]than|\b(?:above|exceed(?:s|ing)?|below|under)"
    r"(?:[ ]a[ ]value[ ]of)?|(?<!carry[ ])(?<!carried[ ])(?<!left[ ])\bover|\bfor[ ]each"
    r"|超过|多于|大于|高于|低于|不足|不满|少于)[ ]?$",
    re.IGNORECASE,
)
_MINIMUM = re.compile(
    r"(?:\b(?:at[ ]least|not?[ ](?:less|fewer|shorter)[ ]than|minimum(?:[ ]of)?|earliest)"
    r"|至少|最少|不少于|不低于|最低)[ ]?[为是需]?[ ]?$",
    re.IGNORECASE,
)
_MAXIMUM = re.compile(
    r"(?:\b(?:at[ ](?:the[ ])?most|up[ ]to|not?[ ](?:more|longer|later|older)[ ]than|maximum(?:[ ]of)?)"
    r"|最多|至多|不超过|不多于|不得超过|上限)[ ]?[为是]?[ ]?$",
    re.IGNORECASE,
)
_LOOK_BACK = 24
_IN_CONDITION = re.compile(
    r"(?:\b(?:more|longer|older|greater|higher)[ ]than|超过|多于|大于)[ ]?\S+[ ][^,;.，；。]{1,40}$"
)


def find_values(sentence: str, kinds: frozenset[ValueKind] = frozenset(ValueKind)) -> list[Value]:
    """The values of these kinds that a sentence states, in order of place.

    Where two would overlap the kind that is found first stands, and of one kind the longer. No fee at all is
    both an amount of money and a percentage.
    """
    found = {kind: list(_FINDERS[kind](sentence)) for kind in kinds}
    # Most sentences hold no value of the kinds asked for, and need not be searched for all others.
    if not any(found.values()):
        return []
    taken: list[Value] = []
    free = bytearray(b"\1") * len(sentence)
    for kind, find in _FINDERS.items():
        values = found[kind] if kind in found else find(sentence)
        for value in sorted(values, key=lambda value: (value.start - value.end, value.start)):
            is_free = all(free[value.start : value.end])
            if is_free or (kind is ValueKind.PERCENTAGE and not value.high):
                free[value.start : value.end] = bytes(value.end - value.start)
                taken.append(value)
    chosen = [replace(value, bound=_bound(sentence, value)) for value in taken if value.kind in kinds]
    return sorted(chosen, key=lambda value: (value.start, value.kind))


def _bound(sentence: str, value: Value) -> Bound:
    before = sentence[max(0, value.start - _LOOK_BACK) : value.start]
    if _MAXIMUM.search(before):
        return Bound.MAXIMUM
    if _MINIMUM.search(before):
        return Bound.MINIMUM
    if _CONDITION.search(before) or _IN_CONDITION.search(
        sentence, max(0, value.start - 2 * _LOOK_BACK), value.start
    ):
        return Bound.CONDITION
    return Bound.PLAIN
