"""Vectors by model and text, so that the same text is never embedded twice for one model."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, delete, select

from rag_pipeline.ledger.database import batches, insert_missing, upsert
from rag_pipeline.ledger.tables import vector_uses, vectors

_HASHES_A_QUERY = 1_000


class StoredVectors:
    """The vector cache, in SQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, model_key: str, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The stored vectors of those of the texts that have one."""
        found: dict[str, NDArray[np.float32]] = {}
        with self._engine.connect() as connection:
            for start in range(0, len(hashes), _HASHES_A_QUERY):
                query = select(vectors.c.text_hash, vectors.c.vector).where(
                    vectors.c.model_key == model_key,
                    vectors.c.text_hash.in_(hashes[start : start + _HASHES_A_QUERY]),
                )
                for row in connection.execute(query):
                    found[row.text_hash] = np.frombuffer(row.vector, dtype="<f4").astype(np.float32)
        return found

    def put(
        self,
        model_key: str,
        found: Mapping[str, NDArray[np.float32]],
        users: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Store vectors by text hash, and note who uses them, by pairs of text hash and document id."""
        with self._engine.begin() as connection:
            upsert(
                connection,
                vectors,
                (
                    {"model_key": model_key, "text_hash": text_hash, "vector": vector.astype("<f4").tobytes()}
                    for text_hash, vector in found.items()
                ),
            )
            insert_missing(
                connection,
                vector_uses,
                (
                    {"model_key": model_key, "text_hash": text_hash, "document_id": document_id}
                    for text_hash, document_id in users
                ),
            )

    def delete(self, keys: Iterable[tuple[str, str]]) -> None:
        """Forget vectors, by pairs of model key and text hash."""
        by_model: dict[str, list[str]] = {}
        for model_key, text_hash in keys:
            by_model.setdefault(model_key, []).append(text_hash)
        with self._engine.begin() as connection:
            for model_key, hashes in by_model.items():
                for some in batches(hashes):
                    connection.execute(
                        delete(vectors).where(vectors.c.model_key == model_key, vectors.c.text_hash.in_(some))
                    )
