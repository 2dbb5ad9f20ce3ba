"""What is known of a chunk and a query before anything is concluded from it."""

from collections.abc import Collection
from dataclasses import dataclass

from rag_pipeline.query.relevance.term_weights import TermStatistics
from rag_pipeline.query.scripts import asks_in_chinese, written_in_han


@dataclass(frozen=True, slots=True)
class Signals:
    """Why a chunk may be relevant to a query.

    `dense` is the cosine of their vectors, whose scale each model has for itself; `bm25` that leg's score,
    None where it did not find the chunk; `rank` the fused rank, from 1. `coverage` is the share of the
    query's terms that the chunk has, 0 to 1, weighted by how rare they are. `same_script` tells whether both
    are written in Han characters, or both are not: where they are not alike, few terms can be shared.
    """

    dense: float
    bm25: float | None
    rank: int
    coverage: float
    same_script: bool


def coverage(asked: Collection[int], held: Collection[int], statistics: TermStatistics) -> float:
    """The share of the asked terms that are among the held ones, by weight; 0 where nothing is asked."""
    weights = {term: statistics.weight(term) for term in asked}
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in held) / whole if whole else 0.0


def alike_in_script(query: str, text: str) -> bool:
    """Whether a query and a text are both written in Han characters, or both not."""
    return asks_in_chinese(query) == written_in_han(text)
