"""Which cases are fitted together and which are measured: a document's questions are on one side only."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from rag_pipeline.evaluation.calibrating.examples import AskedCase

FOLDS = 5

# Cases that hang together by their documents, of all: with more, folds would be of too different sizes.
_LARGEST_SHARE = 0.5


class Folds(NamedTuple):
    """The fold of each case, from 0. Not `by_document`: a document's cases may be in several."""

    numbers: list[int]
    by_document: bool


def fold(cases: Sequence[AskedCase]) -> Folds:
    """Deal the cases into folds, the same ones each time; answerable and other ones alike.

    Cases that share a document, be it through others, come into one fold, unless too many hang together.
    """
    answerable = [number for number, case in enumerate(cases) if case.answerable]
    others = [number for number, case in enumerate(cases) if not case.answerable]
    groups = _connected(cases, answerable)
    by_document = len(groups) >= FOLDS and max(map(len, groups)) <= _LARGEST_SHARE * len(answerable)
    if not by_document:
        groups = [[number] for number in answerable]
    numbers = [0] * len(cases)
    for some in (groups, [[number] for number in others]):
        sizes = [0] * FOLDS
        # In an order that has nothing to do with the one in which people write them.
        for group in sorted(some, key=lambda group: (-len(group), _shuffled(cases[group[0]].key))):
            smallest = sizes.index(min(sizes))
            sizes[smallest] += len(group)
            for number in group:
                numbers[number] = smallest
    return Folds(numbers, by_document)


def _connected(cases: Sequence[AskedCase], numbers: Sequence[int]) -> list[list[int]]:
    """The cases in groups that share no document with each other."""
    group_of: dict[str, list[int]] = {}
    for number in numbers:
        documents = cases[number].documents
        joined = [number]
        for other in {id(group_of[one]): group_of[one] for one in documents if one in group_of}.values():
            joined += other
        for document in {one for member in joined for one in cases[member].documents}:
            group_of[document] = joined
    return list({id(group): sorted(group) for group in group_of.values()}.values())


def _shuffled(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
