"""Which documents use which stored artifacts and vectors, so that both go with the last document."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Engine, delete, select

from rag_pipeline.ledger.database import Lock, batches, insert_missing, take_turns
from rag_pipeline.ledger.tables import artifact_uses, vector_uses

# Stands among a document's artifacts while what it uses may be more than what its versions are made of.
_UNSETTLED: Final = "unsettled"

VectorKey = tuple[str, str]
"""A model's key and a text's hash."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Keys of artifacts and of vectors."""

    keys: frozenset[str] = frozenset()
    vectors: frozenset[VectorKey] = frozenset()


class Uses:
    """Who uses what.

    What a stage writes for a document is noted before it is written, and the document counts as unsettled
    until `replace` says what it uses in the end, so that a crash leaves no orphan.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add_artifacts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Note which artifacts are about to be made, by pairs of artifact key and document id.

        A document for which this is news is unsettled from then on.
        """
        noted = set(pairs)
        with self._engine.begin() as connection:
            take_turns(connection, Lock.USES)
            known: set[tuple[str, str]] = set()
            for some in batches({document_id for _, document_id in noted}):
                query = select(artifact_uses).where(artifact_uses.c.document_id.in_(some))
                known.update((row.key, row.document_id) for row in connection.execute(query))
            new = noted - known
            _add_artifacts(connection, new)
            unsettle_uses(connection, {document_id for _, document_id in new})

    def unsettled(self, source_id: str) -> list[str]:
        """The documents of a source that may use more than what their versions are made of."""
        query = select(artifact_uses.c.document_id).where(artifact_uses.c.key == _UNSETTLED)
        with self._engine.connect() as connection:
            found = connection.execute(query).scalars()
            return sorted(one for one in found if one.startswith(f"{source_id}/"))

    def of_document(self, document_id: str) -> Stored:
        """What a document uses, in all its versions."""
        with self._engine.connect() as connection:
            return _of_documents(connection, [document_id])

    def unused_without(self, kept: Mapping[str, Stored]) -> Stored:
        """What nobody would use any more if these documents, by id, used this and nothing else.

        To be deleted before `replace` forgets who used it. Another document may begin to use it meanwhile, so
        whoever needs a stored thing must be ready to make it again.
        """
        with self._engine.connect() as connection:
            used = _of_documents(connection, list(kept))
            keys = set(used.keys).difference(*(one.keys for one in kept.values()))
            vectors = set(used.vectors).difference(*(one.vectors for one in kept.values()))
            for some in batches(keys):
                query = select(artifact_uses.c.key, artifact_uses.c.document_id).where(
                    artifact_uses.c.key.in_(some)
                )
                for key, document_id in connection.execute(query):
                    if document_id not in kept:
                        keys.discard(key)
            for model_key, hashes in _by_model(vectors).items():
                for some in batches(hashes):
                    users = select(vector_uses.c.text_hash, vector_uses.c.document_id).where(
                        vector_uses.c.model_key == model_key, vector_uses.c.text_hash.in_(some)
                    )
                    for text_hash, document_id in connection.execute(users):
                        if document_id not in kept:
                            vectors.discard((model_key, text_hash))
            return Stored(frozenset(keys), frozenset(vectors))

    def replace(self, kept: Mapping[str, Stored]) -> None:
        """Let these documents, by id, use this and nothing else; they are settled."""
        with self._engine.begin() as connection:
            take_turns(connection, Lock.USES)
            for table in (artifact_uses, vector_uses):
                for some in batches(kept):
                    connection.execute(delete(table).where(table.c.document_id.in_(some)))
            _add_artifacts(connection, ((key, one) for one, stored in kept.items() for key in stored.keys))
            insert_missing(
                connection,
                vector_uses,
                (
                    {"model_key": model_key, "text_hash": text_hash, "document_id": document_id}
                    for document_id, stored in kept.items()
                    for model_key, text_hash in stored.vectors
                ),
            )


def unsettle_uses(connection: Connection, document_ids: Iterable[str]) -> None:
    """Note that documents are about to use less, or more, than what they are known to."""
    _add_artifacts(connection, ((_UNSETTLED, document_id) for document_id in document_ids))


def _add_artifacts(connection: Connection, pairs: Iterable[tuple[str, str]]) -> None:
    insert_missing(
        connection, artifact_uses, ({"key": key, "document_id": document_id} for key, document_id in pairs)
    )


def _of_documents(connection: Connection, document_ids: Iterable[str]) -> Stored:
    keys: set[str] = set()
    vectors: set[VectorKey] = set()
    for some in batches(document_ids):
        keys.update(
            connection.execute(
                select(artifact_uses.c.key).where(
                    artifact_uses.c.document_id.in_(some), artifact_uses.c.key != _UNSETTLED
                )
            ).scalars()
        )
        query = select(vector_uses.c.model_key, vector_uses.c.text_hash).where(
            vector_uses.c.document_id.in_(some)
        )
        vectors.update((row.model_key, row.text_hash) for row in connection.execute(query))
    return Stored(frozenset(keys), frozenset(vectors))


def _by_model(vectors: Iterable[VectorKey]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for model_key, text_hash in vectors:
        found.setdefault(model_key, []).append(text_hash)
    return found
