"""May a generation be shown to readers? What each source, its indexes and a probe of its points say."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from qdrant_client import QdrantClient, models

from rag_pipeline.chunking.identity import chunk_id, point_id
from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.index.schema import DENSE, PAYLOAD_INDEXES
from rag_pipeline.ledger.documents import IndexedDocument

_PROBES_A_SOURCE = 3
# Rounding of stored vectors; a point is as close to itself as can be.
_SAME = 0.999


def source_blocker(report: SourceReport | None, max_failed_share: float) -> str | None:
    """Why a source keeps a generation from being ready, or None."""
    if report is None:
        return "it was not indexed into this generation"
    if not report.reconciled:
        return "its chunks are not all accounted for"
    failed, seen = report.documents.failed, report.documents.seen
    if failed > seen * max_failed_share:
        return f"{failed:,} of its {seen:,} documents failed, more than {max_failed_share:.0%}"
    return None


def missing_indexes(client: QdrantClient, collection: str) -> list[str]:
    """The payload indexes that a server's collection lacks. The embedded store has none and needs none."""
    present = client.get_collection(collection).payload_schema
    return sorted(PAYLOAD_INDEXES.keys() - present.keys()) if present else []


def lost_probes(client: QdrantClient, collection: str, recorded: Iterable[IndexedDocument]) -> list[str]:
    """Those of some known documents that a search by one of their own vectors does not find."""
    lost = []
    for document in _spread(sorted(recorded, key=lambda one: one.document_id)):
        point = point_id(chunk_id(document.document_id, document.content_hash, document.stored_indexes[0]))
        stored = client.retrieve(collection, [point], with_vectors=[DENSE], with_payload=False)
        vectors = stored[0].vector if stored else None
        vector = vectors.get(DENSE) if isinstance(vectors, dict) else None
        if not isinstance(vector, list) or not _found(
            client, collection, document.document_id, np.ravel(vector).tolist()
        ):
            lost.append(document.document_id)
    return lost


def _found(client: QdrantClient, collection: str, document_id: str, vector: list[float]) -> bool:
    of_document = models.FieldCondition(key="document_id", match=models.MatchValue(value=document_id))
    published = models.FieldCondition(key="published", match=models.MatchValue(value=True))
    answer = client.query_points(
        collection,
        query=vector,
        using=DENSE,
        query_filter=models.Filter(must=[of_document, published]),
        limit=1,
        with_payload=False,
    )
    return bool(answer.points) and answer.points[0].score > _SAME


def _spread(documents: Sequence[IndexedDocument]) -> Sequence[IndexedDocument]:
    with_chunks = [one for one in documents if one.stored_indexes]
    return with_chunks[:: max(1, len(with_chunks) // _PROBES_A_SOURCE)][:_PROBES_A_SOURCE]


def in_words(blockers: Mapping[str, str]) -> str:
    """Which sources block a generation, and why."""
    return "; ".join(f"{source_id}: {reason}" for source_id, reason in sorted(blockers.items()))
