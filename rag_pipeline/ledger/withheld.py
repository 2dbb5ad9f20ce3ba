"""Deletions that an implausible listing asked for and that wait for a person's approval."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Engine, RowMapping, delete, select, update

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.ledger.database import upsert
from rag_pipeline.ledger.tables import source_states, withheld_deletions


@dataclass(frozen=True, slots=True)
class WithheldDeletion:
    """Documents that are gone from a listing and were kept: `listed` were left of the `recorded` ones."""

    source_id: str
    document_ids: tuple[str, ...]
    listed: int
    recorded: int
    noticed_at: datetime
    approved_by: str | None = None
    approved_at: datetime | None = None

    @property
    def approved(self) -> bool:
        """Whether these documents may be deleted."""
        return self.approved_by is not None


class WithheldDeletions:
    """At most one of each source. An approval covers at most the documents that were named."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self, source_id: str, document_ids: Iterable[str], listed: int, recorded: int
    ) -> WithheldDeletion:
        """Note what is gone now, and return it with the approval that covers it, if there is one.

        An earlier approval stays only where no other documents are gone than it named.
        """
        gone = set(document_ids)
        now = WithheldDeletion(source_id, tuple(sorted(gone)), listed, recorded, datetime.now(UTC))
        with self._engine.begin() as connection:
            query = select(withheld_deletions).where(withheld_deletions.c.source_id == source_id)
            row = connection.execute(query).mappings().first()
            if row and gone <= set(row["document_ids"]):
                now = replace(
                    now,
                    noticed_at=row["noticed_at"],
                    approved_by=row["approved_by"],
                    approved_at=row["approved_at"],
                )
            upsert(connection, withheld_deletions, [asdict(now) | {"document_ids": sorted(gone)}])
        return now

    def of(self, source_id: str) -> WithheldDeletion | None:
        """What is withheld of a source."""
        return self.all().get(source_id)

    def all(self) -> dict[str, WithheldDeletion]:
        """All that is withheld, by source id."""
        query = select(withheld_deletions).order_by(withheld_deletions.c.source_id)
        with self._engine.connect() as connection:
            return {row["source_id"]: _withheld(row) for row in connection.execute(query).mappings()}

    def approve(self, source_id: str, by: str) -> WithheldDeletion:
        """Let the next run delete exactly what is named; returns it, to be shown.

        The runs that failed for want of it no longer count, so that the sensor asks for one at once.
        Raises ConfigurationError where nothing is withheld.
        """
        statement = (
            update(withheld_deletions)
            .where(withheld_deletions.c.source_id == source_id)
            .values(approved_by=by, approved_at=datetime.now(UTC))
            .returning(withheld_deletions)
        )
        with self._engine.begin() as connection:
            row = connection.execute(statement).mappings().first()
            if row:
                of_source = source_states.c.source_id == source_id
                connection.execute(update(source_states).where(of_source).values(attempts=0))
        if row is None:
            raise ConfigurationError(
                f"No deletions of the source {source_id} are withheld, so there is nothing to approve. "
                "`rag-pipeline status` names the sources that wait for an approval."
            )
        return _withheld(row)

    def clear(self, source_id: str) -> None:
        """Nothing is withheld of a source any more: it was deleted, or the documents came back."""
        with self._engine.begin() as connection:
            connection.execute(delete(withheld_deletions).where(withheld_deletions.c.source_id == source_id))


def _withheld(row: RowMapping) -> WithheldDeletion:
    return WithheldDeletion(**{**row, "document_ids": tuple(row["document_ids"])})
