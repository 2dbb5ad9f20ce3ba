"""Bringing a ledger's tables to the form that this version of the package works with."""

from pathlib import Path

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, select

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.ledger.database import Lock, take_turns
from rag_pipeline.ledger.tables import metadata

HEAD = "0003"
"""The newest revision, known here so that a ledger that has it is opened without Alembic."""

_alembic_version = Table("alembic_version", MetaData(), Column("version_num", String))


def upgrade(engine: Engine) -> None:
    """Create or upgrade the tables: wholly or, where it is interrupted, not at all.

    Several processes may ask at once. Raises ConfigurationError where the ledger is newer than this package,
    or older than its first revision.
    """
    with engine.connect() as connection:
        if _revision(connection) == HEAD:
            return
    with engine.begin() as connection:
        take_turns(connection, Lock.SCHEMA)
        # Another process may have been faster.
        revision = _revision(connection)
        if revision != HEAD:
            _migrate(connection, revision)


def _migrate(connection: Connection, revision: str | None) -> None:
    # Not above: it takes longer to import than a command that only looks something up should.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    folder = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", folder.replace("%", "%%"))
    known = {one.revision for one in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise ConfigurationError(
            "The ledger was written by a newer version of rag-pipeline: its tables are of revision "
            f"{revision}, and this one knows none beyond {HEAD}. Upgrade rag-pipeline, or set RAG_LEDGER_URL "
            "to another ledger."
        )
    if revision is None and inspect(connection).has_table(next(iter(metadata.tables))):
        raise ConfigurationError(
            "The ledger was written by a development version of rag-pipeline, whose tables cannot be "
            "upgraded. Set RAG_HOME, or RAG_LEDGER_URL and RAG_ALIAS, to new ones and index again."
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    """The revision that a ledger is of; None where no revision ever was carried out."""
    if not inspect(connection).has_table(_alembic_version.name):
        return None
    return connection.execute(select(_alembic_version.c.version_num)).scalar()
