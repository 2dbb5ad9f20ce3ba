"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the developer's settings or writes into the working folder."""
    for name in list(os.environ):
        if (name.startswith("RAG_") and name != "RAG_TEST_DATA") or name in {"OPENAI_API_KEY", "DAGSTER_HOME"}:
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
