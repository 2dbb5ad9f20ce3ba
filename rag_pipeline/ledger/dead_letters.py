"""Dead letters: what failed for good, or failed and waits for its next attempt."""

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, delete, func, select, update

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.ledger.database import batches, upsert
from rag_pipeline.ledger.tables import dead_letters

# After the first attempt, the second, ...; the last one after all further ones.
_WAITS = tuple(timedelta(minutes=minutes) for minutes in (10, 30, 90, 270, 810, 1440))


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
    """A stored failure, as people see it.

    `due_at` is when it is tried again by itself; empty where only new content or a person brings that about.
    """

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
    due_at: datetime | None


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
                attempts = (before["attempts"] if before and again else 0) + failure.tried
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
                    "attempts": attempts,
                    "first_failed_at": before["first_failed_at"] if before and again else now,
                    "last_failed_at": now if failure.tried or not before else before["last_failed_at"],
                    "due_at": (
                        self._due_at(now, attempts, failure.error)
                        if failure.tried or not before
                        else before["due_at"]
                    ),
                }
            gone = known.keys() - rows.keys()
            for some in batches(gone):
                connection.execute(delete(dead_letters).where(dead_letters.c.id.in_(some)))
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

    def due(self, now: datetime) -> list[str]:
        """The sources that have failures whose next attempt is due."""
        due = dead_letters.c.due_at <= now
        # What failed in the future failed before the clock was set back: nobody knows how long to wait.
        unsure = dead_letters.c.due_at.is_not(None) & (dead_letters.c.last_failed_at > now)
        query = select(dead_letters.c.source_id).where(due | unsure).distinct()
        with self._engine.connect() as connection:
            return sorted(connection.execute(query).scalars())

    def drop(self, source_id: str) -> None:
        """Forget a source's failures, since the source itself is gone."""
        with self._engine.begin() as connection:
            connection.execute(delete(dead_letters).where(dead_letters.c.source_id == source_id))

    def drop_document(self, document_id: str) -> None:
        """Forget a document's failures in every stage, since the document itself is gone."""
        with self._engine.begin() as connection:
            connection.execute(delete(dead_letters).where(dead_letters.c.document_id == document_id))

    def ask_retry(self, ids: Sequence[str] | None = None) -> list[str]:
        """Let the next run try these again (None: all), due at once; returns the sources they belong to."""
        change = (
            update(dead_letters)
            .values(attempts=0, due_at=datetime.now(UTC))
            .returning(dead_letters.c.source_id)
        )
        if ids is not None:
            change = change.where(dead_letters.c.id.in_(ids))
        with self._engine.begin() as connection:
            return sorted(set(connection.execute(change).scalars()))

    def _due_at(self, now: datetime, attempts: int, error: DocumentError) -> datetime | None:
        if not error.transient or attempts >= self._max_attempts:
            return None
        wait = _WAITS[min(max(attempts, 1), len(_WAITS)) - 1]
        # Spread, so that what failed together does not come back together.
        spread = random.uniform(0.75, 1.25)  # noqa: S311 - it is no secret
        return now + wait * spread
