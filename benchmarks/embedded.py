"""The texts of a source that were embedded, and their vectors kept from one measurement to the next."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rag_pipeline.chunking.chunk import embedding_input
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.embedding.embedder import Vector
from rag_pipeline.embedding.stage import embedding_key
from rag_pipeline_tests.knowledge_base import KnowledgeBase


def embedded_texts(base: KnowledgeBase, source: str) -> Iterator[str]:
    """What the model got of each chunk of an indexed source."""
    services = base.services
    for one in services.ledger.documents.of_source(base.collection, source).values():
        found = read_chunks(services.artifacts, one.chunks_key)
        assert found is not None, one.document_id
        title, chunks = found
        for chunk in chunks:
            yield embedding_input(title, chunk)


@contextmanager
def vectors_kept_in(folder: Path, base: KnowledgeBase, sources: list[str]) -> Iterator[None]:
    """Give a new knowledge base the vectors of earlier measurements, and keep those of its sources."""
    model = base.services.embedder.identity.key
    cache = base.services.ledger.vectors
    file = folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', model)}.npz"
    known: dict[str, Vector] = {}
    if file.exists():
        with np.load(file) as kept:
            known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
        cache.put(model, known)
    yield
    keys = {embedding_key(text) for source in sources for text in embedded_texts(base, source)}
    vectors = known | cache.get(model, sorted(keys))
    np.savez(file, keys=np.array(list(vectors)), vectors=np.stack(list(vectors.values())))
