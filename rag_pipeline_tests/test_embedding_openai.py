"""The endpoint embedder against a real HTTP server that misbehaves in every way that endpoints do."""

import gzip
import json
import logging
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_pipeline.embedding.embedder import Refusal, Vector
from rag_pipeline.embedding.openai_endpoint import OpenAIEmbedder
from rag_pipeline.embedding.retrying import RetryPolicy
from rag_pipeline.errors import ConfigurationError, EmbeddingUnavailable
from rag_pipeline_tests.openai_server import OpenAIServer, Reply, Request, error_reply

KEY = "sk-recognizable-0123456789"
QUICK = RetryPolicy(base_seconds=0.01, cap_seconds=0.05, total_seconds=20.0)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer().running() as server:
        yield server


def embedder_of(server: OpenAIServer, **options: Any) -> OpenAIEmbedder:
    defaults: dict[str, Any] = {
        "model": "some-model",
        "base_url": server.base_url,
        "api_key": KEY,
        "dimensions": server.dimensions,
        "max_tokens": 8_192,
        "retry_policy": QUICK,
    }
    return OpenAIEmbedder(**{**defaults, **options})


def texts_of(count: int) -> list[str]:
    return [f"passage number {number}" for number in range(count)]


def assert_vectors(server: OpenAIServer, texts: list[str], answers: list[Vector | Refusal]) -> None:
    for answer, expected in zip(answers, server.vectors_of(texts), strict=True):
        assert isinstance(answer, np.ndarray)
        assert answer.dtype == np.float32
        np.testing.assert_allclose(answer, expected, atol=1e-6)


def test_many_texts_come_back_in_order_from_parallel_requests(server: OpenAIServer) -> None:
    meet = threading.Barrier(3, timeout=20)

    def wait_for_the_others(request: Request) -> None:
        meet.wait()

    server.script = wait_for_the_others
    texts = texts_of(12)
    answers = embedder_of(server, batch_items=4, concurrency=3).embed_passages(texts)
    assert_vectors(server, texts, answers)
    assert [len(request.texts) for request in server.requests] == [4, 4, 4]
    assert server.most_in_flight == 3


def test_no_more_requests_are_in_flight_than_allowed(server: OpenAIServer) -> None:
    embedder_of(server, batch_items=1, concurrency=2).embed_passages(texts_of(10))
    assert len(server.requests) == 10
    assert server.most_in_flight <= 2


def test_the_request_says_what_it_must_and_no_more(server: OpenAIServer) -> None:
    embedder_of(server).embed_passages(["one"])
    request = server.requests[0]
    assert request.body == {"model": "some-model", "input": ["one"], "encoding_format": "float"}
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_dimensions_are_asked_for_only_where_told_or_where_a_known_model_is_shortened(
    server: OpenAIServer,
) -> None:
    embedder_of(server, send_dimensions=True).embed_passages(["one"])
    embedder_of(server, model="text-embedding-3-small").embed_passages(["one"])
    assert [request.body["dimensions"] for request in server.requests] == [16, 16]


def test_without_a_key_a_local_endpoint_gets_none(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)  # meant for someone else
    embedder_of(server, api_key=None).embed_passages(["one"])
    assert "authorization" not in server.requests[0].headers


def test_prefixes_go_to_passages_and_questions(server: OpenAIServer) -> None:
    embedder = embedder_of(server, query_prefix="Q: ", passage_prefix="P: ")
    embedder.embed_passages(["one"])
    embedder.embed_queries(["two"])
    assert [request.texts for request in server.requests] == [["P: one"], ["Q: two"]]


@pytest.mark.parametrize(
    "reply",
    [
        error_reply(429, "slow down"),
        error_reply(500, "oops"),
        error_reply(503, "overloaded"),
        error_reply(408, "too slow"),
        error_reply(409, "locked"),
        Reply(200, b"<html>not an API</html>"),
        Reply(200, b""),
        Reply(200, b'{"object": "list", "data": []}'),
        Reply(200, b'{"error": "model is loading"}'),
        Reply(200, gzip.compress(b" " * 2_000_000, mtime=0), {"content-encoding": "gzip"}),
    ],
    ids=lambda reply: f"{reply.status}-{reply.body[:20]!r}",
)
def test_what_fails_for_the_moment_is_tried_again(server: OpenAIServer, reply: Reply) -> None:
    server.enqueue(reply)
    assert_vectors(server, ["one", "two"], embedder_of(server).embed_passages(["one", "two"]))
    assert len(server.requests) == 2


