"""The language model's client against a real HTTP server that behaves as endpoints do."""

import gc
import json
import logging
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from rag_pipeline.embedding.retrying import RetryPolicy
from rag_pipeline.errors import ModelUnavailable
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.answering.replies import BadReply, answer_schema, read_draft, read_thought
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.services import Services
from rag_pipeline.settings import Settings
from rag_pipeline_tests.chat_server import chat_reply, drafted
from rag_pipeline_tests.openai_server import OpenAIServer, Reply, Request, error_reply

KEY = "sk-recognizable-0123456789"
SECRET = "the passage about the merger"
MESSAGES = [{"role": "system", "content": "Answer."}, {"role": "user", "content": SECRET}]
SCHEMA = answer_schema(["S1", "S2"])
QUICK = RetryPolicy(max_retries=2, bad_answer_retries=1, base_seconds=0.01, cap_seconds=0.02)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer().running() as server:
        server.script = lambda request: chat_reply("Fine.")
        yield server


def model_of(server: OpenAIServer, **options: Any) -> ChatModel:
    return ChatModel(
        **{"model": "m", "base_url": server.base_url, "api_key": KEY, "retry_policy": QUICK, **options}
    )


def ask(
    server: OpenAIServer, schema: dict[str, Any] | None = None, seconds: float = 30.0, **options: Any
) -> str:
    return model_of(server, **options).complete(MESSAGES, schema, Deadline(seconds))


def test_the_request_says_what_it_must_and_no_more(server: OpenAIServer) -> None:
    assert ask(server, SCHEMA) == "Fine."
    [request] = server.requests
    assert request.body == {
        "model": "m", "messages": MESSAGES, "temperature": 0.0,
        "response_format": {
            "type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
        },
    }  # fmt: skip
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert ask(server) == "Fine."
    assert "response_format" not in server.requests[1].body


def test_the_environment_counts_for_nothing(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "proj-1", "HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert ask(server, api_key=None) == "Fine."
    headers = server.requests[0].headers
    assert not {"authorization", "openai-organization", "openai-project"} & set(headers)


@pytest.mark.parametrize(
    ("embedding_at", "own_key", "sent"),
    [
        (None, None, None),
        ("http://127.0.0.1:9/v1", None, None),
        ("the same", None, "Bearer sk-embedding"),
        ("the same", "sk-own", "Bearer sk-own"),
        (None, "sk-own", "Bearer sk-own"),
    ],
)
def test_a_key_goes_only_to_the_endpoint_that_it_is_for(
    server: OpenAIServer, embedding_at: str | None, own_key: str | None, sent: str | None
) -> None:
    settings = Settings(
        answer_provider="openai",
        answer_model="m",
        answer_base_url=server.base_url + "/",
        answer_api_key=SecretStr(own_key) if own_key else None,
        embedding_base_url=server.base_url if embedding_at == "the same" else embedding_at,
        openai_api_key=SecretStr("sk-embedding"),
    )
    with Services(settings) as services:
        assert services.chat_model
        services.chat_model.complete(MESSAGES, None, Deadline(30))
    assert server.requests[0].headers.get("authorization") == sent


@pytest.mark.parametrize(
    "reply",
    [
        error_reply(429, "slow down", {"retry-after-ms": "20"}),
        error_reply(500, "oops"),
        error_reply(503, "overloaded"),
        Reply(200, b"<html>not an API</html>"),
        Reply(200, b""),
        Reply(200, b'{"choices": []}'),
        Reply(200, b'{"error": "model is loading"}'),
    ],
    ids=lambda reply: f"{reply.status}-{reply.body[:20]!r}",
)
def test_what_fails_for_the_moment_is_tried_again(server: OpenAIServer, reply: Reply) -> None:
    server.enqueue(reply)
    assert ask(server) == "Fine."
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "requests", "said"),
    [
        (error_reply(500, SECRET), 3, "HTTP 500"),
        (error_reply(429, SECRET), 3, "HTTP 429"),
        (error_reply(429, SECRET, code="insufficient_quota"), 1, "quota"),
        (error_reply(401, f"Incorrect API key: {KEY}"), 1, "check its API key"),
        (error_reply(403, SECRET), 1, "HTTP 403"),
        (error_reply(404, f"no model {SECRET}"), 1, "the model's name"),
        (error_reply(400, f"context too long: {SECRET}"), 1, "HTTP 400"),
        (Reply(200, SECRET.encode()), 2, "no chat completion"),
        (Reply(200, b" " * 1_100_000), 2, "endless"),
    ],
)
def test_a_model_that_stays_down_is_unavailable_and_nothing_leaks(
    server: OpenAIServer, caplog: pytest.LogCaptureFixture, reply: Reply, requests: int, said: str
) -> None:
    caplog.set_level(logging.INFO)
    server.script = lambda request: reply
    with pytest.raises(ModelUnavailable, match=said) as raised:
        ask(server)
    assert len(server.requests) == requests
    told = "".join(traceback.format_exception(raised.value)) + caplog.text + repr(raised.value.__context__)
    assert KEY not in told
    assert SECRET not in told


