"""Whether a statement is about what was asked, and whether two statements are about the same thing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rag_pipeline.query.conflicts.asked import Asked
from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.statements import Statement
from rag_pipeline.query.conflicts.terms import (
    Term, excludes, has_contrast, is_chinese, is_measure, numbered, related, term_parts, terms,
)  # fmt: skip
from rag_pipeline.query.evidence import Evidence

# How much a word of the question counts by where it stands: what the value's own clause says is surely about
# it, what a heading says less so.
_IN_CLAUSE: Final = 1.0
_IN_SENTENCE: Final = 0.7
_NEARBY: Final = 0.7
_IN_TITLE: Final = 0.7
_RELATED_COUNTS: Final = 0.7

_WEIGHTS: Final[Mapping[str, float]] = {
    # What asks for a kind of value, which the value itself answers.
    **dict.fromkeys("version firmware deadline limit minimum number amount share price size hours".split(), 0.1),
    # What a text often leaves out: "you" for the customer, and that something is paid.
    **dict.fromkeys(
        "customer user member guest person employee order item pay valid request submit".split(), 0.35
    ),
}
_UNLISTED_CHINESE: Final = 0.5
"""A run of Chinese that is in no list: a name, or words that another text puts differently."""

_ASKED_ABOUT: Final = 0.55
"""The least share of the question's words for a statement to be about it."""
_SURELY_ASKED_ABOUT: Final = 0.7
"""The same for permissions, which every modal verb states, and where values of any kind may be meant."""

_FEW_KINDS: Final = 2

_FEWEST_KNOWN: Final = 2
"""The fewest words of a question that have to be known in the passage's language; one alone says too little."""

_AS_MUCH: Final = 0.7
"""The least part of what one covers of the question that the other has to cover too."""

_CODE = re.compile(r"([A-Za-z]+)-?\d+[A-Za-z]?")
_ONLY_IN = re.compile(
    r"\b(?:in|for|from)[ ]([A-Z][\w-]+)(?=[ ]?(?:[,.;:)]|$|and\b|or\b|only\b|may\b|can\b|they\b|is\b|are\b))"
)


@dataclass(frozen=True)
class Candidate:
    """A statement in its piece of evidence."""

    evidence: Evidence
    statement: Statement

    @cached_property
    def own_text(self) -> str:
        """What is said of the value itself, the narrowest headings included."""
        section = self.evidence.section_path[-1] if self.evidence.section_path else ""
        heading = self.statement.heading or section
        return f"{self.statement.clause}\n{self.statement.whole}\n{heading}"

    @cached_property
    def words(self) -> Sequence[Term]:
        """The content words of `own_text`, in order."""
        return terms(self.own_text)

    @cached_property
    def parts(self) -> frozenset[str]:
        """The same, to look words up in."""
        return term_parts(self.own_text)

    @cached_property
    def levels(self) -> Sequence[tuple[float, frozenset[str]]]:
        """The words around the value, nearest first, each with what a word found there counts."""
        statement, evidence = self.statement, self.evidence
        nearby = " \n ".join((*evidence.section_path, statement.heading, statement.before))
        return (
            (_IN_CLAUSE, term_parts(statement.clause)),
            (_IN_SENTENCE, term_parts(statement.whole)),
            (_NEARBY, term_parts(nearby)),
            (_IN_TITLE, term_parts(f"{evidence.document_title} \n {evidence.source_title}")),
        )

    def names(self, name: Term) -> bool:
        """Whether the statement or its headings name this."""
        return any(_found(name, parts) >= 1 for _, parts in self.levels)


def coverage(asked: Asked, candidate: Candidate) -> float:
    """How much of what the question is about the statement has, 0 to 1.

    Where question and passage are of different languages only words that are known in both count.
    """
    foreign = asked.chinese != is_chinese(candidate.statement.whole)
    weights = {term: _weight(term) for term in asked.topics or asked.names}
    if foreign:
        known = {term: weight for term, weight in weights.items() if term.translatable or term in asked.names}
        if len(known) < min(_FEWEST_KNOWN, len(weights)):
            return 0.0
        weights = known
    if not weights:
        return 0.0
    found = sum(
        weight * max(level * _found(term, parts) for level, parts in candidate.levels)
        for term, weight in weights.items()
    )
    return found / sum(weights.values())


def is_asked_about(asked: Asked, candidate: Candidate) -> float:
    """The coverage of a statement that is about what was asked, 0 for one that is not.

    A statement about something that excludes what was asked is not: the other plan, the other model, the
    part-time employees where the full-time ones are asked about; nor is one that is only for a place or group
    that the question does not name.
    """
    value = candidate.statement.value
    if value.kind is ValueKind.COUNT and not is_measure(value.unit) and value.unit not in asked.keys:
        return 0.0
    if _is_about_another(asked, candidate):
        return 0.0
    share = coverage(asked, candidate)
    any_kind = len(asked.kinds) > _FEW_KINDS
    least = _SURELY_ASKED_ABOUT if any_kind or value.kind is ValueKind.PERMISSION else _ASKED_ABOUT
    return share if share >= least else 0.0


def same_thing(one: Candidate, other: Candidate, asked: Asked) -> bool:
    """Whether two statements that are about the question are about the same thing."""
    if not one.statement.value.comparable_with(other.statement.value):
        return False
    shares = sorted(coverage(asked, candidate) for candidate in (one, other))
    if shares[0] < _AS_MUCH * shares[1]:
        return False
    first = {term.key for term in one.words if has_contrast(term.key)} - asked.keys
    second = {term.key for term in other.words if has_contrast(term.key)} - asked.keys
    if any(excludes(a, b) for a in first - second for b in second - first):
        return False
    return not _name_different_kinds(one, other, asked)


def _is_about_another(asked: Asked, candidate: Candidate) -> bool:
    parts = candidate.parts
    for key in asked.keys:
        if key not in parts and any(excludes(key, term.key) for term in candidate.words):
            return True
    for thing, numbers in numbered(f"{candidate.statement.clause} ; {candidate.own_text}").items():
        if thing in asked.numbered and not numbers & asked.numbered[thing]:
            return True
    own_names = [term for term in candidate.words if term.is_name and not is_chinese(term.key)]
    for name in asked.names:
        if is_chinese(name.key) or candidate.names(name):
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
            if name.is_name and not head.is_name and not is_chinese(name.key):
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
    unlisted = term.is_name and is_chinese(term.key)
    return _UNLISTED_CHINESE if unlisted else _WEIGHTS.get(term.key, 1.0)


def _found(term: Term, parts: frozenset[str]) -> float:
    exact = sum(part in parts for part in term.parts) / len(term.parts)
    return max(exact, _RELATED_COUNTS) if related(term.key) & parts else exact
