"""The chunking stage: normalized artifacts in, chunk artifacts out, what is done already not repeated."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rag_pipeline.artifacts import ArtifactStore, artifact_key
from rag_pipeline.chunking.chunk import Chunk
from rag_pipeline.chunking.chunker import chunk_document
from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.document import NormalizedDocument

CHUNKING_VERSION = 1
"""Raise it when the same document and options give other chunks. Part of a generation's fingerprint."""


@dataclass(frozen=True, slots=True)
class ChunkedResult:
    """What became of one document.

    `artifact_key` is where its chunks are, also before they exist. `reused` tells that they were there
    already. With `error` set there are none and `chunk_count` is 0.
    """

    document_id: str
    artifact_key: str
    chunk_count: int
    error: DocumentError | None = None
    reused: bool = False


def chunks_key(normalized_key: str, title: str, options: ChunkingOptions, tokenizer_name: str) -> str:
    """The artifact key of a document's chunks: everything that they depend on."""
    return artifact_key("chunks", CHUNKING_VERSION, normalized_key, title, options.to_json(), tokenizer_name)


def chunk_source(
    documents: Iterable[tuple[str, str, str]],
    *,
    options: ChunkingOptions,
    tokenizer_name: str,
    count_tokens: Callable[[str], int],
    artifacts: ArtifactStore,
    on_done: Callable[[], None],
) -> Iterator[ChunkedResult]:
    """Chunk documents one by one, given as (document id, normalized artifact's key, title).

    `tokenizer_name` names what `count_tokens` counts. `on_done` is called after each document. A document
    that fails is reported in its result and stops no other.
    """
    for document_id, normalized_key, title in documents:
        key = chunks_key(normalized_key, title, options, tokenizer_name)
        count = _stored_count(artifacts, key)
        if count is not None:
            result = ChunkedResult(document_id, key, count, reused=True)
        else:
            try:
                document = _normalized(artifacts, normalized_key, document_id)
                chunks = chunk_document(document, title=title, options=options, count_tokens=count_tokens)
                if not chunks:
                    raise DocumentError(
                        FailureCategory.EMPTY, f"{document_id} holds no text to index; check the file"
                    )
            except DocumentError as error:
                result = ChunkedResult(document_id, key, 0, error=error)
            else:
                value = {"count": len(chunks), "title": title, "chunks": [c.to_json() for c in chunks]}
                artifacts.write(key, value)
                result = ChunkedResult(document_id, key, len(chunks))
        on_done()
        yield result


def read_chunks(artifacts: ArtifactStore, key: str) -> tuple[str, list[Chunk]] | None:
    """A document's title and its chunks in order; None where nothing is stored under `key`."""
    value = artifacts.read(key)
    if value is None:
        return None
    return value["title"], [Chunk.from_json(chunk) for chunk in value["chunks"]]


def _stored_count(artifacts: ArtifactStore, key: str) -> int | None:
    value = artifacts.read(key)
    return None if value is None else int(value["count"])


def _normalized(artifacts: ArtifactStore, key: str, document_id: str) -> NormalizedDocument:
    value = artifacts.read(key)
    if value is None:
        raise DocumentError(
            FailureCategory.CHUNKING_FAILED,
            f"the normalized text of {document_id} is no longer stored; the next run converts it again",
            transient=True,
        )
    return NormalizedDocument.from_json(value)
