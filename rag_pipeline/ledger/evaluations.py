"""What question sets found of generations: the newest is what the next one is compared with."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, delete, insert, select

from rag_pipeline.ledger.tables import evaluations


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """One evaluation: `record` is all of it but the words of documents and answers, JSON-serializable."""

    evaluation_id: str
    alias: str
    generation: str
    started_at: datetime
    passed: bool
    record: dict[str, Any]


class Evaluations:
    """Every evaluation of every alias."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(self, evaluation: StoredEvaluation) -> None:
        """Store an evaluation. Raises LedgerError where there is one of that id."""
        with self._engine.begin() as connection:
            connection.execute(insert(evaluations), [asdict(evaluation)])

    def newest(self, alias: str, most: int) -> list[StoredEvaluation]:
        """The newest evaluations of an alias, the newest first."""
        query = (
            select(evaluations)
            .where(evaluations.c.alias == alias)
            .order_by(evaluations.c.started_at.desc(), evaluations.c.evaluation_id)
            .limit(most)
        )
        with self._engine.connect() as connection:
            return [StoredEvaluation(**row) for row in connection.execute(query).mappings()]

    def forget_before(self, moment: datetime) -> int:
        """Delete the evaluations that were begun before a moment; returns how many."""
        with self._engine.begin() as connection:
            return connection.execute(delete(evaluations).where(evaluations.c.started_at < moment)).rowcount
