"""The chunks that stand before and after found ones in the same section, so that a passage is read whole."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.query.access import access_filter
from rag_pipeline.query.results import QueryResult, RetrievedChunk, chunk_of, defect
from rag_pipeline.query.scope import Scope

_PAGE = 1_000


def join_neighbours(
    client: QdrantClient, collection: str, scope: Scope, results: Sequence[QueryResult], reach: int
) -> list[QueryResult]:
    """Put after each found chunk those of the same version and section that are at most `reach` away.

    They are chunks of their own, so that what is quoted of them can be traced, and bear the scores of the
    chunk that they belong to. The search's own filter holds for them too.
    """
    found = [chunk for result in results for chunk in result.chunks]
    if not found:
        return list(results)
    payloads = _payloads(client, collection, scope, found, reach)
    return [replace(result, chunks=tuple(_joined(result.chunks, payloads, reach))) for result in results]


def _payloads(
    client: QdrantClient, collection: str, scope: Scope, found: Iterable[RetrievedChunk], reach: int
) -> Mapping[tuple[str, str, int], Mapping[str, Any]]:
    """The payloads around found chunks, by document, version and index."""
    around: list[models.Condition] = [_around(chunk, reach) for chunk in found]
    allowed = access_filter(scope)
    allowed = models.Filter(must=[allowed, models.Filter(should=around)])
    payloads: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    offset: Any = None
    while True:
        records, offset = client.scroll(
            collection, scroll_filter=allowed, limit=_PAGE, offset=offset, with_payload=True
        )
        for record in records:
            payload = record.payload or {}
            if defect(payload) is None:
                payloads[payload["document_id"], payload["content_hash"], payload["chunk_index"]] = payload
        if offset is None:
            return payloads


def _around(chunk: RetrievedChunk, reach: int) -> models.Filter:
    indexes = models.Range(gte=chunk.chunk_index - reach, lte=chunk.chunk_index + reach)
    return models.Filter(
        must=[
            models.FieldCondition(key="document_id", match=models.MatchValue(value=chunk.document_id)),
            models.FieldCondition(key="content_hash", match=models.MatchValue(value=chunk.content_hash)),
            models.FieldCondition(key="chunk_index", range=indexes),
        ]
    )


def _joined(
    chunks: Sequence[RetrievedChunk],
    payloads: Mapping[tuple[str, str, int], Mapping[str, Any]],
    reach: int,
) -> list[RetrievedChunk]:
    told = {chunk.chunk_id for chunk in chunks}
    joined: list[RetrievedChunk] = []
    for chunk in chunks:
        joined.append(chunk)
        for index in range(chunk.chunk_index - reach, chunk.chunk_index + reach + 1):
            payload = payloads.get((chunk.document_id, chunk.content_hash, index))
            if payload is None or payload["chunk_id"] in told:
                continue
            if tuple(payload["section_path"]) == chunk.section_path:
                told.add(payload["chunk_id"])
                joined.append(
                    chunk_of(
                        payload,
                        score=chunk.score,
                        relevance=chunk.relevance,
                        signals=chunk.signals,
                        joined_to=chunk.chunk_id,
                    )
                )
    return joined
