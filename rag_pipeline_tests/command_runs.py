"""`rag-pipeline` as its users run it, on a test's knowledge base."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag_pipeline.cli import main
from rag_pipeline_tests.knowledge_base import KnowledgeBase

PROJECT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-c", "from rag_pipeline.cli import main; main()"]


def environment(base: KnowledgeBase, **more: str) -> dict[str, str]:
    """The variables that make a process work on the knowledge base."""
    settings = base.settings
    values = {
        "DAGSTER_HOME": str(PROJECT),
        "RAG_HOME": str(settings.home),
        "RAG_MANIFESTS": str(settings.manifests),
        "RAG_ALIAS": settings.alias,
        "RAG_EMBEDDING_PROVIDER": "hashing",
        "RAG_WORKERS": "1",
    }
    if settings.qdrant_url:
        values["RAG_QDRANT_URL"] = settings.qdrant_url
        values["RAG_QDRANT_GRPC_PORT"] = str(settings.qdrant_grpc_port)
    return values | more


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Finished]


@contextmanager
def commands_of(
    base: KnowledgeBase,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    **variables: str,
) -> Iterator[Run]:
    """What runs commands in this process, given as words, with more variables if need be."""

    def run_command(*words: str, **extra: str) -> Finished:
        with monkeypatch.context() as patch:
            for name, value in {**environment(base, **variables), **extra}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["rag-pipeline", *words])
            code: object = 0
            try:
                main()
            except SystemExit as exit_:
                code = exit_.code or 0
        captured = capsys.readouterr()
        assert isinstance(code, int)
        return Finished(code, captured.out, captured.err)

    ours = logging.getLogger("rag_pipeline")
    handlers = ours.handlers
    yield run_command
    ours.handlers, ours.propagate = handlers, True
