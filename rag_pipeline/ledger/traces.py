"""Traces of requests as they are stored: a few columns to find them by, and the whole as JSON."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from rag_pipeline.ledger.database import Lock, storable, take_turns
from rag_pipeline.ledger.tables import feedback, trace_evidence, traces

Record = dict[str, Any]
"""A whole trace as JSON-serializable values."""

# A record may be some hundred kilobytes, where texts are kept.
_RECORDS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class TracedEvidence:
    """Evidence that a request ranked, and whether its final answer cites it."""

    evidence_id: str
    document_id: str
    source_id: str
    chunk_id: str
    cited: bool


class Traces:
    """One trace a request."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self,
        trace_id: str,
        *,
        started_at: datetime,
        outcome: str,
        session_id: str | None,
        record: Record,
        evidence: Iterable[TracedEvidence],
    ) -> None:
        """Store a trace. Raises LedgerError where there is one of that id."""
        values = {
            "trace_id": storable(trace_id),
            "started_at": started_at,
            "outcome": outcome,
            "session_id": None if session_id is None else storable(session_id),
            "record": record,
        }
        rows = [_row(trace_id, one) for one in evidence]
        with self._engine.begin() as connection:
            connection.execute(insert(traces), [values])
            if rows:
                connection.execute(insert(trace_evidence), rows)

    def get(self, trace_id: str) -> Record | None:
        """A trace by its id."""
        query = select(traces.c.record).where(traces.c.trace_id == storable(trace_id))
        return self._record(query)

    def of_evidence(self, evidence_id: str) -> Record | None:
        """The trace that ranked a piece of evidence."""
        query = (
            select(traces.c.record)
            .join(trace_evidence, trace_evidence.c.trace_id == traces.c.trace_id)
            .where(trace_evidence.c.evidence_id == storable(evidence_id))
        )
        return self._record(query)

    def ids_of_document(self, document_id: str) -> list[str]:
        """The traces that ranked evidence of a document."""
        query = (
            select(trace_evidence.c.trace_id)
            .where(trace_evidence.c.document_id == storable(document_id))
            .distinct()
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def records(self, trace_ids: Iterable[str]) -> Iterator[Record]:
        """These traces, in no particular order."""
        for some in _parts(trace_ids):
            with self._engine.connect() as connection:
                found = [record for _, record in _records(connection, some)]
            yield from found

    def rewrite(self, trace_ids: Iterable[str], change: Callable[[Record], Record]) -> int:
        """Replace these traces by what `change` makes of each; returns how many that changed."""
        changed = 0
        for some in _parts(trace_ids):
            with self._engine.begin() as connection:
                # Two at once would each put back what the other one had removed.
                take_turns(connection, Lock.TRACES)
                for trace_id, before in _records(connection, some):
                    after = change(before)
                    if after != before:
                        statement = update(traces).where(traces.c.trace_id == trace_id)
                        connection.execute(statement.values(record=after))
                        changed += 1
        return changed

    def citations_by_document(self, since: datetime) -> dict[str, int]:
        """How many answers since a moment cite each document, by document id."""
        query = (
            select(trace_evidence.c.document_id, func.count(trace_evidence.c.trace_id.distinct()))
            .join(traces, traces.c.trace_id == trace_evidence.c.trace_id)
            .where(traces.c.started_at >= since, trace_evidence.c.cited)
            .group_by(trace_evidence.c.document_id)
        )
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def forget_before(self, moment: datetime) -> int:
        """Delete the traces of requests that began before a moment, and their feedback; returns how many."""
        old = select(traces.c.trace_id).where(traces.c.started_at < moment)
        with self._engine.begin() as connection:
            take_turns(connection, Lock.TRACES)
            for table in (trace_evidence, feedback):
                connection.execute(delete(table).where(table.c.trace_id.in_(old)))
            return connection.execute(delete(traces).where(traces.c.started_at < moment)).rowcount

    def _record(self, query: Any) -> Record | None:
        with self._engine.connect() as connection:
            found: Record | None = connection.execute(query).scalar()
            return found


def _row(trace_id: str, evidence: TracedEvidence) -> dict[str, Any]:
    values = {"trace_id": trace_id, **asdict(evidence)}
    return {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}


def _parts(trace_ids: Iterable[str]) -> Iterator[list[str]]:
    waiting = list(trace_ids)
    for start in range(0, len(waiting), _RECORDS_AT_ONCE):
        yield waiting[start : start + _RECORDS_AT_ONCE]


def _records(connection: Connection, trace_ids: list[str]) -> list[tuple[str, Record]]:
    query = select(traces.c.trace_id, traces.c.record).where(traces.c.trace_id.in_(trace_ids))
    return [(row.trace_id, row.record) for row in connection.execute(query)]
