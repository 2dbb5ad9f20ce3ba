"""Carrying out a plan so that readers see one version of a document or the other, whatever crashes when.

A new version is written unpublished, confirmed by reading its ids back, published, and recorded in the
ledger; only then the old version's points go. Readers of ours follow the ledger, so its row is the switch:
before it they see the old version, after it the new one. Facts and lost points of the current version are
written in place.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.embedding.stage import load_vectors
from rag_pipeline.errors import DocumentError, FailureCategory, StoreError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.deleting import require_completed
from rag_pipeline.index.planning import Change, PlannedDocument, SourcePlan
from rag_pipeline.index.points import build_points, wanted_chunks
from rag_pipeline.index.scanning import existing
from rag_pipeline.index.schema import FACT_FIELDS, digest
from rag_pipeline.ledger.dead_letters import Failure
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.progress import Progress, shown

STAGE = "index"

# Points whose new versions are switched together, and points in one request (about 1 MB with 384 floats).
_POINTS_A_BATCH = 1_000
_POINTS_A_REQUEST = 250


@dataclass
class WriteOutcome:
    """What was written, and which documents could not be."""

    written: int = 0
    failures: list[Failure] = field(default_factory=list)


class SourceWriter:
    """Writes one source's documents into one generation."""

    def __init__(
        self,
        client: QdrantClient,
        generation: Generation,
        *,
        source_id: str,
        ledger: Ledger,
        artifacts: ArtifactStore,
        model_key: str,
        progress: Progress,
        require_lease: Callable[[], None],
    ) -> None:
        self._client = client
        self._generation = generation
        self._source_id = source_id
        self._ledger = ledger
        self._artifacts = artifacts
        self._model_key = model_key
        self._progress = progress
        self._require_lease = require_lease

    def apply(self, plan: SourcePlan) -> WriteOutcome:
        """Do everything that the plan asks for.

        Raises StoreError where Qdrant does not confirm something; what was recorded until then stays right.
        """
        outcome = WriteOutcome()
        in_place = (Change.FACTS, Change.REWRITTEN)
        # Whoever finds these after a crash must not believe the ledger about their points.
        self._ledger.documents.unsettle(
            self._generation.name,
            [one.desired.document_id for one in plan.documents if one.change in in_place],
        )
        passing("documents unsettled")
        self._update_facts([one for one in plan.documents if one.change is Change.FACTS])
        total = sum(len(planned.write) for planned in plan.documents)
        with shown(self._progress, self._source_id, "writing", total, "chunks") as advance:
            for batch in _batches(plan.documents):
                self._write_batch(batch, outcome, advance)
        self._delete_points(plan.orphans)
        passing("orphans deleted")
        return outcome

    def _write_batch(
        self, batch: Sequence[PlannedDocument], outcome: WriteOutcome, advance: Callable[..., None]
    ) -> None:
        self._require_lease()
        written: list[PlannedDocument] = []
        points: list[models.PointStruct] = []
        for planned in batch:
            try:
                points += self._points_of(planned)
            except DocumentError as error:
                desired = planned.desired
                outcome.failures.append(Failure(desired.document_id, desired.chunks_key, error))
            else:
                written.append(planned)
        for start in range(0, len(points), _POINTS_A_REQUEST):
            part = points[start : start + _POINTS_A_REQUEST]
            self._confirm(self._client.upsert(self._generation.name, part, wait=True))
            passing("points written")
            advance(len(part))
        ids = [str(point.id) for point in points]
        lost = set(ids) - existing(self._client, self._generation.name, ids)
        if lost:
            raise StoreError(
                f"Qdrant acknowledged {len(ids)} points of source {self._source_id} but {len(lost)} are not "
                f"there, {min(lost)} for one. The documents are not recorded as indexed; run again."
            )
        passing("points confirmed")
        self._require_lease()
        self._publish([point for one in written if _is_new_version(one) for point in one.write])
        passing("points published")
        self._ledger.documents.record(self._generation.name, [one.desired.recorded() for one in written])
        passing("versions recorded")
        self._delete_points([point for one in written for point in one.withdraw])
        passing("old points deleted")
        outcome.written += len(points)

    def _points_of(self, planned: PlannedDocument) -> list[models.PointStruct]:
        desired = planned.desired
        if not planned.write:
            return []
        found = read_chunks(self._artifacts, desired.chunks_key)
        if found is None:
            raise DocumentError(
                FailureCategory.CHUNKING_FAILED,
                f"{desired.document_id}: its chunks are no longer among the artifacts; run again.",
                transient=True,
            )
        title, every = found
        chunks = wanted_chunks(desired, every, planned.write)
        vectors = load_vectors(
            title, list(chunks.values()), model_key=self._model_key, cache=self._ledger.vectors
        )
        if len(vectors) < len(chunks):
            raise DocumentError(
                FailureCategory.EMBEDDING_REFUSED,
                f"{desired.document_id}: {len(chunks) - len(vectors)} of its vectors are missing; run again.",
                transient=True,
            )
        return build_points(
            desired,
            title=title,
            chunks=chunks,
            vectors=vectors,
            fingerprint=self._generation.fingerprint,
            published=not _is_new_version(planned),
            now=datetime.now(UTC),
        )

    def _publish(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _POINTS_A_BATCH):
            part: list[Any] = list(ids[start : start + _POINTS_A_BATCH])
            self._confirm(
                self._client.set_payload(self._generation.name, {"published": True}, points=part, wait=True)
            )

    def _update_facts(self, changed: Sequence[PlannedDocument]) -> None:
        for facts, points in _by_facts(changed):
            unknown = [name for name in FACT_FIELDS if name not in facts]
            operations: list[models.UpdateOperation] = [
                models.SetPayloadOperation(set_payload=models.SetPayload(payload=facts, points=points))
            ]
            if unknown:
                operations.append(
                    models.DeletePayloadOperation(
                        delete_payload=models.DeletePayload(keys=unknown, points=points)
                    )
                )
            for result in self._client.batch_update_points(self._generation.name, operations, wait=True):
                self._confirm(result)
            passing("facts updated")
        # A document that also lost points is recorded once those are back.
        complete = [one.desired.recorded() for one in changed if not one.write]
        self._ledger.documents.record(self._generation.name, complete)
        passing("facts recorded")

    def _delete_points(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _POINTS_A_BATCH):
            selector = models.PointIdsList(points=list(ids[start : start + _POINTS_A_BATCH]))
            self._confirm(self._client.delete(self._generation.name, selector, wait=True))

    def _confirm(self, result: models.UpdateResult) -> None:
        require_completed(result, self._source_id)


def _is_new_version(planned: PlannedDocument) -> bool:
    return planned.change in (Change.ADDED, Change.REPLACED)


def _by_facts(changed: Iterable[PlannedDocument]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """The points to update, together where their new facts are the same, a bounded number at a time."""
    groups: dict[str, tuple[dict[str, Any], list[Any]]] = {}
    for planned in changed:
        facts = dict(planned.desired.facts)
        lost = set(planned.lost)
        _, points = groups.setdefault(digest(facts), (facts, []))
        points += (point for point in planned.desired.points if point not in lost)
    for facts, points in groups.values():
        for start in range(0, len(points), _POINTS_A_BATCH):
            yield facts, points[start : start + _POINTS_A_BATCH]


def _batches(documents: Iterable[PlannedDocument]) -> Iterator[list[PlannedDocument]]:
    batch: list[PlannedDocument] = []
    points = 0
    for planned in documents:
        if planned.change is Change.UNCHANGED or (planned.change is Change.FACTS and not planned.write):
            continue
        batch.append(planned)
        points += len(planned.write)
        if points >= _POINTS_A_BATCH:
            yield batch
            batch, points = [], 0
    if batch:
        yield batch