def good(server: OpenAIServer) -> list[list[float]]:
    return server.vectors_of(["one", "two"])


@pytest.mark.parametrize(
    "broken",
    [
        lambda s: s.reply_with(good(s)[:1]),
        lambda s: s.reply_with([*good(s), good(s)[0]]),
        lambda s: s.reply_with(good(s), indexes=[1, 0]),
        lambda s: s.reply_with(good(s), indexes=[0, 0]),
        lambda s: s.reply_with([good(s)[0], [0.0] * 16]),
        lambda s: s.reply_with([good(s)[0], good(s)[1][:15]]),
        lambda s: s.reply_with([good(s)[0], [*good(s)[1], 0.5]]),
        lambda s: s.reply_with([good(s)[0], [float("nan"), *good(s)[1][1:]]]),
        lambda s: s.reply_with([good(s)[0], [float("inf"), *good(s)[1][1:]]]),
        lambda s: s.reply_with([good(s)[0], ["0.5", *good(s)[1][1:]]]),
        lambda s: s.reply_with([good(s)[0], [None, *good(s)[1][1:]]]),
        lambda s: s.reply_with([good(s)[0], "AAAA"]),
        lambda s: s.reply_with([good(s)[0], []]),
    ],
    ids=[
        "missing", "one too many", "reordered", "repeated index", "zero", "short", "long", "nan", "inf",
        "text", "null", "base64", "empty",
    ],
)  # fmt: skip
def test_a_broken_answer_is_never_believed(server: OpenAIServer, broken: Any) -> None:
    reply = broken(server)
    server.enqueue(reply)
    assert_vectors(server, ["one", "two"], embedder_of(server).embed_passages(["one", "two"]))

    server.script = lambda request: reply if len(request.texts) == 2 else server.reply_with([])
    with pytest.raises(EmbeddingUnavailable, match="bad answer"):
        embedder_of(server).embed_passages(["one", "two"])


def test_vectors_are_scaled_to_length_one(server: OpenAIServer) -> None:
    server.script = lambda request: server.reply_with([[1e300] * 16 for _ in request.texts])
    [vector] = embedder_of(server).embed_passages(["one"])
    assert isinstance(vector, np.ndarray)
    np.testing.assert_allclose(vector, [0.25] * 16)


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize("message", ["input 5 is not acceptable", "a text is not acceptable"])
def test_one_refused_text_is_isolated_and_the_others_get_their_vectors(
    server: OpenAIServer, status: int, message: str
) -> None:
    texts = texts_of(16)
    texts[5] = "poison"
    server.script = lambda r: error_reply(status, message) if any("poison" in t for t in r.texts) else None
    answers = embedder_of(server).embed_passages(texts)
    assert answers[5] == Refusal(f"HTTP {status}: {message}")
    del texts[5], answers[5]
    assert_vectors(server, texts, answers)


def test_a_server_that_takes_only_small_batches_is_given_small_ones(server: OpenAIServer) -> None:
    server.script = lambda r: error_reply(413, "batch too large") if len(r.texts) > 8 else None
    texts = texts_of(32)
    assert_vectors(server, texts, embedder_of(server).embed_passages(texts))


def test_a_text_that_alone_makes_the_model_fail_is_isolated(server: OpenAIServer) -> None:
    def nan_for_poison(request: Request) -> Reply | None:
        if "poison" not in request.texts:
            return None
        vectors = server.vectors_of(request.texts)
        vectors[request.texts.index("poison")] = [float("nan")] * 16
        return server.reply_with(vectors)

    server.script = nan_for_poison
    answers = embedder_of(server).embed_passages(["one", "poison", "two"])
    assert isinstance(answers[1], Refusal)
    assert "not finite" in answers[1].reason
    assert_vectors(server, ["one", "two"], [answers[0], answers[2]])


