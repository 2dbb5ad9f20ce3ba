"""What is seen of a passage at each step between its source and a citation; nothing is concluded here."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rag_pipeline.chunking.chunk import Chunk
from rag_pipeline.ledger.dead_letters import DeadLetter
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.query.lineage import SeenFile


@dataclass(frozen=True, slots=True)
class SeenDocument:
    """A document in its source, the ledger and the artifacts. `letters` are its dead letters."""

    document_id: str
    file: SeenFile
    letters: tuple[DeadLetter, ...] = ()
    deletion_noticed: datetime | None = None
    version: IndexedDocument | None = None
    normalized: NormalizedDocument | None = None
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where a query's legs and their fusion rank a chunk, from 1; None: not among what was looked through.

    `deep_dense` and `deep_bm25` look further than a search does, `fused` as far as it does.
    """

    query: str
    deep_dense: int | None
    deep_bm25: int | None
    fused: int | None

    def __str__(self) -> str:
        parts = [("dense", self.deep_dense), ("BM25", self.deep_bm25), ("fused", self.fused)]
        told = ", ".join(f"{name} {rank if rank else 'not found'}" for name, rank in parts)
        return f"{told} for {self.query!r}"


@dataclass(frozen=True, slots=True)
class Selected:
    """What became of a candidate: its relevance with the signals in words, or why it was not looked at on.

    `joined_to` is the neighbour that brought it along, `reranked` its place by a reranker, from 1.
    """

    relevance: float | None = None
    signals: str = ""
    rejected: str | None = None
    joined_to: str | None = None
    reranked: int | None = None


@dataclass(frozen=True, slots=True)
class SeenChunk:
    """A chunk in the store and on its way through one request.

    `blocked` are the conditions of the filter that it does not meet, in words. `evidence` is its label;
    `beyond` says why a relevant chunk did not become evidence. `withheld` names what won the conflict, and
    `cited` tells how many claims cite it.
    """

    chunk_id: str
    text_hash: str | None
    payload: Mapping[str, Any] | None
    blocked: tuple[str, ...] = ()
    ranks: tuple[Ranks, ...] = ()
    selected: Selected | None = None
    evidence: str | None = None
    beyond: str | None = None
    withheld: str | None = None
    left_out: bool = False
    """Whether the model was not shown it, for want of room."""
    cited: int = 0


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """What holds for every chunk of a request, and how it ended.

    `per_leg` is how many candidates a leg brings, `looked_at` how many fused ones are looked at; in the order
    of a reranker, where there was one.
    """

    threshold: float
    per_leg: int
    looked_at: int
    max_evidence: int
    context_tokens: int
    outcome: str
    reason: str
    reranked: bool = False
