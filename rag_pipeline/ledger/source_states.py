"""What is durably known of each source: the sensor compares it with what the source holds now."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, RowMapping, delete, select, update

from rag_pipeline.ledger.database import inserting
from rag_pipeline.ledger.tables import source_states


@dataclass(frozen=True, slots=True)
class SourceState:
    """What is known of a source.

    `listed_signature` is what it looked like when it was last listed, `signature` when it was last indexed as
    a whole; None before the first time. `listed_in_doubt` and `in_doubt` hold the hashes of those files, by
    path, that had changed so shortly before that their times prove nothing. `attempts` counts the runs that
    began since the last that indexed the whole source: a killed one counts too.
    """

    source_id: str
    listed_signature: str | None = None
    listed_in_doubt: Mapping[str, str] = field(default_factory=dict)
    signature: str | None = None
    in_doubt: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 0
    attempted_at: datetime | None = None
    indexed_at: datetime | None = None


class SourceStates:
    """What was last listed and indexed of each source."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, source_id: str) -> None:
        """Count a run of the source as an attempt, before anything can fail."""
        attempted_at = datetime.now(UTC)
        with self._engine.begin() as connection:
            connection.execute(
                inserting(connection, source_states)
                .values(
                    source_id=source_id,
                    listed_in_doubt={},
                    in_doubt={},
                    attempts=1,
                    attempted_at=attempted_at,
                )
                .on_conflict_do_update(
                    index_elements=[source_states.c.source_id],
                    set_={"attempts": source_states.c.attempts + 1, "attempted_at": attempted_at},
                )
            )

    def listed(self, source_id: str, signature: str, in_doubt: Mapping[str, str]) -> None:
        """Note what the source of a begun run looks like; another look starts the attempts anew."""
        before = self.of(source_id)
        values: dict[str, Any] = {"listed_signature": signature, "listed_in_doubt": dict(in_doubt)}
        if before.listed_signature != signature:
            values["attempts"] = 1
        self._update(source_id, values)

    def settle(self, source_id: str) -> None:
        """What was last listed is indexed as a whole."""
        state = self.of(source_id)
        self._update(
            source_id,
            {
                "signature": state.listed_signature,
                "in_doubt": dict(state.listed_in_doubt),
                "attempts": 0,
                "indexed_at": datetime.now(UTC),
            },
        )

    def forget_indexed(self) -> None:
        """No source counts as indexed any more: another generation is live, which may be behind."""
        with self._engine.begin() as connection:
            connection.execute(update(source_states).values(signature=None, listed_signature=None))

    def of(self, source_id: str) -> SourceState:
        """What is known of a source."""
        query = select(source_states).where(source_states.c.source_id == source_id)
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
        return _state(row) if row else SourceState(source_id)

    def all(self) -> dict[str, SourceState]:
        """What is known of every source that was ever listed, by source id."""
        query = select(source_states).order_by(source_states.c.source_id)
        with self._engine.connect() as connection:
            return {row["source_id"]: _state(row) for row in connection.execute(query).mappings()}

    def drop(self, source_id: str) -> None:
        """Forget a source: added again, it is built anew."""
        with self._engine.begin() as connection:
            connection.execute(delete(source_states).where(source_states.c.source_id == source_id))

    def _update(self, source_id: str, values: Mapping[str, Any]) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                update(source_states).where(source_states.c.source_id == source_id).values(**values)
            )


def _state(row: RowMapping) -> SourceState:
    return SourceState(**row)
