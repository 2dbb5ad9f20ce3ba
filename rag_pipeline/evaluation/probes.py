"""Probes of what answers rest on and no question would show: whose vectors these are, whose calibration."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from qdrant_client import QdrantClient

from rag_pipeline.chunking.chunk import context_line, under_context
from rag_pipeline.embedding.embedder import Embedder, Refusal, Vector
from rag_pipeline.evaluation.result import GateResult, Severity
from rag_pipeline.index.schema import DENSE
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.query.relevance.calibration import Calibration

# Point ids are hashes, so that the first ones are a random sample.
_PROBES: Final = 20
# The same text by the same model; endpoints round, and an overlong context line is embedded cut.
_SAME: Final = 0.98
_LEAST_SAME: Final = 0.9


def vectors_gate(client: QdrantClient, collection: str, embedder: Embedder) -> GateResult:
    """Whether stored vectors are those that the model gives today: one of the same size may be another's."""
    records, _ = client.scroll(
        collection, limit=_PROBES, with_payload=["title", "section_path", "text"], with_vectors=[DENSE]
    )
    texts: list[str] = []
    stored: list[Vector] = []
    for record in records:
        payload, vectors = record.payload or {}, record.vector
        vector = vectors.get(DENSE) if isinstance(vectors, dict) else None
        if isinstance(vector, list):
            context = context_line(str(payload.get("title", "")), payload.get("section_path") or [])
            texts.append(under_context(context, str(payload.get("text", ""))))
            stored.append(np.ravel(np.array(vector, dtype=np.float32)))
    cosines = _cosines(stored, embedder, texts)
    share = sum(one >= _SAME for one in cosines) / len(cosines) if cosines else 0.0
    return GateResult(
        name="vectors",
        passed=share >= _LEAST_SAME,
        severity=Severity.ERROR,
        message=f"of {len(cosines)} stored vectors {share:.0%} are those that {embedder.identity.key} gives "
        "today",
        value=share,
        bound=_LEAST_SAME,
    )


def calibration_gate(generation: Generation, calibration: Calibration) -> GateResult:
    """Whether relevance is told by a calibration that was made for the generation or for its model."""
    right = fits(calibration, generation.fingerprint, generation.settings["model"])
    return GateResult(
        name="calibration",
        passed=right,
        severity=Severity.ERROR,
        message=f"relevance is told by the calibration for {calibration.fitted_for}"
        + ("" if right else f", and {generation.name} is of {generation.fingerprint[:12]}"),
    )


def unusable_calibration(reason: str) -> GateResult:
    """That the calibration that is stored cannot be used."""
    return GateResult(name="calibration", passed=False, severity=Severity.ERROR, message=reason)


def fits(calibration: Calibration, fingerprint: str, model: Mapping[str, Any]) -> bool:
    """Whether a calibration was made for a fingerprint or, as the defaults are, for a model."""
    return calibration.fitted_for in (fingerprint, f"{model['provider']}/{model['model']}")


def _cosines(stored: Sequence[Vector], embedder: Embedder, texts: Sequence[str]) -> list[float]:
    found = []
    for start in range(0, len(texts), embedder.batch_texts):
        today = embedder.embed_passages(texts[start : start + embedder.batch_texts])
        for vector, other in zip(today, stored[start:], strict=False):
            if not isinstance(vector, Refusal):
                length = float(np.linalg.norm(vector) * np.linalg.norm(other))
                found.append(float(np.dot(vector, other)) / length if length else 0.0)
    return found
