"""Found points in whole: read only where they are looked at, since most of what is found never is."""

from collections.abc import Iterable

from qdrant_client import QdrantClient, models

from rag_pipeline.index.schema import BM25
from rag_pipeline.query.deadline import Deadline


class Passages:
    """Points of one collection by id, each read once; what the filter does not let through is not there."""

    def __init__(
        self, client: QdrantClient, collection: str, allowed: models.Filter, deadline: Deadline
    ) -> None:
        self._client = client
        self._collection = collection
        self._allowed = allowed
        self._deadline = deadline
        self._read: dict[str, models.Record] = {}

    def read(self, points: Iterable[str]) -> None:
        """Read those that were not read yet, all in one request. Raises StoreError past the deadline."""
        new: list[models.ExtendedPointId] = [
            point for point in dict.fromkeys(points) if point not in self._read
        ]
        if not new:
            return
        self._deadline.check()
        records, _ = self._client.scroll(
            self._collection,
            scroll_filter=models.Filter(must=[self._allowed, models.HasIdCondition(has_id=new)]),
            limit=len(new),
            with_payload=True,
            # The stored terms come along: to split a text into terms again would take longer.
            with_vectors=[BM25],
        )
        self._read.update((str(record.id), record) for record in records)

    def get(self, point: str) -> models.Record | None:
        """A point that was read; None where it was not there, or no longer."""
        return self._read.get(point)
