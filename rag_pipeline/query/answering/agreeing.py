"""Whether a sentence agrees with the statements it rests on: who does what, and which number is whose."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rag_pipeline.query.answering.opposites import stance_of
from rag_pipeline.query.answering.quantities import Quantity, quantities
from rag_pipeline.query.answering.supporting import Statement, denied_terms, is_negated, matter_terms
from rag_pipeline.query.answering.words import Terms, content_terms

_CLAUSE_BORDER: Final = re.compile(r"[;；，]|,\s|\s(?:and|while|whereas)\s")
# A clause with fewer words of its own does not tell what it speaks of.
_FEWEST_WORDS: Final = 2
# A sentence is put together from two statements if the second has so much of its words.
_LEAST_PART: Final = 0.5
# Words that a claim may put for each other, and that say nothing of who and what.
_OF_STANCE: Final = content_terms(
    "allowed permitted possible forbidden prohibited banned excluded impossible required"
)


def denies(text: str, statements: Sequence[Statement]) -> bool:
    """Whether a sentence says yes to what its nearest statement says no to, or the other way round."""
    terms = matter_terms(text)
    nearest = _nearest(terms, statements)
    if nearest is None:
        return False
    denied = denied_terms(text)
    stance = stance_of(text)
    # "Cannot be refunded" and "refunds are not possible" say no at different words.
    both_forbid = stance.only_forbids and nearest.stance.only_forbids
    return (
        (bool(nearest.denied & terms - denied) and not both_forbid)
        or (not nearest.negated and bool(denied & nearest.terms))
        or (not is_negated(text) and any(terms <= scope for scope in nearest.scopes if terms))
        or stance.opposes(nearest.stance)
    )


def moved_quantities(text: str, statements: Sequence[Statement]) -> Iterator[Quantity]:
    """The quantities of a sentence that only statements on something else state.

    None may vouch for a quantity of a sentence or of a clause if another one shares more of its words.
    """
    moved = _unvouched(text, statements)
    if moved:
        for clause in _CLAUSE_BORDER.split(text):
            if len(matter_terms(clause)) >= _FEWEST_WORDS:
                still = {one.key for one in _unvouched(clause, statements)}
                vouched = {one.key for one in quantities(clause)} - still
                moved = [one for one in moved if one.key not in vouched]
    yield from dict.fromkeys(moved)


def is_mixed(text: str, statements: Sequence[Statement]) -> bool:
    """Whether a sentence takes one part from one statement and the other from another: who and what.

    A sentence may state two things if each has a clause of its own.
    """
    clauses = _CLAUSE_BORDER.split(text)
    terms_of = [matter_terms(clause) for clause in clauses]
    if len(clauses) > 1 and all(len(terms) >= _FEWEST_WORDS for terms in terms_of):
        return any(_mixes(terms, statements) for terms in terms_of)
    return _mixes(matter_terms(text), statements)


def _mixes(terms: Terms, statements: Sequence[Statement]) -> bool:
    single = [one for one in statements if not one.joint]
    terms = terms & Terms().union(*map(_about, single)) - _OF_STANCE
    shared = [terms & _about(one) for one in single]
    best = max(shared, key=len, default=Terms())
    return any(one - best and one & best and len(one) >= _LEAST_PART * len(terms) for one in shared)


def _unvouched(text: str, statements: Sequence[Statement]) -> list[Quantity]:
    terms = matter_terms(text)
    shared = [-1 if one.joint else len(terms & _about(one)) for one in statements]
    most = max(shared, default=0)
    nearest = [one for count, one in zip(shared, statements, strict=True) if count == most]
    # A code is a name like other words: "the P1 alert" may become "the alert" in the next sentence.
    return [
        wanted
        for wanted in dict.fromkeys(quantities(text))
        if not wanted.vague
        and not any(one.states(wanted) for one in (statements if wanted.is_code else nearest))
    ]


def _nearest(terms: Terms, statements: Sequence[Statement]) -> Statement | None:
    """The statement that shares most of these words; the shorter one where two share as many."""
    return max(
        statements,
        key=lambda one: (len(one.terms & terms), len(one.surroundings & terms), -len(one.terms)),
        default=None,
    )


def _about(statement: Statement) -> Terms:
    return statement.terms | statement.surroundings
