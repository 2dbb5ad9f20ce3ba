"""Where vectors are kept, so that the same text is never embedded twice for one model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from rag_pipeline.embedding.embedder import Vector


class VectorCache(Protocol):
    """Vectors by model and by the hash of the embedded text (`embedding_key`)."""

    def get(self, model_key: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, of those asked for."""
        ...

    def put(
        self, model_key: str, vectors: Mapping[str, Vector], users: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Keep vectors, durably once this returns, and who uses them: pairs of hash and document id."""
        ...
