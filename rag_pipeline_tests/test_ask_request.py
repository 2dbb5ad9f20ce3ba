"""What may be asked for, and what is told of what may not."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from rag_pipeline.cli import app
from rag_pipeline.errors import InvalidRequest
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.request import AskRequest, parse_request


def refused(body: Any) -> str:
    with pytest.raises(InvalidRequest) as caught:
        parse_request(body)
    return str(caught.value)


def test_a_question_alone_is_a_request() -> None:
    assert parse_request({"question": "  How long?\n"}).question == "How long?"


def test_everything_else_is_optional() -> None:
    request = parse_request(
        {
            "question": "How long?",
            "session_id": "chat-7",
            "queries": ["refund time", "退款期限"],
            "audience": "support",
            "environment": "production",
            "as_of": "2025-06-01",
            "filters": {"sources": "refund_policy", "source_types": ["official_policy"]},
        }
    )
    assert request.as_of == datetime(2025, 6, 1, tzinfo=UTC)
    assert request.filters.sources == ("refund_policy",)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "question"),
        ({"question": ""}, "question"),
        ({"question": " \n "}, "question"),
        ({"question": "?!"}, "letter or digit"),
        ({"question": "a" * 2_001}, "question"),
        ({"question": "how\x00long"}, "U+0000"),
        ({"question": "how \u202elong"}, "U+202E"),
        ({"question": "how \ud800"}, "question"),
        ({"question": 7}, "question"),
        ({"question": "How long?", "queries": []}, "queries"),
        ({"question": "How long?", "queries": ["a"] * 6}, "queries"),
        ({"question": "How long?", "queries": ["ok", " "]}, "queries.1"),
        ({"question": "How long?", "as_of": "tomorrow"}, "as_of"),
        ({"question": "How long?", "as_of": "2026-02-30"}, "as_of"),
        ({"question": "How long?", "filters": {"sources": []}}, "filters.sources"),
        ({"question": "How long?", "filters": {"sources": ["../etc"]}}, "filters.sources"),
        ({"question": "How long?", "filters": {"source_types": ["gossip"]}}, "filters.source_types"),
        ({"question": "How long?", "filters": {"access_groups": ["hr"]}}, "filters.access_groups"),
        ({"question": "How long?", "session_id": "a b"}, "session_id"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(body: dict[str, Any], told: str) -> None:
    assert told in refused(body)


@pytest.mark.parametrize("field", ["groups", "user", "tenant", "identity", "access_groups"])
def test_a_body_cannot_say_who_asks(field: str) -> None:
    assert field in refused({"question": "How long?", field: ["hr"]})


@pytest.mark.parametrize("option", ["--groups", "--user", "--tenant"])
def test_who_asks_is_text(option: str) -> None:
    result = CliRunner().invoke(app, ["ask", "How long?", option, "a\udcff"])
    assert result.exit_code == 2
    assert option in result.output
    assert isinstance(result.exception, SystemExit)


def test_a_trace_holds_a_hash_of_any_caller() -> None:
    digests = {Identity(user, frozenset({"\ud800"})).digest for user in ("\udcff", "\udcfe", None)}
    assert len(digests) == 3


def test_values_are_not_repeated() -> None:
    assert "hunter2" not in refused({"question": "How long?", "password": "hunter2"})


@pytest.mark.parametrize(
    "body",
    [
        {"question": "How long?", "filters": {"source_types": ["x" * 50] * 20_000}},
        {"question": "How long?", "filters": {"languages": [5] * 20_000}},
        {"question": "How long?", "queries": [5] * 20_000},
        {"question": "How long?", **{f"field{number}": 1 for number in range(20_000)}},
        {"question": "How long?", "f" * 1_000_000: 1},
    ],
)  # fmt: skip
def test_what_is_told_of_a_hostile_body_stays_short(body: dict[str, Any]) -> None:
    assert len(refused(body)) < 1_500


def test_what_is_not_told_is_counted() -> None:
    assert refused({"question": "How long?", **dict.fromkeys("abcdefg")}).endswith("; and 2 more")


def test_names_of_fields_are_told_without_what_a_terminal_would_obey() -> None:
    told = refused({"question": "How long?", "a\x1b[2J\u202eb": 1})
    assert told.isprintable()
    assert told.startswith("a\ufffd[2J\ufffdb: ")


@given(st.dictionaries(st.text(max_size=10), st.recursive(st.none() | st.text() | st.integers(), st.lists)))
def test_any_body_is_a_request_or_is_refused_in_words(body: dict[str, Any]) -> None:
    try:
        outcome: AskRequest | str = parse_request(body)
    except InvalidRequest as error:
        outcome = str(error)
    assert outcome
