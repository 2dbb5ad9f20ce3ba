"""Opening the ledger's database."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Executable,
    Table,
    create_engine,
    event,
    func,
    make_url,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from rag_pipeline.errors import ConfigurationError, LedgerError
from rag_pipeline.ledger.tables import metadata

# SQLite takes at most 32,766 variables in a statement and PostgreSQL 65,535; the widest table has 13 columns.
_ROWS_A_STATEMENT = 1_000
_IDS_A_QUERY = 10_000


class Lock(IntEnum):
    """What only one transaction does at a time; numbers that no other program locks in the same database."""

    SCHEMA = 7_300_417_265
    GENERATIONS = 7_300_417_266
    USES = 7_300_417_267


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
        take_turns(connection, Lock.SCHEMA)
        for table in metadata.sorted_tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))


def take_turns(connection: Connection, lock: Lock) -> None:
    """Wait until no other transaction holds the lock, and hold it until this one ends; call it first."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(int(lock))))
    else:
        # SQLite has one lock, for whoever writes.
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """Ids in lists that are short enough for one IN."""
    waiting = list(ids)
    for start in range(0, len(waiting), _IDS_A_QUERY):
        yield waiting[start : start + _IDS_A_QUERY]


def inserting(connection: Connection, table: Table) -> "postgresql.Insert | sqlite.Insert":
    """An INSERT of the connection's dialect, which may say what to do where a row is there already."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def upsert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows, replacing those that have the same primary key."""
    keys = [column.name for column in table.primary_key]
    insert = inserting(connection, table)
    replaced = {c.name: insert.excluded[c.name] for c in table.columns if c.name not in keys}
    _in_batches(connection, insert.on_conflict_do_update(index_elements=keys, set_=replaced), rows)


def insert_missing(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows, leaving those as they are that have the same primary key."""
    _in_batches(connection, inserting(connection, table).on_conflict_do_nothing(), rows)


def _in_batches(connection: Connection, statement: Executable, rows: Iterable[Mapping[str, Any]]) -> None:
    waiting = list(rows)
    for start in range(0, len(waiting), _ROWS_A_STATEMENT):
        connection.execute(statement, waiting[start : start + _ROWS_A_STATEMENT])
