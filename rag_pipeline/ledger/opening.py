"""Opening the ledger's database."""

import sqlite3

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from rag_pipeline.errors import ConfigurationError, LedgerError
from rag_pipeline.ledger.schema import upgrade


def open_database(url: str) -> Engine:
    """Connect to the ledger at a SQLAlchemy URL and bring its tables up to date.

    Raises ConfigurationError, without the URL's password, where that cannot be done.
    """
    parsed = _parsed(url)
    # The query may hold a password too.
    shown = parsed.set(query={}).render_as_string(hide_password=True)
    try:
        engine = create_engine(parsed)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _prepare_sqlite)
        try:
            upgrade(engine)
        except BaseException:
            engine.dispose()
            raise
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
    # What is erased is gone from the file too.
    connection.execute("PRAGMA secure_delete=ON")


def _say_to_people(context: ExceptionContext) -> None:
    # Without the statement and its parameters, which hold whatever was to be stored.
    raise LedgerError(
        f"The ledger failed: {context.original_exception}. Nothing half-done was recorded; check that its "
        "database runs (RAG_LEDGER_URL), then run again."
    ) from context.original_exception
