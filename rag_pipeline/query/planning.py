"""Which queries a question is searched by: itself and its parts, so that each part finds its own passages."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from rag_pipeline.index.sparse import query_terms

MOST_QUERIES = 5

QueryPlanner = Callable[[str], Sequence[str]]
"""Splits a question of several clauses into queries, as a language model does; none: the rule's count."""

# For questions whose blanks are single ones, so that no pattern can try a run of them in many ways.
_SENTENCE_END = re.compile(r"(?<=[?？;；。！!]) ?|(?<=\.) ")
_CONJUNCTION = re.compile(r" ?,? (?:as well as|and) |[，,]? ?(?:以及|并且|而且) ?", re.IGNORECASE)
_EDGES = " \t\r\n;；,，。"
# A part with fewer terms is half of a pair ("phones and tablets") rather than a question.
_LEAST_TERMS = 2


def plan_queries(
    question: str, given: Sequence[str] | None = None, *, planner: QueryPlanner | None = None
) -> list[str]:
    """The queries of a question, at most five, none twice.

    Queries that the caller gave are taken as they are, and nothing is added. Else the whole question comes
    first, and then its clauses where it has several: those of the planner, or else by rule. It is split at
    `?`, `;`, the ends of sentences, and at "and", "as well as", 以及, 并且, 而且 where both
    sides hold at least two terms that BM25 would search by. A question of one clause is not planned.
    """
    if given:
        return _distinct(given)
    clauses: Sequence[str] = _clauses(question)
    if clauses and planner is not None:
        clauses = planner(question) or clauses
    return _distinct([question, *clauses])


def _clauses(question: str) -> list[str]:
    sentences = _SENTENCE_END.split(" ".join(question.split()))
    found = list(islice(chain.from_iterable(map(_parts, sentences)), MOST_QUERIES))
    return found if len(found) > 1 else []


def _parts(sentence: str) -> Iterator[str]:
    conjunctions = list(_CONJUNCTION.finditer(sentence))
    starts = [0, *(one.end() for one in conjunctions)]
    ends = [*(one.start() for one in conjunctions), len(sentence)]
    pieces = [set(query_terms(sentence[start:end]).indices) for start, end in zip(starts, ends, strict=True)]
    begun = 0
    terms: set[int] = set()
    for number, piece in enumerate(pieces[:-1]):
        terms |= piece
        if len(terms) >= _LEAST_TERMS and len(pieces[number + 1]) >= _LEAST_TERMS:
            yield sentence[begun : ends[number]]
            begun, terms = starts[number + 1], set()
    if len(terms | pieces[-1]) >= _LEAST_TERMS:
        yield sentence[begun:]


def _distinct(queries: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for query in queries:
        cleaned = " ".join(query.split()).strip(_EDGES)
        if cleaned:
            found.setdefault(cleaned.casefold().rstrip("?？!！."), cleaned)
    return list(found.values())[:MOST_QUERIES]