def test_a_server_that_refuses_everything_condemns_no_text(server: OpenAIServer) -> None:
    server.script = lambda r: error_reply(400, "this model does not support dimensions")
    with pytest.raises(EmbeddingUnavailable, match="every text: HTTP 400: this model does not support"):
        embedder_of(server).embed_passages(texts_of(64))
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        (error_reply(401, "bad key"), "check OPENAI_API_KEY"),
        (error_reply(403, "not yours"), "OPENAI_API_KEY may use the model in RAG_EMBEDDING_MODEL"),
        (error_reply(404, "no such model"), "check RAG_EMBEDDING_BASE_URL and RAG_EMBEDDING_MODEL"),
        (error_reply(405, "no"), "check RAG_EMBEDDING_BASE_URL"),
        (error_reply(429, "pay first", code="insufficient_quota"), "quota is used up"),
    ],
)
def test_what_cannot_pass_fails_at_once_with_advice(server: OpenAIServer, reply: Reply, advice: str) -> None:
    server.script = lambda request: reply
    with pytest.raises(EmbeddingUnavailable, match=advice):
        embedder_of(server, batch_items=2, concurrency=1).embed_passages(texts_of(2))
    assert len(server.requests) == 1


def test_it_gives_up_after_the_allowed_retries(server: OpenAIServer) -> None:
    server.script = lambda request: error_reply(503, "overloaded")
    policy = RetryPolicy(max_retries=2, base_seconds=0.01)
    with pytest.raises(EmbeddingUnavailable, match="HTTP 503: overloaded \\(3 tries"):
        embedder_of(server, retry_policy=policy).embed_passages(["one"])
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"retry-after": "1"}, 1.0),
        ({"retry-after-ms": "600"}, 0.6),
        ({"retry-after": formatdate(time.time() + 100_000, usegmt=True)}, None),
        ({"retry-after": "100000"}, None),
    ],
    ids=["seconds", "milliseconds", "far date", "far seconds"],
)
def test_retry_after_is_honoured_or_else_nothing_is_sent(
    server: OpenAIServer, headers: dict[str, str], least: float | None
) -> None:
    server.enqueue(error_reply(429, "slow down", headers))
    embedder = embedder_of(server)
    if least is None:
        with pytest.raises(EmbeddingUnavailable, match="asked to wait"):
            embedder.embed_passages(["one"])
        assert len(server.requests) == 1
    else:
        embedder.embed_passages(["one"])
        first, second = server.requests
        assert second.started - first.started >= least


def test_slow_answers_time_out_whether_silent_or_trickling(server: OpenAIServer) -> None:
    silent = Reply(200, b"{}", delay_seconds=2.0)
    trickling = Reply(200, b" " * 200, byte_by_byte=True)
    server.enqueue(silent, trickling)
    embedder = embedder_of(server, timeout_seconds=0.8)
    assert_vectors(server, ["one"], embedder.embed_passages(["one"]))
    assert len(server.requests) == 3


def test_a_server_that_is_not_there_is_named_as_such() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        embedder = OpenAIEmbedder(
            model="m",
            base_url=url,
            dimensions=4,
            max_tokens=512,
            retry_policy=RetryPolicy(1, base_seconds=0.01),
        )
        with pytest.raises(EmbeddingUnavailable, match="no connection to the embedding endpoint"):
            embedder.embed_passages(["one"])


def test_one_failed_batch_stops_those_that_wait(server: OpenAIServer) -> None:
    def script(request: Request) -> Reply:
        if "passage number 0" in request.texts:
            return Reply(401, b"{}", delay_seconds=0.3)
        return error_reply(429, "slow down", {"retry-after": "200"})

    server.script = script
    embedder = embedder_of(
        server, batch_items=1, concurrency=2, retry_policy=RetryPolicy(total_seconds=1_000)
    )
    with pytest.raises(EmbeddingUnavailable, match="check OPENAI_API_KEY"):
        embedder.embed_passages(texts_of(8))


def test_empty_and_overlong_texts_are_refused_before_they_are_sent(server: OpenAIServer) -> None:
    answers = embedder_of(server, max_tokens=100).embed_passages(["", " \n", "one", "word " * 100])
    assert answers[0] == answers[1] == Refusal("the text is empty")
    assert isinstance(answers[3], Refusal)
    assert "the model reads 24" in answers[3].reason
    assert_vectors(server, ["one"], [answers[2]])
    assert [request.texts for request in server.requests] == [["one"]]


