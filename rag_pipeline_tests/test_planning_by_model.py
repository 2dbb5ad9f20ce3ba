"""A scripted model splits questions over HTTP; whatever it replies, the question is searched for."""

from collections.abc import Iterator

import pytest

from rag_pipeline.query import ask
from rag_pipeline.query.answering.prompts import PROMPT_VERSION
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.planning import plan_queries
from rag_pipeline.query.trace import Outcome, Trace
from rag_pipeline.query.tracing import find_trace
from rag_pipeline_tests.chat_server import chat_reply, drafted, is_planning, model_that, planned
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.openai_server import OpenAIServer, Reply, Request, error_reply

ONE = "Within how many days does hardware go back?"
TWO = "Within how many days does hardware go back, and who pays for its postage?"
REST = model_that(drafted("", answered=False))


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer().running() as running:
        yield running


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, server: OpenAIServer) -> Iterator[KnowledgeBase]:
    base = KnowledgeBase(
        tmp_path_factory.mktemp("base"),
        answer_provider="openai",
        answer_model="m",
        answer_base_url=server.base_url,
        ask_deadline_s=20,
        min_relevance=0.0,
    )
    base.manifest("refunds", roles=None)
    base.page("refunds", "refunds")
    base.index("refunds")
    # The first request would also pay for loading what is needed, the SDK among it.
    ask({"question": TWO}, Identity(), base.services)
    yield base
    base.services.close()


def traced(base: KnowledgeBase, server: OpenAIServer, question: str, plan: Reply, **body: object) -> Trace:
    """The trace of a request for which the model replies with this plan."""
    server.requests.clear()
    server.script = lambda request: plan if is_planning(request) else REST(request)
    response = ask({"question": question, **body}, Identity(), base.services)
    return find_trace(base.services.ledger, response.trace_id)


def plans(server: OpenAIServer) -> list[Request]:
    return [request for request in server.requests if is_planning(request)]


def test_the_models_queries_follow_the_question(base: KnowledgeBase, server: OpenAIServer) -> None:
    plan = chat_reply(planned("hardware return days", " hardware return postage ", "Hardware return days"))
    trace = traced(base, server, TWO, plan)
    assert trace.queries == [TWO, "hardware return days", "hardware return postage"]
    assert trace.prompt_version == PROMPT_VERSION
    (request,) = plans(server)
    assert TWO in request.body["messages"][1]["content"]
    assert request.body["response_format"]["json_schema"]["strict"]


@pytest.mark.parametrize(
    "plan",
    [
        chat_reply("I would search for hardware."),
        chat_reply(""),
        chat_reply(planned()),
        chat_reply(planned(" ")),
        chat_reply(planned(*"abcdef")),
        chat_reply(planned("x" * 2_001)),
        chat_reply(planned("how\x00long")),
        chat_reply('{"queries": "hardware"}'),
        chat_reply('{"queries": [1]}'),
        chat_reply('{"queries": ["hardware"], "answer": "30 days"}'),
        error_reply(401, "not you"),
        error_reply(503, "loading"),
        Reply(200, chat_reply(planned("late")).body, delay_seconds=6),
    ],
    ids=range(13),
)
def test_where_it_gives_no_plan_the_rule_does(base: KnowledgeBase, server: OpenAIServer, plan: Reply) -> None:
    trace = traced(base, server, TWO, plan)
    assert trace.queries == plan_queries(TWO)
    assert len(trace.queries) == 3
    assert trace.outcome is Outcome.INSUFFICIENT, "not degraded: the model did judge the evidence"


def test_it_is_not_asked_where_there_is_nothing_to_split(base: KnowledgeBase, server: OpenAIServer) -> None:
    plan = chat_reply(planned("something else"))
    assert traced(base, server, ONE, plan).queries == [ONE]
    assert traced(base, server, TWO, plan, queries=["postage"]).queries == ["postage"]
    assert not plans(server)
