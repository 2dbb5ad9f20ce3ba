"""The embedding stage: chunk artifacts in, vectors in the cache out, no text embedded twice."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.chunking.chunk import Chunk, embedding_input
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.embedding.cache import VectorCache
from rag_pipeline.embedding.embedder import Embedder, Refusal, Vector
from rag_pipeline.embedding.text import valid_text
from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.fault_points import passing

_LOOKUP_CHUNKS = 256
"""How many chunks are looked up in the cache at once."""

_WAITING_CHUNKS = 2_048
"""How many chunks of finished documents may wait for a batch to fill, where nearly all vectors are cached."""


@dataclass(frozen=True, slots=True)
class EmbeddedResult:
    """What became of one document's chunks: `chunk_count == embedded + reused + len(refused)`.

    `embedded` counts those whose text the model turned into a vector for this document, `reused` those whose
    text had one already. `refused` holds (chunk index, reason). With `error` set nothing is known, and all
    are 0.
    """

    document_id: str
    chunks_key: str
    chunk_count: int
    embedded: int = 0
    reused: int = 0
    refused: tuple[tuple[int, str], ...] = ()
    error: DocumentError | None = None


def embedding_key(text: str) -> str:
    """The hash under which the vector of an embedded text is kept: sha256 of what the model gets, in hex."""
    return hashlib.sha256(valid_text(text).encode()).hexdigest()


KnownRefusal = Callable[[str, str, int], str | None]


def _nothing_known(document_id: str, chunks_key: str, index: int) -> str | None:
    return None


def embed_source(
    documents: Iterable[tuple[str, str]],
    *,
    embedder: Embedder,
    cache: VectorCache,
    artifacts: ArtifactStore,
    on_done: Callable[[int], None],
    known_refusal: KnownRefusal = _nothing_known,
) -> Iterator[EmbeddedResult]:
    """See that every chunk of the documents, given as (document id, chunks key), has its vector in the cache.

    Texts are embedded in batches across documents. Results come in the order of the documents, each after
    its vectors are kept. `on_done` is told how many more chunks are done. A chunk for which `known_refusal`,
    asked with document id, chunks key and index, has a reason is refused without asking the model again.
    Raises EmbeddingUnavailable; what was kept until then stays.
    """
    work = _Work(embedder, cache, known_refusal, on_done)
    for document_id, chunks_key in documents:
        work.add(document_id, chunks_key, artifacts)
        yield from work.take_finished()
    work.embed_missing()
    yield from work.take_finished()


def load_vectors(
    title: str, chunks: Sequence[Chunk], *, model_key: str, cache: VectorCache
) -> dict[int, Vector]:
    """The kept vectors of a document's chunks by chunk index; chunks without one are left out."""
    keys = {chunk.index: embedding_key(embedding_input(title, chunk)) for chunk in chunks}
    kept = cache.get(model_key, list(dict.fromkeys(keys.values())))
    return {index: kept[key] for index, key in keys.items() if key in kept}


@dataclass(slots=True)
class _Waiting:
    """A document whose vectors may not all be there yet. `keys` belong to the chunks of `indexes`."""

    document_id: str
    chunks_key: str
    indexes: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    new_keys: set[str] = field(default_factory=set)
    error: DocumentError | None = None


class _Work:
    """The documents on the way, and the texts that wait until they fill a batch."""

    def __init__(
        self,
        embedder: Embedder,
        cache: VectorCache,
        known_refusal: KnownRefusal,
        on_done: Callable[[int], None],
    ) -> None:
        self._embedder = embedder
        self._cache = cache
        self._known_refusal = known_refusal
        self._on_done = on_done
        self._model_key = embedder.identity.key
        self._waiting: deque[_Waiting] = deque()
        self._missing: dict[str, str] = {}
        self._refused: dict[str, str] = {}

    def add(self, document_id: str, chunks_key: str, artifacts: ArtifactStore) -> None:
        """Look up a document's vectors, and embed whenever the missing texts fill a batch."""
        document = _Waiting(document_id, chunks_key)
        self._waiting.append(document)
        stored = read_chunks(artifacts, chunks_key)
        if stored is None:
            document.error = DocumentError(
                FailureCategory.CHUNKING_FAILED,
                f"the chunks of {document_id} are no longer stored; the next run makes them again",
                transient=True,
            )
            return
        title, chunks = stored
        for start in range(0, len(chunks), _LOOKUP_CHUNKS):
            self._look_up(document, title, chunks[start : start + _LOOKUP_CHUNKS])
            self.embed_missing(smallest_batch=self._embedder.batch_texts)
        if sum(len(waiting.keys) for waiting in self._waiting) >= _WAITING_CHUNKS:
            self.embed_missing()

    def embed_missing(self, *, smallest_batch: int = 1) -> None:
        """Embed what is missing as long as it fills such a batch, and keep the vectors."""
        while len(self._missing) >= smallest_batch:
            keys = list(islice(self._missing, self._embedder.batch_texts))
            answers = self._embedder.embed_passages([self._missing[key] for key in keys])
            vectors: dict[str, Vector] = {}
            for key, answer in zip(keys, answers, strict=True):
                if isinstance(answer, Refusal):
                    self._refused[key] = answer.reason
                else:
                    vectors[key] = answer
            if vectors:
                users = [
                    (key, document.document_id)
                    for document in self._waiting
                    for key in document.new_keys & vectors.keys()
                ]
                self._cache.put(self._model_key, vectors, users)
                passing("vectors stored")
            for key in keys:
                del self._missing[key]
            self._on_done(len(keys))

    def take_finished(self) -> Iterator[EmbeddedResult]:
        """The documents at the front for which nothing is missing any more."""
        while self._waiting and not any(key in self._missing for key in self._waiting[0].keys):
            yield self._result(self._waiting.popleft())

    def _look_up(self, document: _Waiting, title: str, chunks: Sequence[Chunk]) -> None:
        texts = {}
        for chunk in chunks:
            text = embedding_input(title, chunk)
            key = embedding_key(text)
            document.indexes.append(chunk.index)
            document.keys.append(key)
            if reason := self._known_refusal(document.document_id, document.chunks_key, chunk.index):
                self._refused[key] = reason
            if key not in self._missing and key not in self._refused:
                texts[key] = text
        kept = self._cache.get(self._model_key, list(texts))
        missing = {key: text for key, text in texts.items() if key not in kept}
        document.new_keys.update(missing)
        self._missing.update(missing)
        self._on_done(len(chunks) - len(missing))

    def _result(self, document: _Waiting) -> EmbeddedResult:
        if document.error:
            return EmbeddedResult(document.document_id, document.chunks_key, 0, error=document.error)
        refused = tuple(
            (index, self._refused[key])
            for index, key in zip(document.indexes, document.keys, strict=True)
            if key in self._refused
        )
        count, embedded = len(document.keys), len(document.new_keys - self._refused.keys())
        return EmbeddedResult(
            document.document_id,
            document.chunks_key,
            chunk_count=count,
            embedded=embedded,
            reused=count - embedded - len(refused),
            refused=refused,
        )
