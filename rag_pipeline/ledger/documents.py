"""What is indexed: one row a document and generation, written only once Qdrant has confirmed it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Engine, RowMapping, Text, bindparam, cast, delete, select, update

from rag_pipeline.ledger.database import among, batches, storable, upsert
from rag_pipeline.ledger.tables import documents, tombstones
from rag_pipeline.ledger.uses import unsettle_uses


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document's current version in one generation, as Qdrant confirmed it.

    `settled` is false where a change in place may have been interrupted: then nobody knows what the points
    hold. `readers` are the access groups as of the last listing, which may be newer than the points' own.
    """

    document_id: str
    source_id: str
    content_hash: str
    normalized_key: str
    chunks_key: str
    facts: Mapping[str, Any]
    chunk_count: int
    failed_chunks: tuple[int, ...]
    readers: tuple[str, ...] = ()
    settled: bool = True

    @property
    def stored_indexes(self) -> list[int]:
        """The chunk indexes that Qdrant must hold."""
        failed = set(self.failed_chunks)
        return [index for index in range(self.chunk_count) if index not in failed]


class CurrentVersion(NamedTuple):
    """What readers need to know of a document: its version's content hash, its readers and its facts."""

    content_hash: str
    readers: frozenset[str]
    facts: Mapping[str, Any]


# The JSON as text: readers ask for the same documents again and again, and to read it takes longest.
_CURRENT_VERSIONS = select(
    documents.c.document_id,
    documents.c.content_hash,
    cast(documents.c.readers, Text),
    cast(documents.c.facts, Text),
).where(documents.c.generation == bindparam("generation"), among(documents.c.document_id, "document_ids"))


