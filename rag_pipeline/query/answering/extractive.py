"""Answering without a model: the parts of the evidence that answer the question, as they stand there."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from rag_pipeline.query.answering.draft import Claim, Draft
from rag_pipeline.query.answering.parts import Part, PartKind, parts_of
from rag_pipeline.query.answering.words import Terms, content_terms
from rag_pipeline.query.evidence import Evidence

_MOST_QUOTES = 4
# The figures are fitted on XQuAD, English and Chinese: see test_answering_extractive.py.
# A word of the question in the heading or lead-in of a sentence counts so much of one in the sentence itself.
_CONTEXT_WEIGHT = 0.4
_NEIGHBOUR_WEIGHT = 0.3
_RANK_WEIGHT = 0.2
# What is quoted beside the best sentence scores at least this much of it.
_NEXT_BEST = 0.7
# The least idf-weighted share of the question's words that the best sentence and its surroundings must have.
_LEAST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class _Candidate:
    evidence: Evidence
    part: Part
    terms: Terms
    context: Terms
    neighbours: Terms
    rank: int
    place: int


def extract(question: str, evidence: Sequence[Evidence], clauses: Sequence[str] = ()) -> Draft:
    """The one to four parts that share most of the question's words, quoted, each citing where it stands.

    Of a question of several `clauses` each brings those that share most of its own words. Sentences that
    instruct the reader's machine, questions and headings are never quoted. Not answered where no part of the
    evidence shares enough of the question's words.
    """
    candidates = [one for rank, item in enumerate(evidence) for one in _candidates(rank, item)]
    # The best of each clause first, then the second best: no clause takes all the room.
    in_turn = chain.from_iterable(zip_longest(*(_best(one, candidates) for one in clauses or [question])))
    chosen: list[_Candidate] = []
    for one in in_turn:
        repeated = one is None or any(_holds(other, one) or _holds(one, other) for other in chosen)
        if not repeated and len(chosen) < _MOST_QUOTES:
            chosen.append(one)
    claims = [Claim(one.part.text, _labels(one, candidates)) for one in _in_reading_order(chosen)]
    text = "\n".join(f"{claim.text} {''.join(f'[{label}]' for label in claim.labels)}" for claim in claims)
    return Draft(bool(claims), text, tuple(claims))


def _best(question: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates that answer a question best, the best first; none that repeats another."""
    wanted = content_terms(question)
    weights = _weights(wanted, candidates)
    scored = []
    for candidate in candidates:
        share = _share(candidate, wanted, weights)
        if share >= _LEAST_SHARE:
            scored.append((share + _RANK_WEIGHT / (1 + candidate.rank), candidate))
    scored.sort(key=lambda one: (-one[0], one[1].rank, one[1].place))
    chosen: list[_Candidate] = []
    for score, candidate in scored:
        if len(chosen) == _MOST_QUOTES or score < _NEXT_BEST * scored[0][0]:
            break
        if not any(
            _holds(other, candidate) or _holds(candidate, other) or _is_better_row(other, candidate, wanted)
            for other in chosen
        ):
            chosen.append(candidate)
    return chosen


def _candidates(rank: int, evidence: Evidence) -> Iterator[_Candidate]:
    parts = parts_of(evidence.text)
    about = evidence.heading
    for place, part in enumerate(parts):
        if part.kind is PartKind.STATEMENT:
            before = parts[place - 1] if place else part
            yield _Candidate(
                evidence=evidence,
                part=part,
                terms=content_terms(part.text),
                context=content_terms(f"{about}\n{part.context}"),
                neighbours=Terms() if before.kind is PartKind.INSTRUCTION else content_terms(before.text),
                rank=rank,
                place=place,
            )


def _weights(wanted: Terms, candidates: Sequence[_Candidate]) -> dict[int | str, float]:
    """How much each word of the question tells, by how few of the parts at hand have it."""
    frequency = Counter(term for one in candidates for term in one.terms & wanted)
    return {
        term: math.log(1 + (len(candidates) - frequency[term] + 0.5) / (frequency[term] + 0.5))
        for term in wanted
    }


def _share(candidate: _Candidate, wanted: Terms, weights: dict[int | str, float]) -> float:
    context = (candidate.context & wanted) - candidate.terms
    neighbours = (candidate.neighbours & wanted) - candidate.terms - context
    found = (
        sum(weights[term] for term in candidate.terms & wanted)
        + _CONTEXT_WEIGHT * sum(weights[term] for term in context)
        + _NEIGHBOUR_WEIGHT * sum(weights[term] for term in neighbours)
    )
    return found / (sum(weights.values()) or 1.0)


def _holds(one: _Candidate, other: _Candidate) -> bool:
    return _folded(other.part.text) in _folded(one.part.text)


def _is_better_row(one: _Candidate, other: _Candidate, wanted: Terms) -> bool:
    """Whether two are rows of a table, and the first has more of the words: its row is the one asked for."""
    headers = [each.part.text.partition("\n")[0] for each in (one, other)]
    return (
        headers[0].startswith("|") and headers[0] == headers[1] and one.terms & wanted > other.terms & wanted
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _labels(chosen: _Candidate, candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    """The passage that the part was taken from, and the others that say the same word for word."""
    same = _folded(chosen.part.text)
    others = [one.evidence.label for one in candidates if _folded(one.part.text) == same]
    return tuple(dict.fromkeys((chosen.evidence.label, *others)))


def _in_reading_order(chosen: Sequence[_Candidate]) -> list[_Candidate]:
    """The passage of the best part first, and the parts of one passage as they follow one another."""
    ranks = list(dict.fromkeys(one.rank for one in chosen))
    return sorted(chosen, key=lambda one: (ranks.index(one.rank), one.place))
