"""Watching what Qdrant hands back: no leg of any search may return a point that the caller may not see.

The workflow holds hits against the ledger and the manifests before they go on, so that a leg without its
filter would show in no answer. It would still be the end of the first line of defence, and is found here.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from qdrant_client import QdrantClient, models

from rag_pipeline.query.access import permission
from rag_pipeline.query.scope import Scope

_LOOKED_AT = [
    "document_id", "source_id", "access_groups", "tenant", "lifecycle",
    "effective_at", "valid_until",
]  # fmt: skip
_POINTS_A_REQUEST = 500

_Permits = Callable[[Mapping[str, Any], Collection[str]], bool]
_HAND_NOTHING_BACK = frozenset(
    {"collection_exists", "get_aliases", "get_collection", "get_collection_aliases"}
)


class WatchedClient:
    """A client that notes the ids of the points that searches, scrolls and look-ups hand back."""

    def __init__(self, client: QdrantClient, seen: set[str]) -> None:
        self._client = client
        self._seen = seen

    @property
    def as_client(self) -> QdrantClient:
        """This, as what it stands for: all that is not watched is passed on."""
        return cast(QdrantClient, self)

    def query_batch_points(self, *args: Any, **options: Any) -> list[models.QueryResponse]:
        """As the client does."""
        answers = self._client.query_batch_points(*args, **options)
        for answer in answers:
            self._note(answer.points)
        return answers

    def query_points(self, *args: Any, **options: Any) -> models.QueryResponse:
        """As the client does."""
        answer = self._client.query_points(*args, **options)
        self._note(answer.points)
        return answer

    def scroll(self, *args: Any, **options: Any) -> tuple[list[models.Record], Any]:
        """As the client does."""
        records, offset = self._client.scroll(*args, **options)
        self._note(records)
        return records, offset

    def retrieve(self, *args: Any, **options: Any) -> list[models.Record]:
        """As the client does."""
        records = self._client.retrieve(*args, **options)
        self._note(records)
        return records

    def __getattr__(self, name: str) -> Any:
        # Whatever else hands points back must be watched before it is used.
        if name not in _HAND_NOTHING_BACK:
            raise AttributeError(f"{name} is not watched")
        return getattr(self._client, name)

    def _note(self, points: Sequence[models.ScoredPoint | models.Record]) -> None:
        self._seen.update(str(point.id) for point in points)


def forbidden_documents(
    client: QdrantClient, collection: str, points: Collection[str], scope: Scope
) -> list[str]:
    """The documents of those points that the scope's caller may not see, by the points' own payloads.

    What a request narrows beyond that is left aside: how rare terms are is told from all that a caller sees.
    So is whether a point is published: its document may have been replaced since it was handed back.
    """
    permits = permission(Scope(scope.identity, as_of=scope.as_of, hidden_sources=scope.hidden_sources))
    ids: list[int | str] = [*sorted(points)]
    forbidden: set[str] = set()
    for start in range(0, len(ids), _POINTS_A_REQUEST):
        for record in client.retrieve(
            collection, ids[start : start + _POINTS_A_REQUEST], with_payload=_LOOKED_AT
        ):
            payload = record.payload or {}
            if payload.get("source_id") in scope.hidden_sources or not _allowed(permits, payload):
                forbidden.add(str(payload.get("document_id", record.id)))
    return sorted(forbidden)


def _allowed(
    permits: Callable[[Mapping[str, Any], Collection[str]], bool], payload: Mapping[str, Any]
) -> bool:
    try:
        return permits(payload, payload.get("access_groups") or ())
    except KeyError:
        return False  # a point that lacks a fact may be anybody's
