"""Deleting documents: buried in the ledger first, then removed from Qdrant, then read back as gone."""

from collections.abc import Iterable

from qdrant_client import QdrantClient, models

from rag_pipeline.errors import StoreError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.scanning import points_of_documents
from rag_pipeline.ledger.documents import Documents
from rag_pipeline.ledger.generations import Generation

_DOCUMENTS_A_REQUEST = 250


def delete_documents(
    client: QdrantClient,
    generation: Generation,
    documents: Documents,
    *,
    source_id: str,
    document_ids: Iterable[str],
) -> set[str]:
    """Remove every point of these documents, and of those of the source whose deletion is still pending.

    Returns all that were removed, once a read-back found nothing of them. Readers of ours see none of them
    from the first step on. Raises StoreError where Qdrant does not confirm it: the deletion stays pending.
    """
    documents.bury(generation.name, source_id, sorted(document_ids))
    passing("documents buried")
    pending = documents.pending_tombstones(generation.name, source_id)
    for start in range(0, len(pending), _DOCUMENTS_A_REQUEST):
        part = pending[start : start + _DOCUMENTS_A_REQUEST]
        condition = models.FieldCondition(key="document_id", match=models.MatchAny(any=part))
        selector = models.FilterSelector(filter=models.Filter(must=[condition]))
        require_completed(client.delete(generation.name, selector, wait=True), source_id)
        passing("deleted documents' points deleted")
        left = points_of_documents(client, generation.name, part)
        if left:
            raise StoreError(
                f"{len(left)} points of deleted documents of source {source_id} are still in Qdrant. The "
                "deletion stays pending; run again."
            )
        documents.confirm_deletions(generation.name, part)
        passing("deletions confirmed")
    return set(pending)


def require_completed(result: models.UpdateResult, source_id: str) -> None:
    """Raise StoreError unless Qdrant says that it has done what was asked."""
    if result.status != models.UpdateStatus.COMPLETED:
        raise StoreError(
            f"Qdrant answered {result.status.value} instead of completed for source {source_id}. Nothing "
            "unconfirmed was recorded; run again."
        )
