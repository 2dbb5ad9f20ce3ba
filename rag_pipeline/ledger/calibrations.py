"""Calibrations of relevance that were fitted to questions, one a fingerprint."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, delete, select

from rag_pipeline.ledger.database import upsert
from rag_pipeline.ledger.tables import calibrations


@dataclass(frozen=True, slots=True)
class StoredCalibration:
    """A calibration, JSON-serializable, and how many questions it was fitted to."""

    fingerprint: str
    calibration: dict[str, Any]
    questions: int
    fitted_at: datetime


class Calibrations:
    """The calibration of every fingerprint that has one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(self, calibration: StoredCalibration) -> None:
        """Store a calibration, in the place of an earlier one of the same fingerprint."""
        with self._engine.begin() as connection:
            upsert(connection, calibrations, [asdict(calibration)])

    def of(self, fingerprint: str) -> StoredCalibration | None:
        """The calibration of a fingerprint."""
        query = select(calibrations).where(calibrations.c.fingerprint == fingerprint)
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
        return StoredCalibration(**row) if row else None

    def forget(self, fingerprint: str) -> bool:
        """Remove a calibration, so that the model's default counts; returns whether there was one."""
        with self._engine.begin() as connection:
            statement = delete(calibrations).where(calibrations.c.fingerprint == fingerprint)
            return connection.execute(statement).rowcount > 0
