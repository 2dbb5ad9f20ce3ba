"""Which queries a question is searched by: itself and its parts, so that each part finds its own passages."""

import re
from collections.abc import Callable, Iterable, Sequence

from rag_pipeline.index.sparse import query_terms

MOST_QUERIES = 5

QueryPlanner = Callable[[str], Sequence[str]]
"""Makes queries of a question, as a language model does; what it gives is cleaned and cut to five."""

_SENTENCE_END = re.compile(r"(?<=[?？;；])\s*|(?<=[。！!])\s*|(?<=\.)\s+")
_CONJUNCTION = re.compile(r"\s*,?\s+(?:as well as|and)\s+|[，,]?\s*(?:以及|并且|而且)\s*", re.IGNORECASE)
_EDGES = " \t\r\n;；,，。"
# A part with fewer terms is half of a pair ("phones and tablets") rather than a question.
_LEAST_TERMS = 2


def plan_queries(
    question: str, given: Sequence[str] | None = None, *, planner: QueryPlanner | None = None
) -> list[str]:
    """The queries of a question, at most five, none twice.

    Queries that the caller gave are taken as they are, and nothing is added. Else a planner's, after the
    whole question. Else, by rule: the whole question, and its clauses where it has several. It is split at
    `?`, `;`, the ends of sentences, and at "and", "as well as", 以及, 并且, 而且 where both
    sides hold at least two terms that BM25 would search by.
    """
    if given:
        return _distinct(given)
    if planner is not None:
        return _distinct([question, *planner(question)])
    return _distinct([question, *_clauses(question)])


def _clauses(question: str) -> list[str]:
    found: list[str] = []
    for sentence in _SENTENCE_END.split(question):
        found += _split_at_conjunctions(sentence)
    return found if len(found) > 1 else []


def _split_at_conjunctions(sentence: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for conjunction in _CONJUNCTION.finditer(sentence):
        left, right = sentence[start : conjunction.start()], sentence[conjunction.end() :]
        if _has_content(left) and _has_content(_CONJUNCTION.split(right)[0]):
            parts.append(left)
            start = conjunction.end()
    parts.append(sentence[start:])
    return [part for part in parts if _has_content(part)]


def _has_content(part: str) -> bool:
    return len(query_terms(part).indices) >= _LEAST_TERMS


def _distinct(queries: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for query in queries:
        cleaned = " ".join(query.split()).strip(_EDGES)
        if cleaned:
            found.setdefault(cleaned.casefold().rstrip("?？!！."), cleaned)
    return list(found.values())[:MOST_QUERIES]