def test_nothing_listens(server: OpenAIServer) -> None:
    with pytest.raises(ModelUnavailable, match="no connection"):
        ask(server, base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize("slow", [{"delay_seconds": 5.0}, {"byte_by_byte": True}])
def test_the_deadline_ends_the_wait(server: OpenAIServer, slow: dict[str, Any]) -> None:
    model = model_of(server)
    assert model.complete(MESSAGES, None, Deadline(30)) == "Fine."  # loads the SDK, outside the deadline
    good = chat_reply("x" * 500)
    server.script = lambda request: Reply(200, good.body, good.headers, **slow)
    started = time.monotonic()
    with pytest.raises(ModelUnavailable, match="in time"):
        model.complete(MESSAGES, None, Deadline(1.0))
    assert time.monotonic() - started < 4.0
    assert len(server.requests) == 2


def test_no_retry_is_begun_that_the_deadline_would_cut(server: OpenAIServer) -> None:
    server.script = lambda request: error_reply(503, "later", {"retry-after": "60"})
    with pytest.raises(ModelUnavailable, match="HTTP 503"):
        ask(server, seconds=5.0)
    assert len(server.requests) == 1
    with pytest.raises(ModelUnavailable, match="no time left"):
        ask(server, seconds=0.0)
    assert len(server.requests) == 1


@pytest.mark.parametrize("known", ["json_object", None])
def test_an_endpoint_without_structured_output_is_asked_in_words_and_that_is_remembered(
    server: OpenAIServer, known: str | None
) -> None:
    def script(request: Request) -> Reply:
        kind = request.body.get("response_format", {}).get("type")
        if kind not in (None, known):
            return error_reply(400, f"'response_format.type' {kind!r} is not supported")
        return chat_reply("{}")

    server.script = script
    model = model_of(server)
    model.complete(MESSAGES, SCHEMA, Deadline(30))
    first = len(server.requests)
    model.complete(MESSAGES, SCHEMA, Deadline(30))
    assert [first, len(server.requests)] == ([2, 3] if known else [3, 4])
    last = server.requests[-1].body
    assert last.get("response_format") == ({"type": known} if known else None)
    assert json.dumps(SCHEMA) in last["messages"][-1]["content"]
    assert last["messages"][-1]["content"].startswith(SECRET)
    assert MESSAGES[-1]["content"] == SECRET


def test_a_model_that_takes_no_temperature_gets_none(server: OpenAIServer) -> None:
    def script(request: Request) -> Reply:
        if "temperature" in request.body:
            return error_reply(
                400, "Unsupported value: 'temperature' does not support 0", param="temperature"
            )
        return chat_reply("Fine.")

    server.script = script
    assert ask(server, SCHEMA) == "Fine."
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


def test_a_model_that_declines_says_nothing(server: OpenAIServer) -> None:
    server.script = lambda request: chat_reply(None)
    assert ask(server) == ""


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_connections_are_closed_with_the_model(server: OpenAIServer) -> None:
    model = model_of(server)
    assert model.complete(MESSAGES, None, Deadline(30)) == "Fine."
    del model
    gc.collect()


@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        " {}\n",
        "```json\n{}\n```",
        "```\n{}```",
        "<think>Hm, {{no}}.</think>\n{}",
        "<think>\n</think>```json\n{}```",
    ],
)
def test_replies_are_read_in_their_usual_wrappings(wrapped: str) -> None:
    reply = drafted("Yes.", ("Yes.", ["S1", "S1"]))
    draft = read_draft(wrapped.replace("{}", reply))
    assert draft.text == "Yes."
    assert draft.claims[0].labels == ("S1",)


@pytest.mark.parametrize(
    "reply",
    [
        "", "PWNED", "[]", "{}", "null", '{"answered": true', "[" * 9_999, drafted("a") + drafted("b"),
        drafted("a") + " and more", "Sure! " + drafted("a"),
        '{"answered": "yes", "answer": "a", "citations": []}',
        '{"answered": true, "answer": "a", "citations": [], "secret": 1}',
        '{"answered": true, "answer": "a", "citations": [{"claim": "a", "evidence_ids": "S1"}]}',
    ],
)  # fmt: skip
def test_anything_else_is_a_bad_reply(reply: str) -> None:
    with pytest.raises(BadReply, match=r"^The reply "):
        read_draft(reply)
    with pytest.raises(BadReply, match=r"^The reply "):
        read_thought(reply)


@pytest.mark.parametrize(
    "beginning", [b"HTTP/1.1 200 OK\r\nX-Wait: ", b"HTTP/1.1 400 Bad\r\nContent-Length: 9999\r\n\r\n"]
)
def test_an_endpoint_that_never_stops_beginning_is_left_at_the_deadline(beginning: bytes) -> None:
    over = threading.Event()

    def dribble(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(beginning)
            while not over.wait(0.05):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=dribble, args=[listening])
        thread.start()
        try:
            model = ChatModel(model="m", base_url=f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
            with pytest.raises(ModelUnavailable, match="in time"):
                model.complete([{"role": "user", "content": "?"}], None, Deadline(0.5))
            assert thread.is_alive(), "the endpoint was still sending"
        finally:
            over.set()
            thread.join()
