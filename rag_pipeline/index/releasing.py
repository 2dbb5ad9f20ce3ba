"""Letting go of what was made of documents that changed or are gone: their artifacts and vectors.

The same text may be in several documents, so the ledger records who uses what, before it is made; a stored
thing goes with its last user. It is removed before its use is forgotten: a crash in between leaves nothing
behind, and what is missing after one is made again.
"""

from collections.abc import Iterator, Sequence

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.chunking.chunk import embedding_input
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.embedding.embedder import ModelIdentity
from rag_pipeline.embedding.stage import embedding_key
from rag_pipeline.fault_points import passing
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.ledger.uses import Stored, VectorKey
from rag_pipeline.normalize.stage import summary_key

_DOCUMENTS_AT_ONCE = 200


def release_unused(
    document_ids: Sequence[str],
    *,
    ledger: Ledger,
    artifacts: ArtifactStore,
) -> None:
    """Keep of these documents what their versions in all generations are made of, and nothing else.

    A document that is in none of them loses everything that no other document shares.
    """
    # Two aliases may share a ledger, and their generations what they are made of.
    models = {name: ModelIdentity(**model).key for name, model in ledger.generations.models().items()}
    for start in range(0, len(document_ids), _DOCUMENTS_AT_ONCE):
        chosen = document_ids[start : start + _DOCUMENTS_AT_ONCE]
        keys: dict[str, set[str]] = {document_id: set() for document_id in chosen}
        vectors: dict[str, set[VectorKey]] = {document_id: set() for document_id in chosen}
        for generation, version in ledger.documents.versions(chosen):
            keys[version.document_id] |= {
                version.normalized_key, summary_key(version.normalized_key), version.chunks_key
            }  # fmt: skip
            vectors[version.document_id].update(_vectors(version, models[generation], artifacts))
        kept = {one: Stored(frozenset(keys[one]), frozenset(vectors[one])) for one in chosen}
        unused = ledger.uses.unused_without(kept)
        for key in unused.keys:
            artifacts.delete(key)
            passing("artifact deleted")
        ledger.vectors.delete(unused.vectors)
        passing("vectors deleted")
        ledger.uses.replace(kept)
        passing("uses recorded")


def _vectors(version: IndexedDocument, model_key: str, artifacts: ArtifactStore) -> Iterator[VectorKey]:
    stored = read_chunks(artifacts, version.chunks_key)
    if stored is None:
        return
    title, chunks = stored
    for chunk in chunks:
        yield model_key, embedding_key(embedding_input(title, chunk))
