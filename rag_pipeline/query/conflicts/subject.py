"""Whether a statement is about what was asked, and whether two statements are about the same thing."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rag_pipeline.query.conflicts.asked import Asked
from rag_pipeline.query.conflicts.candidate import Candidate
from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.scopes import Scopes
from rag_pipeline.query.conflicts.terms import (
    Term,
    excludes,
    has_contrast,
    is_measure,
    numbered,
    share_found,
    term_parts,
)  # fmt: skip
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.scripts import written_in_han

_WEIGHTS: Final[Mapping[str, float]] = {
    # What asks for a kind of value, which the value itself answers.
    "version": 0.1, "firmware": 0.1, "minimum": 0.1, "number": 0.1, "amount": 0.1, "share": 0.1, "price": 0.1,
    "size": 0.1, "hours": 0.1, "deadline": 0.4, "limit": 0.4,
    # What a text often leaves out: "you" for the customer, and that something is paid.
    "customer": 0.2, "user": 0.2, "member": 0.35, "guest": 0.35, "person": 0.35, "employee": 0.35,
    "order": 0.35, "item": 0.35, "pay": 0.35, "valid": 0.35, "request": 0.35, "submit": 0.35,
}  # fmt: skip
"""How much a concept of the question counts; 1 where it is not here."""

_UNSPOKEN: Final = 0.3
"""A word of the question that no evidence has: all of it may take it for granted, as a gym does "gym"."""

_UNLISTED_CHINESE: Final = 0.5
"""A run of Chinese that is in no list: a name, or words that another text puts differently."""

_ASKED_ABOUT: Final = 0.55
"""The least share of the question's words for a statement to be about it."""
_SURELY_ASKED_ABOUT: Final = 0.7
"""The same for permissions, which every modal verb states, and where values of any kind may be meant."""

_IN_DOCUMENT: Final = 0.3
"""How much a word counts that only another part of the document's evidence has."""

_FEW_KINDS: Final = 2

_FEWEST_KNOWN: Final = 2
"""The fewest words of a question that must be known in the passage's language; one alone says too little."""

_AS_MUCH: Final = 0.65
"""The least part of what one covers of the question that the other has to cover too."""

_CODE = re.compile(r"([A-Za-z]+)-?\d+[A-Za-z]?")
_ONLY_IN = re.compile(
    r"\b(?:in|for|from)[ ]([A-Z][\w-]+)(?=[ ]?(?:[,.;:)]|$|and\b|or\b|only\b|may\b|can\b|they\b|is\b|are\b))"
)


class Subject:
    """What a question is about, among this evidence.

    Words are not weighted by how rare they are, since a handful of passages says nothing of that; but a word
    of the question that no evidence has tells little apart.
    """

    def __init__(self, asked: Asked, evidence: Sequence[Evidence], scopes: Scopes) -> None:
        self._asked = asked
        self._scopes = scopes
        self._documents: dict[str, frozenset[str]] = {}
        for one in evidence:
            known = self._documents.get(one.document_id, frozenset())
            self._documents[one.document_id] = known | term_parts(f"{one.heading}\n{one.text}")
        spoken_of = frozenset[str]().union(*self._documents.values())
        self._weights = {
            term: _weight(term) * (1.0 if share_found(term, spoken_of) else _UNSPOKEN)
            for term in asked.topics or asked.names
        }

    def share(self, candidate: Candidate) -> float:
        """How much of what was asked the statement is about, up to 1, and 0 for one about something else.

        It is about something else where that excludes what was asked: the other plan, the other model, the
        part-time employees where the full-time ones are asked about; and where it is only for a place that
        the question does not name.
        """
        value = candidate.statement.value
        if (
            value.kind is ValueKind.COUNT
            and not is_measure(value.unit)
            and value.unit not in self._asked.keys
        ):
            return 0.0
        if _is_about_another(self._asked, candidate) or self._lacks_attribute(candidate):
            return 0.0
        share = self._coverage(candidate)
        any_kind = len(self._asked.kinds) > _FEW_KINDS
        least = _SURELY_ASKED_ABOUT if any_kind or value.kind is ValueKind.PERMISSION else _ASKED_ABOUT
        return share if share >= least else 0.0

    def is_same_thing(self, one: Candidate, other: Candidate) -> bool:
        """Whether two statements that are about the question are about the same thing."""
        if not one.statement.value.comparable_with(other.statement.value):
            return False
        if not (self._covers_as_much(one, other) and self._covers_as_much(other, one)):
            return False
        first = {term.key for term in one.words if has_contrast(term.key)} - self._asked.keys
        second = {term.key for term in other.words if has_contrast(term.key)} - self._asked.keys
        if any(excludes(a, b) for a in first - second for b in second - first):
            return False
        return not _name_different_kinds(one, other, self._asked)

    def _lacks_attribute(self, candidate: Candidate) -> bool:
        attribute = self._asked.attribute
        foreign = self._asked.chinese != written_in_han(candidate.statement.whole)
        if attribute is None or (foreign and not attribute.translatable):
            return False
        return not any(share_found(attribute, parts) for _, parts in candidate.levels)

    def _covers_as_much(self, one: Candidate, other: Candidate) -> bool:
        """Names speak for the statement that has them, never against the other one."""
        return self._coverage(one) >= _AS_MUCH * self._coverage(other, with_names=False)

    def _coverage(self, candidate: Candidate, *, with_names: bool = True) -> float:
        """The share of the question's words that the statement has, the nearer ones counting more.

        Where question and passage are of different languages only words that are known in both count. A name
        in the question speaks for a document that is about it, and not against one that is about all.
        """
        weights = self._weights
        if self._asked.chinese != written_in_han(candidate.statement.whole):
            weights = {
                term: weight
                for term, weight in weights.items()
                if term.translatable or (term.is_name and not written_in_han(term.key))
            }
            if len(weights) < min(_FEWEST_KNOWN, len(self._weights)):
                return 0.0
        if not weights:
            return 0.0
        levels = (*candidate.levels, (_IN_DOCUMENT, self._documents[candidate.evidence.document_id]))
        found = sum(
            weight * max(level * share_found(term, parts) for level, parts in levels)
            for term, weight in weights.items()
        )
        named = self._scopes.degree(candidate) if with_names else 0
        return (found + named) / (sum(weights.values()) + named)


