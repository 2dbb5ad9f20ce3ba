"""Asking while an endpoint or Qdrant hangs: the answer comes when the request's time is up, and says why."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_pipeline.query.asking import ask
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.response import AskResponse
from rag_pipeline.query.trace import Outcome
from rag_pipeline.services import Services
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.openai_server import OpenAIServer, Reply, Request

DEADLINE = 2


def asked(services: Services) -> tuple[AskResponse, float]:
    """The response, and how many times the deadline it took."""
    started = time.monotonic()
    response = ask(
        {"question": "Within how many days does hardware go back?"}, Identity(None, frozenset()), services
    )
    return response, (time.monotonic() - started) / DEADLINE


@pytest.mark.parametrize("byte_by_byte", [False, True], ids=["silent", "dribbling"])
def test_an_embedding_endpoint_that_hangs_ends_the_request_in_time(
    tmp_path: Path, byte_by_byte: bool
) -> None:
    released = threading.Event()

    def hang(request: Request) -> Reply:
        if not byte_by_byte:
            released.wait()
        return Reply(200, b" " * 10_000, byte_by_byte=byte_by_byte)

    with OpenAIServer(dimensions=16).running() as server:
        base = KnowledgeBase(
            tmp_path,
            embedding_provider="openai",
            embedding_base_url=server.base_url,
            embedding_model="test",
            embedding_dimensions=16,
            embedding_max_tokens=8192,
            ask_deadline_s=DEADLINE,
        )
        base.manifest("refunds", roles=None)
        base.page("refunds", "refunds")
        base.index("refunds")
        assert asked(base.services)[0].outcome is not Outcome.DEGRADED
        server.script = hang
        try:
            response, deadlines = asked(base.services)
        finally:
            released.set()
    assert response.outcome is Outcome.DEGRADED
    assert not response.answered
    assert deadlines < 3


def test_a_qdrant_server_that_hangs_ends_the_request_in_time(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path, ask_deadline_s=DEADLINE)
    base.manifest("refunds", roles=None)
    base.page("refunds", "refunds")
    base.index("refunds")
    with silent_port() as port:
        hanging = {"qdrant_url": f"http://127.0.0.1:{port}", "qdrant_grpc_port": port}
        with Services(base.settings.model_copy(update=hanging)) as services:
            response, deadlines = asked(services)
    assert response.outcome is Outcome.DEGRADED
    assert deadlines < 3


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]
