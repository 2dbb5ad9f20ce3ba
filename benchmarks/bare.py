"""The same work without a pipeline: convert, embed and write the same documents, one after the other."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from qdrant_client import QdrantClient, models

from benchmarks.embedded import embedded_texts
from rag_pipeline.errors import DocumentError
from rag_pipeline.index.generations import create_collection, create_payload_indexes
from rag_pipeline.index.schema import BM25, DENSE
from rag_pipeline.index.store import open_store
from rag_pipeline.normalize.detecting import detect_type
from rag_pipeline.normalize.stage import parsing_options
from rag_pipeline.normalize.worker_process import convert_document
from rag_pipeline.services import Services
from rag_pipeline.sources.listing import list_source
from rag_pipeline_tests.knowledge_base import KnowledgeBase

_POINTS_A_REQUEST = 250


@dataclass(frozen=True, slots=True)
class BareTimes:
    """Wall times in seconds, and how many points were written."""

    conversion: float
    embedding: float
    upsert: float
    points: int

    @property
    def total(self) -> float:
        """All three."""
        return self.conversion + self.embedding + self.upsert


def time_bare_work(base: KnowledgeBase, source: str) -> BareTimes:
    """Time the work behind a source that was indexed: the same converters, texts and points.

    Each part gets its input ready-made: no listing, chunking, caching, checking or recording is in the times.
    """
    conversion = _time_conversion(base, source)
    embedding = _time_embedding(base, source)
    points, upsert = _time_upsert(base, source)
    return BareTimes(conversion, embedding, upsert, points)


def _time_conversion(base: KnowledgeBase, source: str) -> float:
    manifest = base.pipeline.catalogue.manifest(source)
    documents = list_source(manifest, detect=detect_type).documents
    options = parsing_options(manifest, passwords=(), workers=1)
    started = time.perf_counter()
    for document in documents:
        with suppress(DocumentError):  # the pipeline tries and fails too
            convert_document(document, options)
    return time.perf_counter() - started


def _time_embedding(base: KnowledgeBase, source: str) -> float:
    texts = list(dict.fromkeys(embedded_texts(base, source)))
    embedder = Services(base.settings).embedder  # as fresh as the pipeline's, so that both load the model
    started = time.perf_counter()
    for start in range(0, len(texts), embedder.batch_texts):
        embedder.embed_passages(texts[start : start + embedder.batch_texts])
    return time.perf_counter() - started


def _time_upsert(base: KnowledgeBase, source: str) -> tuple[int, float]:
    bare = f"{base.settings.alias}_bare"
    with open_store(base.services.store) as client:
        points = list(_stored_points(client, base.collection, source))
        create_collection(client, bare, dimensions=base.services.embedder.identity.dimensions)
        create_payload_indexes(client, bare)
        started = time.perf_counter()
        for start in range(0, len(points), _POINTS_A_REQUEST):
            client.upsert(bare, points[start : start + _POINTS_A_REQUEST], wait=True)
        seconds = time.perf_counter() - started
        client.delete_collection(bare)
    return len(points), seconds


def _stored_points(client: QdrantClient, collection: str, source: str) -> Iterator[models.PointStruct]:
    chosen = models.Filter(
        must=[models.FieldCondition(key="source_id", match=models.MatchValue(value=source))]
    )
    offset = None
    while True:
        records, offset = client.scroll(
            collection, scroll_filter=chosen, limit=1_000, offset=offset, with_payload=True, with_vectors=True
        )
        for record in records:
            assert isinstance(record.vector, dict)
            vectors = {name: record.vector[name] for name in (DENSE, BM25)}
            yield models.PointStruct(id=record.id, vector=vectors, payload=record.payload)
        if offset is None:
            return
