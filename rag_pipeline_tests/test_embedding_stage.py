"""The embedding stage: nothing embedded twice, every chunk accounted for, memory bounded."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from upath import UPath

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.chunking.chunk import embedding_input
from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.chunking.stage import chunk_source, read_chunks
from rag_pipeline.embedding.embedder import Embedder, Refusal, Vector
from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.embedding.stage import EmbeddedResult, embed_source, embedding_key, load_vectors
from rag_pipeline.errors import EmbeddingUnavailable, FailureCategory
from rag_pipeline.normalize.document import Block, BlockKind, NormalizedDocument

MODEL = HashingEmbedder()


class MemoryCache:
    """A vector cache in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Vector] = {}

    def get(self, model_key: str, hashes: Sequence[str]) -> dict[str, Vector]:
        return {h: self.kept[model_key, h] for h in hashes if (model_key, h) in self.kept}

    def put(
        self, model_key: str, vectors: Mapping[str, Vector], users: Iterable[tuple[str, str]] = ()
    ) -> None:
        self.kept.update({(model_key, h): vector for h, vector in vectors.items()})


class WatchedEmbedder:
    """HashingEmbedder that remembers what it was given, refuses some texts and may break down."""

    identity = MODEL.identity
    max_tokens = MODEL.max_tokens
    batch_texts = 10

    def __init__(self, refuse: str | None = None, break_at_call: int | None = None) -> None:
        self.calls: list[list[str]] = []
        self._refuse = refuse
        self._break_at_call = break_at_call

    def count_tokens(self, text: str) -> int:
        return MODEL.count_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        self.calls.append(list(texts))
        if len(self.calls) == self._break_at_call:
            raise EmbeddingUnavailable("down")
        refused = Refusal("not this one")
        return [
            refused if self._refuse and self._refuse in text else vector
            for text, vector in zip(texts, MODEL.embed_passages(texts), strict=True)
        ]

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = math.inf) -> list[Vector]:
        return MODEL.embed_queries(texts)

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]


