"""Every request leaves a trace, and what leaves none is no answer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.query import AskResponse, Identity, ask
from rag_pipeline.query.trace import Outcome
from rag_pipeline_tests.knowledge_base import KnowledgeBase

QUESTION = "Within how many days does hardware go back?"
SUPPORT = Identity("u-1", frozenset({"support"}))


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path, min_relevance=0.0)
    base.manifest("refunds")
    base.page("refunds", "returns")
    return base


def asked(base: KnowledgeBase) -> AskResponse:
    return ask({"question": QUESTION}, SUPPORT, base.services)


def test_an_answer_that_cannot_be_recorded_is_withheld(
    base: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    base.index("refunds")
    assert asked(base).outcome is Outcome.ANSWERED
    with closing(sqlite3.connect(base.settings.home / "ledger.sqlite")) as ledger:
        ledger.execute("DROP TABLE traces")
    response = asked(base)
    assert (response.outcome, response.answered, response.citations) == (Outcome.DEGRADED, False, ())
    assert "30 days" not in response.answer
    assert response.trace_id in caplog.text


def test_a_request_that_a_step_cannot_serve_leaves_a_trace_too(base: KnowledgeBase) -> None:
    with pytest.raises(ConfigurationError, match="Nothing is indexed"):
        asked(base)
    with closing(sqlite3.connect(base.settings.home / "ledger.sqlite")) as ledger:
        ((trace_id,),) = ledger.execute("SELECT trace_id FROM traces").fetchall()
    trace = base.services.ledger.traces.get(trace_id)
    assert trace is not None
    assert (trace["question"], trace["outcome"]) == (QUESTION, "degraded")
    assert trace["reason"] == "ended by ConfigurationError"
