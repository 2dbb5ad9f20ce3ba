"""The generations that were made, and which one is live."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, select

from rag_pipeline.ledger.database import upsert
from rag_pipeline.ledger.tables import generations


@dataclass(frozen=True, slots=True)
class Generation:
    """One physical Qdrant collection and what its vectors were made with."""

    name: str
    alias: str
    fingerprint: str
    settings: dict[str, Any]
    live: bool


class Generations:
    """Which collections exist for an alias."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_alias(self, alias: str) -> list[Generation]:
        """All generations made for an alias, oldest first."""
        query = select(generations).where(generations.c.alias == alias).order_by(generations.c.created_at)
        with self._engine.connect() as connection:
            return [
                Generation(row["name"], row["alias"], row["fingerprint"], row["settings"], row["live"])
                for row in connection.execute(query).mappings()
            ]

    def live(self, alias: str) -> Generation | None:
        """The generation that the alias should point at."""
        return next((one for one in self.of_alias(alias) if one.live), None)

    def add(self, generation: Generation) -> None:
        """Record a generation."""
        row = {
            "name": generation.name,
            "alias": generation.alias,
            "fingerprint": generation.fingerprint,
            "settings": generation.settings,
            "live": generation.live,
            "created_at": datetime.now(UTC),
        }
        with self._engine.begin() as connection:
            upsert(connection, generations, [row])
