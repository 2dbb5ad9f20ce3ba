"""What is known of a chunk and a query before anything is concluded from it."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from rag_pipeline.query.scripts import asks_in_chinese, written_in_han


class ScriptPair(StrEnum):
    """Which of a query and a chunk are written in Han characters. Where only one is, few terms are shared."""

    NEITHER = "neither"
    QUERY = "query"
    CHUNK = "chunk"
    BOTH = "both"

    @property
    def chunk_is_han(self) -> bool:
        """Whether the chunk is written in Han characters."""
        return self in (ScriptPair.CHUNK, ScriptPair.BOTH)


class Signals(NamedTuple):
    """Why a chunk may be relevant to a query.

    `dense` is the cosine of their vectors, whose scale each model has for itself; `bm25` that leg's score,
    None where it did not find the chunk; `rank` the fused rank, from 1. `coverage` is the share of the
    query's terms that the chunk has, 0 to 1, weighted by how rare they are, and `terms` how many those are.
    `usual` is the cosine that the query has with any text in the chunk's script, None where it is not needed.
    """

    dense: float
    bm25: float | None
    rank: int
    coverage: float
    terms: int
    scripts: ScriptPair
    usual: float | None = None


def coverage(asked: Mapping[int, float], held: Collection[int]) -> float:
    """The share of the asked terms, given with their weights, that are among the held ones.

    By weight; 0 where nothing is asked.
    """
    whole = sum(asked.values())
    return sum([weight for term, weight in asked.items() if term in held]) / whole if whole else 0.0


def scripts_of(query: str, text: str) -> ScriptPair:
    """Which of a query and a chunk's text are written in Han characters."""
    if asks_in_chinese(query):
        return ScriptPair.BOTH if written_in_han(text) else ScriptPair.QUERY
    return ScriptPair.CHUNK if written_in_han(text) else ScriptPair.NEITHER