@pytest.fixture
def artifacts(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(UPath(tmp_path / "artifacts"))


def store_chunks(artifacts: ArtifactStore, documents: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Chunk documents made of one section for each given text, all under one title."""
    sources = []
    for document_id, sections in documents.items():
        markdown, blocks = "", []
        for text in sections:
            for kind, level, piece in (
                (BlockKind.HEADING, 1, "# Section\n\n"),
                (BlockKind.PARAGRAPH, 0, f"{text}\n\n"),
            ):
                blocks.append(Block(kind, len(markdown), len(markdown) + len(piece.rstrip()), level))
                markdown += piece
        key = f"normalized/{document_id}.json"
        artifacts.write(key, NormalizedDocument(markdown, tuple(blocks)).to_json())
        sources.append((document_id, key, "Title"))
    results = list(
        chunk_source(
            sources,
            options=ChunkingOptions(max_tokens=512),
            tokenizer_name="hashing",
            count_tokens=MODEL.count_tokens,
            artifacts=artifacts,
            on_done=lambda: None,
        )
    )
    assert [result.chunk_count for result in results] == [len(sections) for sections in documents.values()]
    return [(result.document_id, result.artifact_key) for result in results]


def embed(
    documents: Sequence[tuple[str, str]], embedder: Embedder, cache: MemoryCache, artifacts: ArtifactStore
) -> tuple[list[EmbeddedResult], int]:
    """The results, and how many chunks were reported as done."""
    done: list[int] = []
    results = list(
        embed_source(documents, embedder=embedder, cache=cache, artifacts=artifacts, on_done=done.append)
    )
    return results, sum(done)


def counts(results: Sequence[EmbeddedResult]) -> list[tuple[int, int, int, int]]:
    return [(r.chunk_count, r.embedded, r.reused, len(r.refused)) for r in results]


def numbered(name: str, count: int) -> list[str]:
    return [f"The text of {name} number {number}." for number in range(count)]


def test_every_chunk_gets_its_vector_and_a_second_run_embeds_nothing(artifacts: ArtifactStore) -> None:
    documents = store_chunks(
        artifacts, {"s/a": numbered("a", 3), "s/b": numbered("b", 25), "s/c": numbered("c", 1)}
    )
    cache, embedder = MemoryCache(), WatchedEmbedder()
    results, done = embed(documents, embedder, cache, artifacts)
    assert [result.document_id for result in results] == ["s/a", "s/b", "s/c"]
    assert counts(results) == [(3, 3, 0, 0), (25, 25, 0, 0), (1, 1, 0, 0)]
    assert done == len(embedder.texts) == len(set(embedder.texts)) == 29

    for _, key in documents:
        stored = read_chunks(artifacts, key)
        assert stored is not None
        title, chunks = stored
        vectors = load_vectors(title, chunks, model_key=MODEL.identity.key, cache=cache)
        expected = MODEL.embed_passages([embedding_input(title, chunk) for chunk in chunks])
        for chunk, vector in zip(chunks, expected, strict=True):
            np.testing.assert_array_equal(vectors[chunk.index], vector)

    again = WatchedEmbedder()
    results, done = embed(documents, again, cache, artifacts)
    assert counts(results) == [(3, 0, 3, 0), (25, 0, 25, 0), (1, 0, 1, 0)]
    assert (done, again.calls) == (29, [])


def test_batches_are_filled_across_documents(artifacts: ArtifactStore) -> None:
    documents = store_chunks(artifacts, {f"s/{n}": numbered(f"d{n}", 3) for n in range(9)})
    embedder = WatchedEmbedder()
    embed(documents, embedder, MemoryCache(), artifacts)
    assert [len(call) for call in embedder.calls] == [10, 10, 7]


def test_the_same_text_is_embedded_once_within_and_across_documents(artifacts: ArtifactStore) -> None:
    same = "The very same paragraph."
    documents = store_chunks(
        artifacts, {"s/a": [same, "Other.", same], "s/b": [same], "s/c": numbered("c", 30), "s/d": [same]}
    )
    embedder = WatchedEmbedder()
    results, done = embed(documents, embedder, MemoryCache(), artifacts)
    assert counts(results) == [(3, 2, 1, 0), (1, 0, 1, 0), (30, 30, 0, 0), (1, 0, 1, 0)]
    assert sum(same in text for text in embedder.texts) == 1
    assert done == 35


def test_vectors_of_another_model_are_not_taken(artifacts: ArtifactStore) -> None:
    documents = store_chunks(artifacts, {"s/a": numbered("a", 2)})
    cache = MemoryCache()
    embed(documents, WatchedEmbedder(), cache, artifacts)
    results, _ = embed(documents, HashingEmbedder(16), cache, artifacts)
    assert counts(results) == [(2, 2, 0, 0)]


def test_a_refused_text_is_reported_for_each_of_its_chunks_and_harms_no_other(
    artifacts: ArtifactStore,
) -> None:
    documents = store_chunks(
        artifacts, {"s/a": ["Fine.", "poison", "poison"], "s/b": numbered("b", 12), "s/c": ["poison"]}
    )
    cache, embedder = MemoryCache(), WatchedEmbedder(refuse="poison")
    results, done = embed(documents, embedder, cache, artifacts)
    assert counts(results) == [(3, 1, 0, 2), (12, 12, 0, 0), (1, 0, 0, 1)]
    assert results[0].refused == ((1, "not this one"), (2, "not this one"))
    assert sum("poison" in text for text in embedder.texts) == 1
    assert done == 16

    stored = read_chunks(artifacts, documents[0][1])
    assert stored is not None
    vectors = load_vectors(*stored, model_key=MODEL.identity.key, cache=cache)
    assert sorted(vectors) == [0]


def test_lost_chunks_are_a_passing_failure_of_their_document_only(artifacts: ArtifactStore) -> None:
    [first, last] = store_chunks(artifacts, {"s/a": numbered("a", 2), "s/b": numbered("b", 2)})
    documents = [first, ("s/lost", "chunks/00/lost.json"), last]
    results, done = embed(documents, WatchedEmbedder(), MemoryCache(), artifacts)
    assert counts(results) == [(2, 2, 0, 0), (0, 0, 0, 0), (2, 2, 0, 0)]
    error = results[1].error
    assert error is not None
    assert (error.category, error.transient) == (FailureCategory.CHUNKING_FAILED, True)
    assert "s/lost" in error.message
    assert done == 4


def test_what_was_embedded_before_a_breakdown_is_kept(artifacts: ArtifactStore) -> None:
    documents = store_chunks(artifacts, {f"s/{n}": numbered(f"d{n}", 5) for n in range(10)})
    cache = MemoryCache()
    with pytest.raises(EmbeddingUnavailable):
        embed(documents, WatchedEmbedder(break_at_call=4), cache, artifacts)
    assert len(cache.kept) == 30
    embedder = WatchedEmbedder()
    results, _ = embed(documents, embedder, cache, artifacts)
    assert len(embedder.texts) == 20
    assert sum(result.embedded for result in results) == 20


def test_documents_are_read_no_faster_than_they_are_embedded(artifacts: ArtifactStore) -> None:
    documents = store_chunks(artifacts, {f"s/{n}": numbered(f"d{n}", 10) for n in range(20)})
    read = 0

    def counted() -> Iterator[tuple[str, str]]:
        nonlocal read
        for document in documents:
            read += 1
            yield document

    results = embed_source(
        counted(),
        embedder=WatchedEmbedder(),
        cache=MemoryCache(),
        artifacts=artifacts,
        on_done=lambda count: None,
    )
    for number, _ in enumerate(results, start=1):
        assert read - number <= 1


def test_the_key_depends_on_what_the_model_is_given() -> None:
    assert embedding_key("a") == embedding_key("a") != embedding_key("b")
    assert embedding_key("a\0b") == embedding_key("a b")
    assert len(embedding_key("\ud800")) == 64


def test_a_known_refusal_is_not_asked_again(artifacts: ArtifactStore) -> None:
    documents = store_chunks(artifacts, {"a": ["one", "two", "three"]})
    embedder = WatchedEmbedder()
    (result,) = embed_source(
        documents,
        embedder=embedder,
        cache=MemoryCache(),
        artifacts=artifacts,
        on_done=lambda _: None,
        known_refusal=lambda document_id, key, index: "too odd" if index == 1 else None,
    )
    assert result.refused == ((1, "too odd"),)
    assert result.embedded == len(embedder.texts) == result.chunk_count - 1
