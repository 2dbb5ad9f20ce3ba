"""Indexing with a real embedding endpoint that refuses a chunk, or is down."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_pipeline.errors import EmbeddingUnavailable
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.openai_server import OpenAIServer, Reply, Request, error_reply


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(dimensions=16).running() as server:
        yield server


@pytest.fixture
def base(tmp_path: Path, server: OpenAIServer) -> KnowledgeBase:
    base = KnowledgeBase(
        tmp_path,
        embedding_provider="openai",
        embedding_base_url=server.base_url,
        embedding_model="test",
        embedding_dimensions=16,
        embedding_max_tokens=8192,
        embedding_max_retries=1,
    )
    base.manifest("refunds")
    base.page("refunds", "refunds", "postage")
    return base


def refuse(word: str, request: Request) -> Reply | None:
    return error_reply(400, "this input is not allowed") if any(word in t for t in request.texts) else None


def test_a_refused_chunk_is_accounted_for_and_not_sent_again(
    base: KnowledgeBase, server: OpenAIServer
) -> None:
    base.page("refunds", "refunds", sentence="Unspeakable hardware goes back at once.")
    server.script = lambda request: refuse("Unspeakable", request)
    report = base.index("refunds")
    assert report.reconciled
    assert report.chunks.failed == 1
    assert report.chunks.expected == report.chunks.stored + 1 == report.chunks.written + 1
    (letter,) = base.services.ledger.dead_letters.listed()
    assert (letter.document_id, letter.category) == ("refunds/refunds.md", "embedding_refused")
    assert letter.chunk_index is not None
    assert "not allowed" in letter.message

    server.requests.clear()
    again = base.index("refunds")
    assert server.requests == []
    assert again.chunks.expected == report.chunks.expected
    assert (again.chunks.written, again.chunks.failed) == (0, 1)
    assert base.services.ledger.dead_letters.listed()[0].attempts == 1

    server.script = lambda request: None
    base.services.ledger.dead_letters.ask_retry([letter.id])
    healed = base.index("refunds")
    assert healed.embedded == 1
    assert (healed.chunks.failed, healed.chunks.expected) == (0, healed.chunks.stored)
    assert base.services.ledger.dead_letters.listed() == []


def test_an_endpoint_that_is_down_fails_the_run_and_condemns_no_document(
    base: KnowledgeBase, server: OpenAIServer
) -> None:
    base.index("refunds")
    before = base.points()
    base.page("refunds", "refunds", sentence="Hardware goes back within 45 days.")
    server.script = lambda request: error_reply(401, "no such key")
    with pytest.raises(EmbeddingUnavailable):
        base.index("refunds")
    assert base.points() == before
    assert base.services.ledger.dead_letters.listed() == []
    server.script = lambda request: None
    assert base.index("refunds").documents.changed == 1


def test_a_document_of_which_every_chunk_is_refused_keeps_its_last_good_version(
    base: KnowledgeBase, server: OpenAIServer
) -> None:
    base.index("refunds")
    before = base.points()
    base.write("refunds", {"postage.md": "# Forbidden\n\nNothing in it may be embedded: Forbidden.\n"})
    server.script = lambda request: refuse("Forbidden", request)
    report = base.index("refunds")
    assert report.documents.failed == 1
    assert report.reconciled
    assert base.points() == before
