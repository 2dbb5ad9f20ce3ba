"""What people thought of answers."""

import uuid
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, Engine, and_, func, insert, select, update

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.ledger.database import storable
from rag_pipeline.ledger.tables import feedback, trace_evidence, traces


class Rating(StrEnum):
    """Whether an answer helped. Stored, so the values are a contract."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class GivenFeedback:
    """One person's word on one answer."""

    id: str
    trace_id: str
    rating: Rating
    comment: str | None
    given_at: datetime
    given_by: str


class Feedback:
    """Any number of it for each trace; it goes with the trace."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(self, trace_id: str, rating: Rating, *, comment: str | None, by: str) -> GivenFeedback:
        """Store what somebody thought of an answer; raises ConfigurationError where it has no trace."""
        given = GivenFeedback(
            id=uuid.uuid4().hex,
            trace_id=storable(trace_id),
            rating=rating,
            comment=None if comment is None else storable(comment),
            given_at=datetime.now(UTC),
            given_by=storable(by),
        )
        with self._engine.begin() as connection:
            known = select(traces.c.trace_id).where(traces.c.trace_id == given.trace_id)
            if connection.execute(known).scalar() is None:
                raise ConfigurationError(
                    f"There is no trace {given.trace_id}. An answer names its trace; traces older than "
                    "RAG_TRACE_RETENTION_DAYS are forgotten."
                )
            connection.execute(insert(feedback), [asdict(given)])
        return given

    def of_trace(self, trace_id: str) -> list[GivenFeedback]:
        """What was said of an answer, oldest first."""
        query = (
            select(feedback)
            .where(feedback.c.trace_id == storable(trace_id))
            .order_by(feedback.c.given_at, feedback.c.id)
        )
        with self._engine.connect() as connection:
            return [
                GivenFeedback(**{**row, "rating": Rating(row["rating"])})
                for row in connection.execute(query).mappings()
            ]

    def comments_on(self, document_id: str) -> int:
        """How many comments there are on answers that ranked evidence of a document."""
        query = select(func.count()).select_from(feedback).where(_commented(document_id))
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one()

    def erase_comments_on(self, document_id: str) -> int:
        """Erase the comments on answers that ranked evidence of a document, which may quote it; the ratings
        stay. Returns how many."""
        statement = update(feedback).where(_commented(document_id)).values(comment=None)
        with self._engine.begin() as connection:
            return connection.execute(statement).rowcount


def _commented(document_id: str) -> ColumnElement[bool]:
    ranked = select(trace_evidence.c.trace_id).where(trace_evidence.c.document_id == storable(document_id))
    return and_(feedback.c.comment.is_not(None), feedback.c.trace_id.in_(ranked))
