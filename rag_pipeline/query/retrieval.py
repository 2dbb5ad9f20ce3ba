"""Hybrid search through the alias: dense and BM25, fused by reciprocal rank, under the access filter."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.embedding.embedder import Embedder, Vector
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.index.schema import BM25, DENSE
from rag_pipeline.index.sparse import query_terms
from rag_pipeline.ledger.documents import Documents
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.access import Caller, access_filter

# Candidates that each leg brings to the fusion. Deep enough that a passage ranked low by one leg still
# meets the other's; both legs cost the same from 20 to 100 on the figures in DESIGN.
_CANDIDATES = 60


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
    embedder: Embedder,
    ledger: Ledger,
    limit: int = 10,
) -> list[QueryResult]:
    """Search each query by itself under the caller's filter; a caller who may see nothing gets nothing.

    The store is opened once the questions are embedded. Raises ConfigurationError where nothing was indexed
    under the alias, or with another model.
    """
    allowed = access_filter(caller)
    if allowed is None:
        return [QueryResult(query, ()) for query in queries]
    live = _searchable_generation(ledger, alias, embedder)
    vectors = embedder.embed_queries(queries)
    results = []
    with open_client() as client:
        for query, vector in zip(queries, vectors, strict=True):
            chunks = _search(
                query, vector, allowed, client=client, alias=alias, live=live, ledger=ledger, limit=limit
            )
            results.append(QueryResult(query, chunks))
    return results


def _searchable_generation(ledger: Ledger, alias: str, embedder: Embedder) -> Generation:
    live = ledger.generations.live(alias)
    if live is None:
        raise ConfigurationError(
            f"Nothing is indexed under the alias {alias} yet. Run `rag-pipeline index`, or set RAG_ALIAS."
        )
    if live.settings["model"] != embedder.identity.to_json():
        raise ConfigurationError(
            f"The live generation {live.name} was embedded with {live.settings['model']}, but the settings "
            f"name {embedder.identity.to_json()}. Questions must be embedded by the same model: set "
            "RAG_EMBEDDING_* back."
        )
    return live


def _search(
    query: str,
    vector: Vector,
    allowed: models.Filter,
    *,
    client: QdrantClient,
    alias: str,
    live: Generation,
    ledger: Ledger,
    limit: int,
) -> tuple[RetrievedChunk, ...]:
    terms = query_terms(query)
    wanted = limit
    while True:
        depth = max(_CANDIDATES, wanted)
        legs = [models.Prefetch(query=vector.tolist(), using=DENSE, filter=allowed, limit=depth)]
        if terms.indices:
            legs.append(models.Prefetch(query=terms, using=BM25, filter=allowed, limit=depth))
        hits = client.query_points(
            alias,
            prefetch=legs,
            query=models.FusionQuery(fusion=models.Fusion.RRF),
            query_filter=allowed,
            limit=wanted,
            with_payload=True,
        ).points
        current = _current(hits, ledger.documents, live.name)
        # A hit of a version that is being replaced or was deleted is dropped; fetch over for it.
        if len(current) >= limit or len(hits) < wanted:
            return tuple(_chunk(hit) for hit in current[:limit])
        wanted *= 2


def _current(
    hits: Iterable[models.ScoredPoint], documents: Documents, generation: str
) -> list[models.ScoredPoint]:
    found = [(hit, hit.payload or {}) for hit in hits]
    versions = documents.current_versions(generation, (payload["document_id"] for _, payload in found))
    return [hit for hit, payload in found if versions.get(payload["document_id"]) == payload["content_hash"]]


def _chunk(hit: models.ScoredPoint) -> RetrievedChunk:
    payload: dict[str, Any] = hit.payload or {}
    return RetrievedChunk(
        chunk_id=payload["chunk_id"],
        document_id=payload["document_id"],
        source_id=payload["source_id"],
        title=payload["title"],
        section_path=tuple(payload["section_path"]),
        text=payload["text"],
        score=hit.score,
        content_hash=payload["content_hash"],
        page_from=payload.get("page_from"),
        page_to=payload.get("page_to"),
        source_url=payload.get("source_url"),
        trust_tier=payload["trust_tier"],
    )
