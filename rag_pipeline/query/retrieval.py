"""Hybrid search of what the alias names: dense and BM25, fused by rank, under the access filter."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.embedding.embedder import Embedder, Vector
from rag_pipeline.errors import ConfigurationError, StoreError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.schema import BM25, DENSE
from rag_pipeline.index.sparse import query_terms
from rag_pipeline.ledger.documents import Documents
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.access import Caller, access_filter
from rag_pipeline.query.fusion import fuse

# Candidates that each leg brings to the fusion. Enough that a passage ranked low by one leg still meets the
# other's: on XQuAD 20 to 100 give the same figures.
_CANDIDATES = 30

# How often a question is asked again because a document was replaced between the search and the look into the
# ledger, or a whole generation was removed. Each time needs another such change within milliseconds.
_MOST_TRIES = 5


EmbedderOf = Callable[[Mapping[str, Any]], Embedder]
"""The embedder of a model, given as a generation's settings hold it."""


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """A found chunk. `score` is the fused rank score: comparable within one result list only."""

    chunk_id: str
    document_id: str
    source_id: str
    title: str
    section_path: tuple[str, ...]
    text: str
    score: float
    content_hash: str
    page_from: int | None
    page_to: int | None
    source_url: str | None
    trust_tier: int


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What one query found, best first; empty where nothing may be seen or nothing matches."""

    query: str
    chunks: tuple[RetrievedChunk, ...]


def retrieve(
    queries: Sequence[str],
    caller: Caller,
    *,
    open_client: Callable[[], AbstractContextManager[QdrantClient]],
    alias: str,
    embedder_of: EmbedderOf,
    ledger: Ledger,
    limit: int = 10,
) -> list[QueryResult]:
    """Search each query by itself under the caller's filter; a caller who may see nothing gets nothing.

    `embedder_of` gives the embedder of a model that a generation was built with, and refuses what it cannot
    give. The store is opened once the questions are embedded. The generation that the alias names at that
    moment answers all of them: one that is swapped in meanwhile is for the next request. Raises
    ConfigurationError where nothing was indexed under the alias, or its model cannot be had.
    """
    allowed = access_filter(caller)
    if allowed is None:
        return [QueryResult(query, ()) for query in queries]
    expected = _live(ledger, alias)
    tries = 0
    while True:
        vectors = embedder_of(expected.settings["model"]).embed_queries(queries)
        live = None
        try:
            with open_client() as client:
                live = _aliased(client, ledger, alias)
                if live.settings["model"] == expected.settings["model"]:
                    return [
                        QueryResult(
                            query, _search(query, vector, caller, allowed, client, live, ledger, limit)
                        )
                        for query, vector in zip(queries, vectors, strict=True)
                    ]
        except StoreError:
            tries += 1
            now_live = _live(ledger, alias)
            if live is None or live.name == now_live.name or tries > _MOST_TRIES:
                raise
            # It was swapped out, and removed, since the alias was asked.
            live = now_live
        # One of another model may have been swapped in since the ledger was asked.
        expected = live


def _live(ledger: Ledger, alias: str) -> Generation:
    live = ledger.generations.live(alias)
    if live is None:
        raise ConfigurationError(
            f"Nothing is indexed under the alias {alias} yet. Run `rag-pipeline index`, or set RAG_ALIAS."
        )
    return live


def _aliased(client: QdrantClient, ledger: Ledger, alias: str) -> Generation:
    """The generation that readers are meant to see: the one that the alias names."""
    name = aliased_collection(client, alias)
    for generation in ledger.generations.of_alias(alias):
        if generation.name == name:
            passing("generation resolved")
            return generation
    raise StoreError(
        f"The alias {alias} points at {name or 'nothing'}, which the ledger does not know. Run "
        "`rag-pipeline index`, or set RAG_ALIAS or RAG_LEDGER_URL to the ones that belong together."
    )


def _search(
    query: str,
    vector: Vector,
    caller: Caller,
    allowed: models.Filter,
    client: QdrantClient,
    live: Generation,
    ledger: Ledger,
    limit: int,
) -> tuple[RetrievedChunk, ...]:
    terms = query_terms(query)
    depth = max(_CANDIDATES, limit)
    tries = 0
    while True:
        searches = [_leg(vector.tolist(), DENSE, allowed, depth)]
        if terms.indices:
            searches.append(_leg(terms, BM25, allowed, depth))
        legs = [answer.points for answer in client.query_batch_points(live.name, searches)]
        current, replaced = _current(legs, caller, ledger.documents, live.name)
        fused = fuse([[(str(hit.id), hit.score) for hit in leg if str(hit.id) in current] for leg in legs])
        complete = all(len(leg) < depth for leg in legs)
        if replaced and tries < _MOST_TRIES:
            tries += 1
        elif complete or len(fused) >= limit:
            return tuple(_chunk(current[found], score) for found, score in fused[:limit])
        else:
            depth *= 2


def _leg(
    query: list[float] | models.SparseVector, using: str, allowed: models.Filter, depth: int
) -> models.QueryRequest:
    return models.QueryRequest(query=query, using=using, filter=allowed, limit=depth, with_payload=True)


def _current(
    legs: Iterable[Sequence[models.ScoredPoint]], caller: Caller, documents: Documents, generation: str
) -> tuple[dict[str, dict[str, Any]], bool]:
    """The payloads, by point id, of those hits that are current and that the caller may still see.

    The ledger knows of deletions and narrowed access before the points do. Also whether a document was found
    in another version only than its current one, as it is when it was replaced since the search.
    """
    found = {str(hit.id): hit.payload or {} for leg in legs for hit in leg}
    versions = documents.current_versions(generation, (payload["document_id"] for payload in found.values()))
    current: dict[str, dict[str, Any]] = {}
    missed: set[str] = set()
    for point, payload in found.items():
        version, readers = versions.get(payload["document_id"], (None, frozenset[str]()))
        if not readers & caller.visible_groups:
            continue
        if version == payload["content_hash"]:
            current[point] = payload
        else:
            missed.add(payload["document_id"])
    return current, bool(missed - {payload["document_id"] for payload in current.values()})


def _chunk(payload: dict[str, Any], score: float) -> RetrievedChunk:
    return RetrievedChunk(
        chunk_id=payload["chunk_id"],
        document_id=payload["document_id"],
        source_id=payload["source_id"],
        title=payload["title"],
        section_path=tuple(payload["section_path"]),
        text=payload["text"],
        score=score,
        content_hash=payload["content_hash"],
        page_from=payload.get("page_from"),
        page_to=payload.get("page_to"),
        source_url=payload.get("source_url"),
        trust_tier=payload["trust_tier"],
    )
