"""An embedder that hands everything to another one: for those that watch or remember what passes."""

import math
from collections.abc import Sequence

from rag_pipeline.embedding.embedder import Embedder, ModelIdentity, Refusal, Vector


class PassingOn:
    """As good as the embedder behind it, in all that a subclass does not change."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def identity(self) -> ModelIdentity:
        return self._embedder.identity

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    @property
    def batch_texts(self) -> int:
        return self._embedder.batch_texts

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        return self._embedder.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = math.inf) -> list[Vector]:
        return self._embedder.embed_queries(texts, timeout_seconds=timeout_seconds)