def test_nothing_to_embed_asks_nothing(server: OpenAIServer) -> None:
    assert embedder_of(server).embed_passages([]) == []
    assert embedder_of(server).embed_queries([]) == []
    assert server.requests == []


def test_text_that_is_not_valid_unicode_is_sent_as_valid(server: OpenAIServer) -> None:
    embedder_of(server).embed_passages(["a\ud800b\0c", "\ud83d\ude00"])
    assert server.requests[0].texts == ["a\ufffdb c", "\U0001f600"]


def test_a_refused_question_is_an_error(server: OpenAIServer) -> None:
    server.script = lambda r: error_reply(400, "not that") if "bad" in r.texts else None
    with pytest.raises(EmbeddingUnavailable, match="refuses the question: HTTP 400: not that"):
        embedder_of(server).embed_queries(["bad"])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"base_url": None, "api_key": None}, "OPENAI_API_KEY"),
        ({"base_url": None, "api_key": ""}, "OPENAI_API_KEY"),
        ({"api_key": "two words"}, "OPENAI_API_KEY"),
        ({"api_key": "sk-key\n"}, "OPENAI_API_KEY"),
        ({"dimensions": None}, "RAG_EMBEDDING_DIMENSIONS"),
        ({"max_tokens": None}, "RAG_EMBEDDING_MAX_TOKENS"),
        ({"base_url": "localhost:8080"}, "RAG_EMBEDDING_BASE_URL"),
        ({"base_url": "http://[::1/v1"}, "RAG_EMBEDDING_BASE_URL"),
        ({"base_url": "https://me:secret@host/v1"}, "RAG_EMBEDDING_BASE_URL"),
        ({"batch_items": 2_049}, "2048"),
        ({"tokenizer_file": Path("absent.json")}, "RAG_EMBEDDING_TOKENIZER_FILE"),
    ],
)
def test_a_wrong_setting_is_named(options: dict[str, Any], named: str, server: OpenAIServer) -> None:
    with pytest.raises(ConfigurationError, match=named) as caught:
        embedder_of(server, **options)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "dimensions"),
    [
        ("text-embedding-3-small", 1_536),
        ("text-embedding-3-large", 3_072),
        ("text-embedding-ada-002", 1_536),
    ],
)
def test_openai_models_need_no_sizes(model: str, dimensions: int) -> None:
    embedder = OpenAIEmbedder(model=model, api_key=KEY)
    assert embedder.identity.dimensions == dimensions
    assert embedder.max_tokens == 2_047


def test_the_key_is_in_no_error_log_or_repr(server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"Incorrect API key provided: {KEY}"
    bad_answer = server.reply_with([[0.5]])
    replies = [
        *(error_reply(status, echo) for status in (400, 401, 403, 404, 413, 418, 422, 429, 500)),
        error_reply(429, echo, code="insufficient_quota"),
        Reply(401, json.dumps({"detail": [echo]}).encode()),
        Reply(500, echo.encode()),
        Reply(200, echo.encode()),
        Reply(200, json.dumps({"data": [{"index": echo, "embedding": echo}]}).encode()),
        Reply(200, json.dumps({KEY: KEY, "data": [{KEY: KEY}]}).encode()),
        Reply(307, b"", {"location": "http://127.0.0.1:1/elsewhere"}),
        Reply(200, b"{}", delay_seconds=0.6),
        bad_answer,
    ]
    policy = RetryPolicy(max_retries=1, bad_answer_retries=1, base_seconds=0.001)
    seen = []
    for reply in replies:
        server.script = lambda request, reply=reply: reply  # type: ignore[misc]
        embedder = embedder_of(server, timeout_seconds=0.3, retry_policy=policy)
        seen.append(repr(embedder) + str(vars(embedder)))
        with pytest.raises(EmbeddingUnavailable) as caught:
            embedder.embed_passages(["one"])
        error: BaseException | None = caught.value
        while error is not None:
            seen.append("".join(traceback.format_exception(error)) + repr(vars(error)))
            error = error.__cause__ or error.__context__
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "HTTP Request" in caplog.text  # the HTTP client did log
    assert KEY not in "".join(seen)
    assert KEY not in caplog.text
