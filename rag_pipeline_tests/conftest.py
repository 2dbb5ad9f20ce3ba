"""Fixtures that every test may use."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline_tests.local_model import INTERPRETER
from rag_pipeline_tests.postgresql_server import PostgresqlServer, PostgresqlUnavailable, running_postgresql
from rag_pipeline_tests.qdrant_server import ServerUnavailable, running_server

# How long an example takes to be drawn and tried is the machine's business where tests run side by side.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Chosen by `make test-nightly`: about ten minutes of broken documents.
settings.register_profile("nightly", _PATIENT, max_examples=1_200)
# Where a test does not say otherwise: by day the whole suite has to end within minutes.
settings.register_profile("day", _PATIENT, max_examples=40)
settings.load_profile("day")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each worker its share of the long tests to begin with, or one would end long after the others.

    Workers are dealt the tests in as many runs of the list as there are workers.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    long = [one for one in items if one.get_closest_marker("long")]
    others = [one for one in items if not one.get_closest_marker("long")]
    items[:] = [
        one
        for worker in range(workers)
        for one in (
            *long[worker::workers],
            *others[worker * len(others) // workers : (worker + 1) * len(others) // workers],
        )
    ]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the developer's settings or writes into the working folder."""
    for name in list(os.environ):
        if (name.startswith("RAG_") and name not in {"RAG_TEST_DATA", INTERPRETER}) or name in {
            "OPENAI_API_KEY",
            "DAGSTER_HOME",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
        }:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of real test documents; the test skips where it is absent."""
    beside_project = Path(__file__).parents[2] / "shared" / "data"
    root = Path(os.environ.get("RAG_TEST_DATA", beside_project))
    if not root.is_dir():
        pytest.skip(f"test data not found at {root}; set RAG_TEST_DATA to its folder")
    return root


@pytest.fixture(scope="session")
def qdrant_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreLocation]:
    """A real Qdrant server shared by the whole session; the test skips where there is none."""
    try:
        with running_server(tmp_path_factory.mktemp("qdrant_server")) as location:
            yield location
    except ServerUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(params=["embedded", pytest.param("server", marks=pytest.mark.server)])
def store_location(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    """An embedded store of the test's own, or the shared server: name collections after `alias` there."""
    if request.param == "embedded":
        return StoreLocation(tmp_path / "qdrant")
    server: StoreLocation = request.getfixturevalue("qdrant_server")
    return server


@pytest.fixture
def alias(store_location: StoreLocation) -> Iterator[str]:
    """An alias that no other test uses; collections named after it are deleted from the shared server."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    yield name
    if not store_location.embedded:
        with open_store(store_location) as client:
            for collection in client.get_collections().collections:
                if collection.name.startswith(name):
                    client.delete_collection(collection.name)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    """A real PostgreSQL server shared by the whole session; the test skips where there is none."""
    try:
        with running_postgresql() as server:
            yield server
    except PostgresqlUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without tables, in SQLite and in PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/ledger.sqlite"
    else:
        server: PostgresqlServer = request.getfixturevalue("postgresql_server")
        with server.database() as url:
            yield url


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger in SQLite."""
    opened = Ledger(f"sqlite:///{tmp_path}/ledger.sqlite", max_attempts=3)
    yield opened
    opened.close()
