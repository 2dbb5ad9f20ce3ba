"""What every embedder offers, and what identifies its vectors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Everything that makes two vectors of the same text differ. Part of a generation's fingerprint."""

    provider: str
    model: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def key(self) -> str:
        """A short, stable name under which vectors of this model are kept."""
        prefixed = self.query_prefix or self.passage_prefix
        prefixes = f"|{self.query_prefix!r}|{self.passage_prefix!r}" if prefixed else ""
        return f"{self.provider}/{self.model}@{self.dimensions}{prefixes}"

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values."""
        return {
            "provider": self.provider,
            "model": self.model,
            "dimensions": self.dimensions,
            "query_prefix": self.query_prefix,
            "passage_prefix": self.passage_prefix,
        }


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one text of a batch has no vector, for good."""

    reason: str


class Embedder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def identity(self) -> ModelIdentity:
        """Which model, at which size, with which prefixes."""
        ...

    @property
    def max_tokens(self) -> int:
        """The longest passage, in tokens as `count_tokens` counts them, that the model reads whole."""
        ...

    @property
    def batch_texts(self) -> int:
        """How many texts to hand over at once to keep the model busy; more than that only delays progress."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many of the model's tokens a passage takes, prefixes and special tokens included.

        Never less than the model's own count where its tokenizer is at hand. Where it is not, an estimate for
        sizing; even then a text of at most `max_tokens` fits into the model's window for certain.
        """
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        """One vector of `identity.dimensions` float32 a text, in order, or why that text has none.

        Raises EmbeddingUnavailable where the model does not answer properly within the retries.
        """
        ...

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = math.inf) -> list[Vector]:
        """One vector a question, in order. Raises EmbeddingUnavailable, also for a refused question.

        `timeout_seconds` bounds the wait for an endpoint, all tries together; a model of this process takes
        the time that it takes.
        """
        ...
