"""Opening the ledger's database."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, func, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from rag_pipeline.errors import ConfigurationError, LedgerError
from rag_pipeline.ledger.tables import metadata

# SQLite takes at most 32,766 variables in a statement; the widest table has 12 columns.
_ROWS_A_STATEMENT = 1_000

# Any number that no other program takes as an advisory lock in the same database.
_SCHEMA_LOCK = 7_300_417_265


def open_database(url: str) -> Engine:
    """Connect to the ledger at a SQLAlchemy URL and create its tables where they are missing.

    Raises ConfigurationError, without the URL's password, where that cannot be done.
    """
    parsed = _parsed(url)
    # The query may hold a password too.
    shown = parsed.set(query={}).render_as_string(hide_password=True)
    try:
        engine = create_engine(parsed)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _prepare_sqlite)
        _create_tables(engine)
    except ImportError as error:
        raise ConfigurationError(
            f"The ledger at {shown} needs a database driver: {error}. For PostgreSQL install the extra "
            "`postgres` (pip install 'rag-pipeline[postgres]')."
        ) from None
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error)
        raise ConfigurationError(
            f"The ledger at {shown} cannot be opened: {reason}. Check RAG_LEDGER_URL."
        ) from None
    event.listen(engine, "handle_error", _say_to_people)
    return engine


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        parsed = None
    # An unescaped @ in a password moves its rest into the host and the database's name.
    if parsed is None or (parsed.host is not None and url.count("@") > 1):
        # The offending text may hold a password, so it is not repeated.
        raise ConfigurationError(
            "RAG_LEDGER_URL is not a database URL. Use sqlite:///path/to/file or "
            "postgresql+psycopg://user:password@host/database, with special characters percent-encoded."
        )
    return parsed


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # A writer waits for another one instead of failing; WAL lets the command line read while a run writes.
    # What is recorded must survive a power cut, since Qdrant's points have changed with it.
    connection.execute("PRAGMA busy_timeout=60000")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def _say_to_people(context: ExceptionContext) -> None:
    # Without the statement and its parameters, which hold whatever was to be stored.
    raise LedgerError(
        f"The ledger failed: {context.original_exception}. Nothing half-done was recorded; check that its "
        "database runs (RAG_LEDGER_URL), then run again."
    ) from context.original_exception


def _create_tables(engine: Engine) -> None:
    # Several processes may open a new ledger at once, and `create_all` looks first and creates later.
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # There even IF NOT EXISTS fails when two say it at the same time.
            connection.execute(select(func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
        for table in metadata.sorted_tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))


def upsert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows, replacing those that have the same primary key."""
    waiting = list(rows)
    keys = [column.name for column in table.primary_key]
    for start in range(0, len(waiting), _ROWS_A_STATEMENT):
        batch = waiting[start : start + _ROWS_A_STATEMENT]
        if connection.dialect.name == "postgresql":
            insert: Any = postgresql.insert(table)
        else:
            insert = sqlite.insert(table)
        replaced = {c.name: insert.excluded[c.name] for c in table.columns if c.name not in keys}
        connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=replaced), batch)
