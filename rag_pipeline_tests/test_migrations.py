"""A ledger's tables are made and upgraded by migrations, once, whoever asks at the same time."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, inspect, text

import rag_pipeline.ledger.migrations
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.ledger.schema import HEAD, upgrade
from rag_pipeline.ledger.tables import metadata

PROJECT = Path(__file__).parents[1]

# Opens the ledger at the moment that its standard input ends.
OPENER = """
import sys
from rag_pipeline.ledger.ledger import Ledger
print("ready", flush=True)
sys.stdin.read()
Ledger(sys.argv[1], max_attempts=3).documents.of_source("generation", "source")
"""

# Opens a ledger and says whether that took Alembic.
QUICK_OPENER = """
import sys
from rag_pipeline.ledger.ledger import Ledger
Ledger(sys.argv[1], max_attempts=3)
print("alembic" in sys.modules)
"""


@pytest.fixture
def engine(ledger_url: str) -> Iterator[Engine]:
    """A database without tables."""
    made = create_engine(ledger_url)
    yield made
    made.dispose()


def test_the_migrations_make_the_tables_that_the_code_works_with(engine: Engine) -> None:
    upgrade(engine)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_newest_migration_is_the_one_that_is_looked_for() -> None:
    [folder] = rag_pipeline.ledger.migrations.__path__
    assert ScriptDirectory(folder).get_heads() == [HEAD]


def test_a_ledger_of_the_first_release_keeps_what_it_holds(engine: Engine, ledger_url: str) -> None:
    [folder] = rag_pipeline.ledger.migrations.__path__
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", folder)
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text("INSERT INTO vector_uses (model_key, text_hash, document_id) VALUES ('m', 't', 'a/b.md')")
        )
    ledger = Ledger(ledger_url, max_attempts=3)
    assert ledger.uses.of_document("a/b.md").vectors == {("m", "t")}
    assert ledger.traces.get("t1") is None
    ledger.close()


def test_processes_may_open_a_new_ledger_at_the_same_time(ledger_url: str) -> None:
    command = [sys.executable, "-c", OPENER, ledger_url]
    processes = [
        subprocess.Popen(
            command,
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    failed = [errors for _, errors in (process.communicate() for process in processes) if errors]
    assert failed == []


def test_what_is_there_stays_when_a_ledger_is_opened_again(ledger_url: str) -> None:
    for listing in range(2):
        ledger = Ledger(ledger_url, max_attempts=3)
        assert len(ledger.waivers.of_generation("a")) == listing
        ledger.waivers.record("a", "handbook", waived_by="someone", reason="3 of 10 failed")
        ledger.close()


def test_a_ledger_that_is_up_to_date_is_opened_without_alembic(ledger_url: str) -> None:
    took_alembic = [
        subprocess.run(
            [sys.executable, "-c", QUICK_OPENER, ledger_url],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert took_alembic == ["True\n", "False\n"]


def test_an_interrupted_migration_leaves_nothing(engine: Engine, ledger_url: str) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(_: object, __: object, statement: str, *___: object) -> None:
        if "CREATE TABLE vectors" in statement:
            raise Interrupted

    event.listen(engine, "before_cursor_execute", interrupt)
    with pytest.raises(Interrupted):
        upgrade(engine)
    event.remove(engine, "before_cursor_execute", interrupt)
    assert inspect(engine).get_table_names() == []
    upgrade(engine)
    assert metadata.tables.keys() <= set(inspect(engine).get_table_names())


def test_a_ledger_of_a_newer_version_is_refused(engine: Engine, ledger_url: str) -> None:
    upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError, match=f"newer version.* revision 9999.* beyond {HEAD}.* Upgrade"):
        Ledger(ledger_url, max_attempts=3)


def test_a_ledger_from_before_the_migrations_is_refused(engine: Engine, ledger_url: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE generations (name VARCHAR PRIMARY KEY, live BOOLEAN)"))
    with pytest.raises(ConfigurationError, match=r"development version.* index again"):
        Ledger(ledger_url, max_attempts=3)
    assert inspect(engine).get_table_names() == ["generations"]
