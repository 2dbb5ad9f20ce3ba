"""The sample corpus as it is indexed with the default model: once for all workers of a test run."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from rag_pipeline.pipeline import Pipeline
from rag_pipeline.services import Services
from rag_pipeline.settings import Settings

PROJECT = Path(__file__).parents[1]
SOURCES = ("refund_policy", "support_macros", "community_posts", "design_drafts", "hr_restricted")


INDEXED = os.environ.get("RAG_TEST_SAMPLE_HOME")
"""RAG_HOME of a corpus that is indexed already, as CI has one; read before tests clear the environment."""


def sample_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of a copy of the indexed corpus, for whoever asks it alone."""
    own = tmp_path_factory.mktemp("sample") / "home"
    shutil.copytree(_indexed(tmp_path_factory), own)
    return _settings(own)


def _indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if INDEXED:
        return Path(INDEXED)
    # A worker's folder is below that of the run, and without workers it is that of the run.
    of_run = tmp_path_factory.getbasetemp()
    shared = (of_run.parent if "PYTEST_XDIST_WORKER" in os.environ else of_run) / "sample_corpus"
    shared.mkdir(exist_ok=True)
    home, done = shared / "home", shared / "done"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(home, ignore_errors=True)
            with Services(_settings(home)) as services:
                pipeline = Pipeline(services)
                for source in SOURCES:
                    assert pipeline.run(source).reconciled
            done.touch()
    return home


def _settings(home: Path) -> Settings:
    return Settings(home=home, manifests=PROJECT / "manifests", lock_wait_s=20)