class Documents:
    """Which version of which document readers may see."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_source(self, generation: str, source_id: str) -> dict[str, IndexedDocument]:
        """The recorded documents of a source by id."""
        query = select(documents).where(
            documents.c.generation == generation, documents.c.source_id == source_id
        )
        with self._engine.connect() as connection:
            return {row["document_id"]: _indexed(row) for row in connection.execute(query).mappings()}

    def versions(self, document_ids: Iterable[str]) -> list[tuple[str, IndexedDocument]]:
        """What every generation holds of these documents, each with the generation's name."""
        found = []
        with self._engine.connect() as connection:
            for some in batches(document_ids):
                query = select(documents).where(documents.c.document_id.in_(some))
                for row in connection.execute(query).mappings():
                    found.append((row["generation"], _indexed(row)))
        return found

    def ids_of_source(self, generation: str, source_id: str) -> list[str]:
        """Every document of a source that a generation holds."""
        query = select(documents.c.document_id).where(
            documents.c.generation == generation, documents.c.source_id == source_id
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def ids(self, generation: str) -> list[str]:
        """Every document that a generation holds."""
        query = select(documents.c.document_id).where(documents.c.generation == generation)
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def sources(self, generations: Iterable[str]) -> set[str]:
        """The sources of which these generations hold documents, or points that must still go."""
        chosen = list(generations)
        with self._engine.connect() as connection:
            holding = select(documents.c.source_id).where(documents.c.generation.in_(chosen)).distinct()
            losing = (
                select(tombstones.c.source_id)
                .where(tombstones.c.generation.in_(chosen), tombstones.c.confirmed_at.is_(None))
                .distinct()
            )
            return {*connection.execute(holding).scalars(), *connection.execute(losing).scalars()}

    def current_versions(self, generation: str, document_ids: Iterable[str]) -> dict[str, CurrentVersion]:
        """The version that readers may see, and who they are, of those documents that have one.

        A document whose deletion was noticed has none, from that moment on.
        """
        # A point may name whatever it likes; what no row can have is not there.
        wanted = sorted({storable(one) for one in document_ids})
        asked = {"generation": generation, "document_ids": wanted}
        with self._engine.connect() as connection:
            rows = connection.execute(_CURRENT_VERSIONS, asked).all()
        return {
            document_id: CurrentVersion(content_hash, _groups(readers), _facts(facts))
            for document_id, content_hash, readers, facts in rows
        }

    def restrict(self, generation: str, readers: Mapping[str, Sequence[str]]) -> None:
        """Let only these groups see documents, by document id, whatever their points still say."""
        changed = [
            {"generation_": generation, "document_id_": document_id, "readers": list(groups)}
            for document_id, groups in readers.items()
        ]
        if not changed:
            return
        statement = update(documents).where(
            documents.c.generation == bindparam("generation_"),
            documents.c.document_id == bindparam("document_id_"),
        )
        with self._engine.begin() as connection:
            connection.execute(statement, changed)

    def unsettle(self, generation: str, document_ids: Sequence[str]) -> None:
        """Note that the points of these documents are about to be changed in place.

        Until `record` settles them again, their points are taken to hold anything.
        """
        with self._engine.begin() as connection:
            for some in batches(document_ids):
                connection.execute(
                    update(documents)
                    .where(
                        documents.c.generation == generation,
                        documents.c.document_id.in_(some),
                    )
                    .values(settled=False)
                )

    def record(self, generation: str, indexed: Sequence[IndexedDocument]) -> None:
        """Make these versions the ones that readers see, settled and with the access that their facts say.

        Call only after Qdrant confirmed every chunk.
        """
        now = datetime.now(UTC)
        with self._engine.begin() as connection:
            upsert(
                connection,
                documents,
                (
                    asdict(one)
                    | {
                        "generation": generation,
                        "failed_chunks": list(one.failed_chunks),
                        "readers": list(one.facts["access_groups"]),
                        "settled": True,
                        "indexed_at": now,
                    }
                    for one in indexed
                ),
            )
            ids = [one.document_id for one in indexed]
            for some in batches(ids):
                connection.execute(
                    delete(tombstones).where(
                        tombstones.c.generation == generation,
                        tombstones.c.document_id.in_(some),
                    )
                )

    def bury(self, generation: str, source_id: str, document_ids: Sequence[str]) -> None:
        """Note that documents are gone: readers no longer see them, and their points must go."""
        now = datetime.now(UTC)
        with self._engine.begin() as connection:
            upsert(
                connection,
                tombstones,
                (
                    {
                        "generation": generation,
                        "document_id": document_id,
                        "source_id": source_id,
                        "noticed_at": now,
                        "confirmed_at": None,
                    }
                    for document_id in document_ids
                ),
            )
            unsettle_uses(connection, document_ids)
            for some in batches(document_ids):
                connection.execute(
                    delete(documents).where(
                        documents.c.generation == generation,
                        documents.c.document_id.in_(some),
                    )
                )

    def pending_tombstones(self, generation: str, source_id: str) -> list[str]:
        """Documents that are gone and whose points have not yet been read back as gone."""
        query = select(tombstones.c.document_id).where(
            tombstones.c.generation == generation,
            tombstones.c.source_id == source_id,
            tombstones.c.confirmed_at.is_(None),
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def deletions_noticed(self, generation: str, document_ids: Iterable[str]) -> dict[str, datetime]:
        """Those of the documents that are gone, and when that was noticed."""
        found: dict[str, datetime] = {}
        with self._engine.connect() as connection:
            for some in batches(map(storable, document_ids)):
                query = select(tombstones.c.document_id, tombstones.c.noticed_at).where(
                    tombstones.c.generation == storable(generation), tombstones.c.document_id.in_(some)
                )
                found.update((row.document_id, row.noticed_at) for row in connection.execute(query))
        return found

    def was_deleted(self, document_id: str) -> bool:
        """Whether some generation held the document once and it was deleted there."""
        query = select(tombstones.c.generation).where(tombstones.c.document_id == document_id).limit(1)
        with self._engine.connect() as connection:
            return connection.execute(query).first() is not None

    def confirm_deletions(self, generation: str, document_ids: Sequence[str]) -> None:
        """A read-back of Qdrant found nothing of these documents."""
        with self._engine.begin() as connection:
            for some in batches(document_ids):
                connection.execute(
                    update(tombstones)
                    .where(
                        tombstones.c.generation == generation,
                        tombstones.c.document_id.in_(some),
                    )
                    .values(confirmed_at=datetime.now(UTC))
                )


@lru_cache(maxsize=4_096)
def _groups(stored: str) -> frozenset[str]:
    return frozenset(json.loads(stored))


@lru_cache(maxsize=4_096)
def _facts(stored: str) -> Mapping[str, Any]:
    facts: dict[str, Any] = json.loads(stored)
    return MappingProxyType(facts)


def _indexed(row: RowMapping) -> IndexedDocument:
    return IndexedDocument(
        document_id=row["document_id"],
        source_id=row["source_id"],
        content_hash=row["content_hash"],
        normalized_key=row["normalized_key"],
        chunks_key=row["chunks_key"],
        facts=row["facts"],
        chunk_count=row["chunk_count"],
        failed_chunks=tuple(row["failed_chunks"]),
        readers=tuple(row["readers"]),
        settled=row["settled"],
    )
