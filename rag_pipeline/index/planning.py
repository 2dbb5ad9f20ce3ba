"""Desired state against recorded and stored state: what a source's collection lacks and has too much."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rag_pipeline.index.desired import DesiredDocument, recorded_points
from rag_pipeline.ledger.documents import IndexedDocument


class Change(StrEnum):
    """What a document's points need."""

    ADDED = "added"
    REPLACED = "replaced"
    """Another version: written unpublished beside the old one, then switched."""
    REWRITTEN = "rewritten"
    """The same ids with other text or vectors, or not settled: overwritten in place."""
    FACTS = "facts"
    """Only facts changed: payloads are updated in place."""
    REPAIRED = "repaired"
    """Points that Qdrant lost: written again."""
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class PlannedDocument:
    """What a document needs; `write` are the point ids to upsert, `withdraw` its old version's."""

    desired: DesiredDocument
    change: Change
    write: tuple[str, ...] = ()
    withdraw: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class StoredPoints:
    """The point ids that Qdrant holds of a source."""

    published: Collection[str]
    unpublished: Collection[str] = ()


@dataclass(frozen=True)
class SourcePlan:
    """Everything that a source's collection needs to be as desired."""

    documents: tuple[PlannedDocument, ...]
    orphans: tuple[str, ...]
    """Point ids that belong to no version of any document."""
    reused: int
    """Points that stay as they are."""

    @property
    def nothing_to_do(self) -> bool:
        """Whether Qdrant is as desired already."""
        return not self.orphans and all(planned.change is Change.UNCHANGED for planned in self.documents)


def plan_source(
    desired: Iterable[DesiredDocument],
    recorded: Mapping[str, IndexedDocument],
    stored: StoredPoints,
) -> SourcePlan:
    """Compare what should be with what is recorded and what Qdrant holds, by id.

    A ledger that says "done" over an empty collection plans every point anew. Recorded documents that are
    not desired have been deleted before.
    """
    published = set(stored.published)
    documents = tuple(_plan_document(one, recorded.get(one.document_id), published) for one in desired)
    accounted: set[str] = set()
    for planned in documents:
        accounted.update(planned.desired.points)
        accounted.update(planned.withdraw)
    orphans = sorted((published | set(stored.unpublished)) - accounted)
    reused = sum(
        len(planned.desired.points) - len(planned.write)
        for planned in documents
        if planned.change in (Change.UNCHANGED, Change.FACTS, Change.REPAIRED)
    )
    return SourcePlan(documents, tuple(orphans), reused)


def _plan_document(
    desired: DesiredDocument, recorded: IndexedDocument | None, published: set[str]
) -> PlannedDocument:
    points = tuple(desired.points)
    if recorded is None:
        return PlannedDocument(desired, Change.ADDED, write=points)
    if recorded.content_hash != desired.content_hash:
        old = recorded_points(recorded) - desired.points.keys()
        return PlannedDocument(desired, Change.REPLACED, write=points, withdraw=tuple(sorted(old)))
    same_chunks = (recorded.chunks_key, recorded.failed_chunks) == (desired.chunks_key, desired.failed_chunks)
    if not recorded.settled or not same_chunks:
        old = recorded_points(recorded) - desired.points.keys()
        return PlannedDocument(desired, Change.REWRITTEN, write=points, withdraw=tuple(sorted(old)))
    lost = tuple(point for point in points if point not in published)
    if recorded.facts != desired.facts:
        return PlannedDocument(desired, Change.FACTS, write=lost, lost=lost)
    if lost:
        return PlannedDocument(desired, Change.REPAIRED, write=lost, lost=lost)
    return PlannedDocument(desired, Change.UNCHANGED)
