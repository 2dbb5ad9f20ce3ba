"""The sample corpus as it is indexed with the default model."""

import os
import shutil
from pathlib import Path

import pytest

from rag_pipeline.pipeline import Pipeline
from rag_pipeline.services import Services
from rag_pipeline.settings import Settings
from rag_pipeline_tests.made_once import copy_of_made_once

PROJECT = Path(__file__).parents[1]
SOURCES = ("refund_policy", "support_macros", "community_posts", "design_drafts", "hr_restricted")

INDEXED = os.environ.get("RAG_TEST_SAMPLE_HOME")
"""RAG_HOME of a corpus that is indexed already, as CI has one; read before tests clear the environment."""


def sample_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of a copy of the indexed corpus, for whoever asks it alone."""
    if INDEXED:
        own = tmp_path_factory.mktemp("sample") / "home"
        shutil.copytree(INDEXED, own)
    else:
        own = copy_of_made_once(tmp_path_factory, "sample_corpus", _index)
    return _settings(own)


def _index(home: Path) -> None:
    with Services(_settings(home)) as services:
        pipeline = Pipeline(services)
        for source in SOURCES:
            assert pipeline.run(source).reconciled


def _settings(home: Path) -> Settings:
    return Settings(home=home, manifests=PROJECT / "manifests", lock_wait_s=20)
