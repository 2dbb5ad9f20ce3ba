"""What is durably known of each source: the sensor compares it with what the source holds now."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Engine, RowMapping, delete, select

from rag_pipeline.ledger.database import inserting
from rag_pipeline.ledger.tables import source_states

_FIRST_LISTING = 1_000_000_000


@dataclass(frozen=True, slots=True)
class SourceState:
    """What is known of a source; one that was never listed has the listing 0 and no signature.

    `signature` is what the source looked like when it was last indexed as a whole. `in_doubt` holds the
    hashes of files, by path, that had changed so shortly before that their time proves nothing.
    `failures` counts the runs that failed since the last one that did not.
    """

    source_id: str
    listing: int = 0
    signature: str | None = None
    in_doubt: Mapping[str, str] = field(default_factory=dict)
    failures: int = 0
    failed_at: datetime | None = None
    message: str | None = None


class SourceStates:
    """What was last listed and indexed of each source."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def next_listing(self, source_id: str) -> int:
        """Number a new listing of a source: from now on only this one may be indexed."""
        with self._engine.begin() as connection:
            statement = inserting(connection, source_states).values(
                source_id=source_id,
                # A source that was dropped and added again must not repeat a number of its earlier life.
                listing=random.randrange(1, _FIRST_LISTING),  # noqa: S311 - it is no secret
                failures=0,
            )
            number: int = connection.execute(
                statement.on_conflict_do_update(
                    index_elements=[source_states.c.source_id],
                    set_={"listing": source_states.c.listing + 1},
                ).returning(source_states.c.listing)
            ).scalar_one()
        return number

    def listing(self, source_id: str) -> int:
        """The number of the last listing, 0 before the first."""
        return self.of(source_id).listing

    def record_indexed(self, source_id: str, signature: str, in_doubt: Mapping[str, str]) -> None:
        """All that this signature stands for is indexed; the source's failures are over."""
        values = {
            "signature": signature,
            "in_doubt": dict(in_doubt),
            "failures": 0,
            "failed_at": None,
            "message": None,
        }
        with self._engine.begin() as connection:
            connection.execute(
                inserting(connection, source_states)
                .values(source_id=source_id, listing=0, **values)
                .on_conflict_do_update(index_elements=[source_states.c.source_id], set_=values)
            )

    def record_failure(self, source_id: str, message: str) -> None:
        """One more run of the source failed; what is known to be indexed stays."""
        values = {"failed_at": datetime.now(UTC), "message": message}
        with self._engine.begin() as connection:
            connection.execute(
                inserting(connection, source_states)
                .values(source_id=source_id, listing=0, failures=1, **values)
                .on_conflict_do_update(
                    index_elements=[source_states.c.source_id],
                    set_={"failures": source_states.c.failures + 1, **values},
                )
            )

    def of(self, source_id: str) -> SourceState:
        """What is known of a source."""
        query = select(source_states).where(source_states.c.source_id == source_id)
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
        return _state(row) if row else SourceState(source_id)

    def all(self) -> dict[str, SourceState]:
        """What is known of every source that was ever listed or indexed, by source id."""
        query = select(source_states).order_by(source_states.c.source_id)
        with self._engine.connect() as connection:
            return {row["source_id"]: _state(row) for row in connection.execute(query).mappings()}

    def drop(self, source_id: str) -> None:
        """Forget a source: added again, it is built anew."""
        with self._engine.begin() as connection:
            connection.execute(delete(source_states).where(source_states.c.source_id == source_id))


def _state(row: RowMapping) -> SourceState:
    return SourceState(**{**row, "in_doubt": row["in_doubt"] or {}})
