"""The last reconciliation of each source."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, delete, select

from rag_pipeline.ledger.database import upsert
from rag_pipeline.ledger.tables import reconciliations


@dataclass(frozen=True, slots=True)
class RecordedReconciliation:
    """A source's last reconciliation; `report` is the JSON form of the index room's report."""

    source_id: str
    reconciled: bool
    report: dict[str, Any]
    seconds: float
    finished_at: datetime


class Reconciliations:
    """What the last run of each source found."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self, generation: str, source_id: str, *, reconciled: bool, report: dict[str, Any], seconds: float
    ) -> None:
        """Replace a source's last reconciliation."""
        row = {
            "generation": generation,
            "source_id": source_id,
            "reconciled": reconciled,
            "report": report,
            "seconds": seconds,
            "finished_at": datetime.now(UTC),
        }
        with self._engine.begin() as connection:
            upsert(connection, reconciliations, [row])

    def of_generation(self, generation: str) -> dict[str, RecordedReconciliation]:
        """The last reconciliation of every source in a generation, by source id."""
        query = (
            select(reconciliations)
            .where(reconciliations.c.generation == generation)
            .order_by(reconciliations.c.source_id)
        )
        with self._engine.connect() as connection:
            return {
                row["source_id"]: RecordedReconciliation(
                    row["source_id"], row["reconciled"], row["report"], row["seconds"], row["finished_at"]
                )
                for row in connection.execute(query).mappings()
            }

    def drop(self, generation: str, source_id: str) -> None:
        """Forget a source's last reconciliation, since the source itself is gone."""
        with self._engine.begin() as connection:
            connection.execute(
                delete(reconciliations).where(
                    reconciliations.c.generation == generation, reconciliations.c.source_id == source_id
                )
            )
