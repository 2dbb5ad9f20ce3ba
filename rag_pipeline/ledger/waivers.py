"""Who let a generation be promoted despite a source that blocked it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine, select

from rag_pipeline.ledger.database import upsert
from rag_pipeline.ledger.tables import waivers


@dataclass(frozen=True, slots=True)
class Waiver:
    """Somebody's word that a source need not be whole; `reason` is what was blocked when they gave it."""

    generation: str
    source_id: str
    waived_by: str
    reason: str
    waived_at: datetime


class Waivers:
    """Which sources may lack documents in which generation."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(self, generation: str, source_id: str, *, waived_by: str, reason: str) -> Waiver:
        """Store a waiver, in the place of an earlier one of the same source."""
        waiver = Waiver(generation, source_id, waived_by, reason, datetime.now(UTC))
        row = {column.name: getattr(waiver, column.name) for column in waivers.columns}
        with self._engine.begin() as connection:
            upsert(connection, waivers, [row])
        return waiver

    def of_generation(self, generation: str) -> dict[str, Waiver]:
        """The waivers of a generation by source id."""
        query = select(waivers).where(waivers.c.generation == generation).order_by(waivers.c.source_id)
        with self._engine.connect() as connection:
            return {row["source_id"]: Waiver(**row) for row in connection.execute(query).mappings()}
