"""Statements that SQLite and PostgreSQL both understand."""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Executable, Table, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction

# SQLite takes at most 32,766 variables in a statement and PostgreSQL 65,535; the widest table has 13 columns.
_ROWS_A_STATEMENT = 1_000
_IDS_A_QUERY = 10_000


class Lock(IntEnum):
    """What only one transaction does at a time; numbers that no other program locks in the same database."""

    SCHEMA = 7_300_417_265
    GENERATIONS = 7_300_417_266
    USES = 7_300_417_267
    TRACES = 7_300_417_268


def take_turns(connection: Connection, lock: Lock) -> None:
    """Wait until no other transaction holds the lock, and hold it until this one ends; call it first."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(int(lock))))
    else:
        # SQLite has one lock, for whoever writes.
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def storable(text: str) -> str:
    """A text as every database takes it: NUL, and what is no valid Unicode, as escapes."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")


def batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """Ids in lists that are short enough for one IN."""
    waiting = list(ids)
    for start in range(0, len(waiting), _IDS_A_QUERY):
        yield waiting[start : start + _IDS_A_QUERY]


class _ArrayItems(GenericFunction[str]):
    """The strings of a JSON array, as rows with a column `value`."""

    inherit_cache = True


@compiles(_ArrayItems, "sqlite")
def _in_sqlite(items: _ArrayItems, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each{compiler.function_argspec(items, **options)}"


@compiles(_ArrayItems, "postgresql")
def _in_postgresql(items: _ArrayItems, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array_elements_text{compiler.function_argspec(items, **options)}"


def among(column: ColumnElement[str], parameter: str) -> ColumnElement[bool]:
    """Whether a column is one of the strings in the list that is given for the parameter.

    For statements that are made once: an IN of many variables takes longer to write than to answer.
    """
    items = _ArrayItems(bindparam(parameter, type_=JSON)).table_valued("value", name="items")
    return column.in_(select(items.c.value))


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