def _is_about_another(asked: Asked, candidate: Candidate) -> bool:
    parts = candidate.parts
    contrasting = {term.key for term in candidate.words if has_contrast(term.key)}
    if any(excludes(key, other) for key in asked.keys - parts for other in contrasting):
        return True
    for thing, numbers in numbered(f"{candidate.statement.clause} ; {candidate.statement.whole}").items():
        if thing in asked.numbered and not numbers & asked.numbered[thing]:
            return True
    own_names = [term for term in candidate.words if term.is_name and not written_in_han(term.key)]
    for name in asked.names:
        if written_in_han(name.key) or candidate.names(name):
            continue
        if any(_same_series(name.key, other.key) for other in own_names):
            return True
        heads = _neighbours(asked.ordered, name.key)
        if any(heads & _neighbours(candidate.words, other.key) for other in own_names):
            return True
    return any(
        not term_parts(place) <= asked.keys
        for place in _ONLY_IN.findall(candidate.statement.whole)
        if term_parts(place)
    )


def _name_different_kinds(one: Candidate, other: Candidate, asked: Asked) -> bool:
    """Whether each names a kind of the same thing that the other does not: Pier plan and Harbour plan."""
    first, second = _named_heads(one), _named_heads(other)
    for head in first.keys() & second.keys() & asked.keys:
        if not first[head] & second[head] and not (first[head] | second[head]) & asked.keys:
            return True
    return False


def _named_heads(candidate: Candidate) -> dict[str, set[str]]:
    heads: dict[str, set[str]] = {}
    for before, term in zip(candidate.words, candidate.words[1:], strict=False):
        for name, head in ((before, term), (term, before)):
            if name.is_name and not head.is_name and not written_in_han(name.key):
                heads.setdefault(head.key, set()).add(name.key)
    return heads


def _neighbours(words: Sequence[Term], key: str) -> set[str]:
    """The everyday words right before or behind a word."""
    return {
        words[beside].key
        for index, term in enumerate(words)
        if term.key == key
        for beside in (index - 1, index + 1)
        if 0 <= beside < len(words) and not words[beside].is_name
    }


def _same_series(one: str, other: str) -> bool:
    """Whether two names are models of one series: M7 and M9."""
    first, second = _CODE.fullmatch(one), _CODE.fullmatch(other)
    return bool(first and second and one != other and first[1].lower() == second[1].lower())


def _weight(term: Term) -> float:
    unlisted = term.is_name and written_in_han(term.key)
    return _UNLISTED_CHINESE if unlisted else _WEIGHTS.get(term.key, 1.0)
