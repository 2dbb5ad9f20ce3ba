"""Which documents use which stored artifacts and vectors, so that both go with the last document."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, select

from rag_pipeline.ledger.database import Lock, batches, insert_missing, take_turns
from rag_pipeline.ledger.tables import artifact_uses, vector_uses

VectorKey = tuple[str, str]
"""A model's key and a text's hash."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Names of stored artifacts and vectors."""

    keys: frozenset[str]
    vectors: frozenset[VectorKey]


class Uses:
    """Who uses what. What is written for a document is noted before, so that a crash leaves no orphan."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add_artifacts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Note that artifacts are used, by pairs of artifact key and document id."""
        with self._engine.begin() as connection:
            _add_artifacts(connection, pairs)

    def add_vectors(self, model_key: str, hashes: Iterable[str], document_id: str) -> None:
        """Note that a document uses the vectors of texts."""
        with self._engine.begin() as connection:
            _add_vectors(connection, ((model_key, text_hash) for text_hash in hashes), document_id)

    def of_document(self, document_id: str) -> Stored:
        """What a document uses, in all its versions."""
        with self._engine.connect() as connection:
            return _of_document(connection, document_id)

    def replace_document(
        self, document_id: str, artifact_keys: Iterable[str], vectors: Iterable[VectorKey]
    ) -> Stored:
        """Let a document use these and nothing else; returns what nobody uses any more, to be deleted.

        `vectors` are pairs of model key and text hash. Another document may begin to use what is returned
        before it is deleted, so whoever needs a stored thing must be ready to make it again.
        """
        kept_keys, kept_vectors = frozenset(artifact_keys), frozenset(vectors)
        with self._engine.begin() as connection:
            # Or else two documents that let go of the same thing would each leave it to the other.
            take_turns(connection, Lock.USES)
            _add_artifacts(connection, ((key, document_id) for key in kept_keys))
            _add_vectors(connection, kept_vectors, document_id)
            used = _of_document(connection, document_id)
            gone = Stored(used.keys - kept_keys, used.vectors - kept_vectors)
            _remove(connection, document_id, gone)
            return _without_user(connection, gone)

    def drop_document(self, document_id: str) -> Stored:
        """Let a document use nothing; returns what nobody uses any more."""
        return self.replace_document(document_id, (), ())


def _add_artifacts(connection: Connection, pairs: Iterable[tuple[str, str]]) -> None:
    insert_missing(
        connection, artifact_uses, ({"key": key, "document_id": document_id} for key, document_id in pairs)
    )


def _add_vectors(connection: Connection, vectors: Iterable[VectorKey], document_id: str) -> None:
    insert_missing(
        connection,
        vector_uses,
        (
            {"model_key": model_key, "text_hash": text_hash, "document_id": document_id}
            for model_key, text_hash in vectors
        ),
    )


def _of_document(connection: Connection, document_id: str) -> Stored:
    keys = select(artifact_uses.c.key).where(artifact_uses.c.document_id == document_id)
    vectors = select(vector_uses.c.model_key, vector_uses.c.text_hash).where(
        vector_uses.c.document_id == document_id
    )
    return Stored(
        frozenset(connection.execute(keys).scalars()),
        frozenset((row.model_key, row.text_hash) for row in connection.execute(vectors)),
    )


def _remove(connection: Connection, document_id: str, gone: Stored) -> None:
    for keys in batches(gone.keys):
        connection.execute(
            delete(artifact_uses).where(
                artifact_uses.c.document_id == document_id, artifact_uses.c.key.in_(keys)
            )
        )
    for model_key, hashes in _by_model(gone.vectors).items():
        for some in batches(hashes):
            connection.execute(
                delete(vector_uses).where(
                    vector_uses.c.document_id == document_id,
                    vector_uses.c.model_key == model_key,
                    vector_uses.c.text_hash.in_(some),
                )
            )


def _without_user(connection: Connection, gone: Stored) -> Stored:
    keys, vectors = set(gone.keys), set(gone.vectors)
    for some in batches(gone.keys):
        keys.difference_update(
            connection.execute(select(artifact_uses.c.key).where(artifact_uses.c.key.in_(some))).scalars()
        )
    for model_key, hashes in _by_model(gone.vectors).items():
        for some in batches(hashes):
            query = select(vector_uses.c.model_key, vector_uses.c.text_hash).where(
                vector_uses.c.model_key == model_key, vector_uses.c.text_hash.in_(some)
            )
            vectors.difference_update((row.model_key, row.text_hash) for row in connection.execute(query))
    return Stored(frozenset(keys), frozenset(vectors))


def _by_model(vectors: Iterable[VectorKey]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for model_key, text_hash in vectors:
        found.setdefault(model_key, []).append(text_hash)
    return found
