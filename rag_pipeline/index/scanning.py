"""Exact reading of what Qdrant holds, by id. Its approximate counters are never asked."""

from collections.abc import Iterable, Iterator, Sequence

from qdrant_client import QdrantClient, models

from rag_pipeline.index.planning import StoredPoints

_IDS_A_PAGE = 10_000
_IDS_A_REQUEST = 1_000


def stored_points(client: QdrantClient, collection: str, source_id: str) -> StoredPoints:
    """The ids of every point of a source, published and not, and nothing else of them."""
    published = models.FieldCondition(key="published", match=models.MatchValue(value=True))
    source = models.FieldCondition(key="source_id", match=models.MatchValue(value=source_id))
    return StoredPoints(
        published=frozenset(_scroll(client, collection, models.Filter(must=[source, published]))),
        # Everything else, a point without the flag included.
        unpublished=frozenset(
            _scroll(client, collection, models.Filter(must=[source], must_not=[published]))
        ),
    )


def points_of_documents(client: QdrantClient, collection: str, document_ids: Sequence[str]) -> list[str]:
    """The ids of every point that names one of the documents."""
    condition = models.FieldCondition(key="document_id", match=models.MatchAny(any=list(document_ids)))
    return list(_scroll(client, collection, models.Filter(must=[condition])))


def existing(client: QdrantClient, collection: str, point_ids: Sequence[str]) -> set[str]:
    """Those of the points that Qdrant has."""
    found: set[str] = set()
    for start in range(0, len(point_ids), _IDS_A_REQUEST):
        records = client.retrieve(
            collection, point_ids[start : start + _IDS_A_REQUEST], with_payload=False, with_vectors=False
        )
        found.update(str(record.id) for record in records)
    return found


def chunk_ids_of(client: QdrantClient, collection: str, point_ids: Iterable[str]) -> dict[str, str | None]:
    """The chunk id that each of the points claims to hold, by point id."""
    wanted = list(point_ids)
    found: dict[str, str | None] = {}
    for start in range(0, len(wanted), _IDS_A_REQUEST):
        records = client.retrieve(
            collection, wanted[start : start + _IDS_A_REQUEST], with_payload=["chunk_id"], with_vectors=False
        )
        found.update((str(record.id), (record.payload or {}).get("chunk_id")) for record in records)
    return found


def _scroll(client: QdrantClient, collection: str, chosen: models.Filter) -> Iterator[str]:
    offset = None
    while True:
        records, offset = client.scroll(
            collection,
            scroll_filter=chosen,
            limit=_IDS_A_PAGE,
            offset=offset,
            with_payload=False,
            with_vectors=False,
        )
        for record in records:
            yield str(record.id)
        if offset is None:
            return
