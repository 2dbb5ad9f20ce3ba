"""Dead letters: what failed for good, or failed and waits for its next attempt."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, delete, func, select, update

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.ledger.database import upsert
from rag_pipeline.ledger.tables import dead_letters

# Ids in one IN list; SQLite takes 32,766 variables and PostgreSQL 65,535.
_IDS_A_QUERY = 10_000


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that failed in a stage.

    `input_key` names what was tried (content and stage version): the same key is the same attempt again.
    `tried` is false where an earlier failure was only met again and no attempt was made.
    """

    document_id: str
    input_key: str
    error: DocumentError
    chunk_index: int | None = None
    tried: bool = True


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A stored failure, as people see it."""

    id: str
    source_id: str
    document_id: str
    chunk_index: int | None
    stage: str
    input_key: str
    category: FailureCategory
    message: str
    transient: bool
    attempts: int
    first_failed_at: datetime
    last_failed_at: datetime


def letter_id(document_id: str, stage: str, chunk_index: int | None) -> str:
    """A short, stable id: the same document failing in the same stage keeps its dead letter."""
    material = f"{document_id}\0{stage}\0{'' if chunk_index is None else chunk_index}"
    return hashlib.sha256(material.encode(errors="surrogatepass")).hexdigest()[:12]


class DeadLetters:
    """The failures that stand."""

    def __init__(self, engine: Engine, max_attempts: int) -> None:
        self._engine = engine
        self._max_attempts = max_attempts

    def record(self, source_id: str, stage: str, failures: Iterable[Failure]) -> None:
        """Store what failed in a stage of a source, and forget its failures there that no longer stand.

        A failure of the same input counts one more attempt; one of another input starts anew.
        """
        now = datetime.now(UTC)
        rows: dict[str, dict[str, Any]] = {}
        with self._engine.begin() as connection:
            standing = select(dead_letters).where(
                dead_letters.c.source_id == source_id, dead_letters.c.stage == stage
            )
            known = {row["id"]: row for row in connection.execute(standing).mappings()}
            for failure in failures:
                key = letter_id(failure.document_id, stage, failure.chunk_index)
                before = known.get(key)
                again = before is not None and before["input_key"] == failure.input_key
                attempts = before["attempts"] if before and again else 0
                rows[key] = {
                    "id": key,
                    "source_id": source_id,
                    "document_id": failure.document_id,
                    "chunk_index": failure.chunk_index,
                    "stage": stage,
                    "input_key": failure.input_key,
                    "category": failure.error.category.value,
                    "message": failure.error.message,
                    "transient": failure.error.transient,
                    "attempts": attempts + 1 if failure.tried else attempts,
                    "first_failed_at": before["first_failed_at"] if before and again else now,
                    "last_failed_at": now if failure.tried or not before else before["last_failed_at"],
                }
            gone = sorted(known.keys() - rows.keys())
            for start in range(0, len(gone), _IDS_A_QUERY):
                connection.execute(
                    delete(dead_letters).where(dead_letters.c.id.in_(gone[start : start + _IDS_A_QUERY]))
                )
            upsert(connection, dead_letters, rows.values())

    def exhausted(self, source_id: str, stage: str) -> dict[tuple[str, str, int | None], DocumentError]:
        """Failures that must not be tried again, by document id, input key and chunk index.

        Permanent ones, and transient ones that used up their attempts; a retry asked by a person sets the
        attempts back to 0 and lifts both.
        """
        query = select(dead_letters).where(
            dead_letters.c.source_id == source_id,
            dead_letters.c.stage == stage,
            dead_letters.c.attempts > 0,
            dead_letters.c.transient.is_(False) | (dead_letters.c.attempts >= self._max_attempts),
        )
        with self._engine.connect() as connection:
            return {
                (row["document_id"], row["input_key"], row["chunk_index"]): DocumentError(
                    FailureCategory(row["category"]), row["message"], transient=row["transient"]
                )
                for row in connection.execute(query).mappings()
            }

    def listed(self, source_ids: Sequence[str] | None = None) -> list[DeadLetter]:
        """All dead letters, or those of some sources, by source and document."""
        query = select(dead_letters).order_by(
            dead_letters.c.source_id, dead_letters.c.document_id, dead_letters.c.chunk_index
        )
        if source_ids is not None:
            query = query.where(dead_letters.c.source_id.in_(source_ids))
        with self._engine.connect() as connection:
            return [
                DeadLetter(**{**row, "category": FailureCategory(row["category"])})
                for row in connection.execute(query).mappings()
            ]

    def counted(self) -> dict[str, int]:
        """How many stand, by source."""
        query = select(dead_letters.c.source_id, func.count()).group_by(dead_letters.c.source_id)
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def drop(self, source_id: str) -> None:
        """Forget a source's failures, since the source itself is gone."""
        with self._engine.begin() as connection:
            connection.execute(delete(dead_letters).where(dead_letters.c.source_id == source_id))

    def ask_retry(self, ids: Sequence[str] | None = None) -> list[str]:
        """Let the next run try these again (None: all); returns the sources they belong to."""
        change = update(dead_letters).values(attempts=0).returning(dead_letters.c.source_id)
        if ids is not None:
            change = change.where(dead_letters.c.id.in_(ids))
        with self._engine.begin() as connection:
            return sorted(set(connection.execute(change).scalars()))
