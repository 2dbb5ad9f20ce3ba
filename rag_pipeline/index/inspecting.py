"""Looking into stored points: is what Qdrant holds what the contract says?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from qdrant_client import QdrantClient, models

from rag_pipeline.index.desired import recorded_points
from rag_pipeline.index.reconciling import few
from rag_pipeline.index.schema import BM25, DENSE, PointPayload
from rag_pipeline.ledger.documents import IndexedDocument

SAMPLE_SIZE = 1_000
"""Points that are looked into; every point of a source that has no more than these."""

_POINTS_A_REQUEST = 250


@dataclass(frozen=True, slots=True)
class SampledPoints:
    """What a sample of points showed: `wrong_payloads` and `wrong_vectors` tell point and reason."""

    looked_at: int
    wrong_payloads: tuple[str, ...]
    wrong_vectors: tuple[str, ...]


def sample_points(
    client: QdrantClient, collection: str, recorded: Iterable[IndexedDocument], *, dimensions: int
) -> SampledPoints:
    """Read a sample of a source's points, spread evenly over its ids, and hold them against the contract."""
    owners = {point: one for one in recorded for point in recorded_points(one)}
    ids = sorted(owners)
    chosen = ids[:: max(1, -(-len(ids) // SAMPLE_SIZE))]
    payloads: list[str] = []
    vectors: list[str] = []
    looked_at = 0
    for start in range(0, len(chosen), _POINTS_A_REQUEST):
        records = client.retrieve(
            collection, chosen[start : start + _POINTS_A_REQUEST], with_payload=True, with_vectors=True
        )
        looked_at += len(records)
        for record in records:
            owner = owners[str(record.id)]
            payloads += (f"{record.id}: {reason}" for reason in _payload_faults(record.payload or {}, owner))
            vectors += (f"{record.id}: {reason}" for reason in _vector_faults(record.vector, dimensions))
    return SampledPoints(looked_at, tuple(payloads), tuple(vectors))


def _payload_faults(payload: dict[str, Any], owner: IndexedDocument) -> Iterable[str]:
    try:
        PointPayload.model_validate(payload)
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False):
            yield f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
        return
    expected = {**owner.facts, "document_id": owner.document_id, "content_hash": owner.content_hash}
    for name, value in expected.items():
        if payload.get(name) != value:
            yield f"{name}: is {payload.get(name)!r}, the ledger says {value!r}"


def _vector_faults(vector: models.VectorStructOutput | None, dimensions: int) -> Iterable[str]:
    named = vector if isinstance(vector, dict) else {}
    dense = named.get(DENSE)
    if not isinstance(dense, list) or len(dense) != dimensions:
        size = len(dense) if isinstance(dense, list) else "no"
        yield f"dense vector has {size} values, the generation {dimensions}"
    if not isinstance(named.get(BM25), models.SparseVector):
        yield "bm25 weights are missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: `counts` by name, and a few ids or reasons."""

    passed: bool
    counts: dict[str, int]
    examples: tuple[str, ...] = ()


def faults_finding(sampled: SampledPoints, faults: Sequence[str], stored: int) -> Finding:
    """The finding of a check that looks at a sample."""
    return Finding(
        passed=not faults,
        counts={"looked_at": sampled.looked_at, "stored": stored, "wrong": len(faults)},
        examples=few(faults),
    )
