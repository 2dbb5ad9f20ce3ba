"""Nothing beyond a request's scope reaches its results, rejected chunks or messages, on either store."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient, models

from rag_pipeline.index.schema import PointPayload
from rag_pipeline.index.store import StoreLocation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.results import QueryResult, public_json
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline_tests.knowledge_base import scope_of
from rag_pipeline_tests.scoped_books import FIRST_DAY, books, day, permitted, scopes
from rag_pipeline_tests.shelf import Book, Shelf, open_shelf

ALL = RetrievalOptions(limit=100, min_relevance=0.0, collapse_duplicates=False)


@pytest.fixture
def shelf(store_location: StoreLocation, ledger: Ledger, alias: str) -> Iterator[Shelf]:
    with open_shelf(store_location, ledger, alias) as opened:
        yield opened


def chunk_ids(results: list[QueryResult]) -> set[str]:
    return {chunk.chunk_id for result in results for chunk in result.chunks}


# Asked by a word of the document, by what all have, by a Chinese word, and by what has no terms at all.
QUERIES = ["how many days do refunds take", "退款", "?"]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stored=books(), scope=scopes, sure=st.booleans())
def test_nothing_beyond_the_scope_is_told_and_nothing_within_it_is_missed(
    shelf: Shelf, stored: list[Book], scope: Scope, sure: bool
) -> None:
    shelf.clear()
    shelf.put(stored)
    allowed = [book for book in stored if permitted(book, scope)]
    current = [book for book in allowed if book.known and book.recorded_hash == "c" * 64]
    options = RetrievalOptions(limit=100, per_document=1, neighbours=1) if sure else ALL
    results = shelf.ask(QUERIES, scope, options)
    wanted = {f"{book.document_id}:{index}" for book in current for index in range(len(book.texts))}
    assert chunk_ids(results) <= wanted
    if not sure:
        assert [{chunk.chunk_id for chunk in one.chunks} for one in results] == [wanted] * len(QUERIES)
        assert all((one.message is None) == bool(wanted) for one in results)
    told = repr(results) + json.dumps(public_json(results, {}))
    for book in stored:
        if book not in allowed:
            words = [book.document_id + ":", *(text.split()[-1] for text in book.texts)]
            assert not any(word in told for word in words), book
    rejected = {one.document_id for result in results for one in result.rejected}
    assert rejected <= {book.document_id for book in allowed}


def test_what_is_allowed_is_found_behind_hundreds_that_are_not(shelf: Shelf) -> None:
    question = "How many days do refunds take in the north?"
    better = [
        Book(f"secret/{n}", [f"{question} Refunds take {n} days in the north."], {"access_groups": ["hr"]})
        for n in range(500)
    ]
    shelf.put([*better, Book("open/page", ["Refunds of hardware are paid by bank transfer."])])
    (result,) = shelf.ask([question], scope_of("support"), ALL)
    assert [chunk.document_id for chunk in result.chunks] == ["open/page"]
    (result,) = shelf.ask(
        [question], scope_of("hr"), RetrievalOptions(limit=600, min_relevance=0.0, collapse_duplicates=False)
    )
    assert result.chunks[-1].document_id == "open/page"
    assert len(result.chunks) == 501


def test_what_the_ledger_withdrew_is_fetched_over_for(shelf: Shelf) -> None:
    question = "How many days do refunds take in the north?"
    gone = [
        Book(f"secret/{n}", [f"{question} Refunds take {n} days in the north."], readers=[])
        for n in range(150)
    ]
    shelf.put([*gone, Book("open/page", ["Refunds of hardware are paid by bank transfer."])])
    (result,) = shelf.ask([question], scope_of(), RetrievalOptions(limit=3, min_relevance=0.0))
    assert [chunk.document_id for chunk in result.chunks] == ["open/page"]
    assert result.rejected == ()


class Meddling:
    """A client that withdraws a chunk as soon as the first search has found it."""

    def __init__(self, shelf: Shelf, chunk_id: str) -> None:
        self._client, self._shelf, self._left = shelf.client, shelf, [chunk_id]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def query_batch_points(self, *arguments: Any, **named: Any) -> Any:
        answers = self._client.query_batch_points(*arguments, **named)
        while self._left:
            chosen = models.FieldCondition(key="chunk_id", match=models.MatchValue(value=self._left.pop()))
            withdrawn = models.Filter(must=[chosen])
            self._client.set_payload(self._shelf.collection, {"published": False}, withdrawn, wait=True)
        return answers


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_what_is_withdrawn_between_search_and_reading_is_not_handed_on(shelf: Shelf, limit: int) -> None:
    shelf.put(Book(f"s/{n}", [f"Refunds {'of refunds ' * (3 - n)}take days."]) for n in range(3))
    options = RetrievalOptions(limit=limit, min_relevance=0.0, collapse_duplicates=False)
    (before,) = shelf.ask(["refunds"], scope_of(), options)
    withdrawn = before.chunks[0].chunk_id
    shelf.client = cast(QdrantClient, Meddling(shelf, withdrawn))
    (result,) = shelf.ask(["refunds"], scope_of(), options)
    assert len(result.chunks) == min(limit, 2)
    assert withdrawn not in chunk_ids([result])


@pytest.mark.parametrize(
    ("moment", "seen"),
    [
        (-1, {"always"}),
        (0, {"always", "old"}),
        (2, {"always", "old"}),
        (3, {"always", "new"}),
        (9, {"always", "new"}),
    ],
)
def test_the_version_that_held_at_the_moment_asked_for_is_found(
    shelf: Shelf, moment: int, seen: set[str]
) -> None:
    text = ["Refunds take some days."]
    shelf.put(
        [
            Book("s/always", text),
            Book("s/old", text, {"effective_at": day(0), "valid_until": day(3)}),
            Book("s/new", text, {"effective_at": day(3)}),
        ]
    )
    results = shelf.ask(["refunds"], scope_of(as_of=FIRST_DAY + timedelta(days=moment)), ALL)
    assert {one.split("/")[1].split(":")[0] for one in chunk_ids(results)} == seen


def test_a_point_without_a_required_field_is_rejected_and_the_others_are_found(shelf: Shelf) -> None:
    shelf.put(Book(f"s/{n}", [f"Refunds take {n} days."]) for n in range(4))
    shelf.overwrite("s/1:0", without="owner")
    shelf.overwrite("s/2:0", without="document_id")
    shelf.overwrite("s/3:0", without="title")
    (result,) = shelf.ask(["refunds"], scope_of(), ALL)
    assert [chunk.document_id for chunk in result.chunks] == ["s/0"]
    reasons = {(one.chunk_id, one.document_id, one.reason) for one in result.rejected}
    assert reasons == {
        ("s/1:0", "s/1", "lacks the field owner"),
        ("s/2:0", "", "lacks the field document_id"),
        ("s/3:0", "s/3", "lacks the field title"),
    }


def test_malformed_points_are_rejected_and_the_others_are_found(shelf: Shelf) -> None:
    shelf.put(Book(f"s/{n}", [f"Refunds take {n} days."]) for n in range(4))
    shelf.falsify("s/1:0", document_id=["x"])
    shelf.falsify("s/2:0", chunk_id=5, content_hash="d" * 64)
    shelf.falsify("s/3:0", chunk_id={"x": 1})
    (result,) = shelf.ask(["refunds"], scope_of(), ALL)
    assert [chunk.document_id for chunk in result.chunks] == ["s/0"]
    reasons = {(one.chunk_id, one.document_id, one.reason) for one in result.rejected}
    assert reasons == {
        ("s/1:0", "", "lacks the field document_id"),
        ("5", "s/2", "it is not of its document's current version"),
        ("{'x': 1}", "s/3", "has a wrong value in chunk_id"),
    }


def test_no_wrong_value_in_any_field_breaks_a_search(shelf: Shelf) -> None:
    fields = sorted(PointPayload.model_fields)
    shelf.put(Book(f"s/{n}", [f"Refunds take {n} days."]) for n in range(len(fields)))
    shelf.put([Book("s/good", ["Refunds take 99 days."])])
    for wrong in (5, "x", ["x"], {"x": [1]}, -1.5, False):
        for number, field in enumerate(fields):
            shelf.falsify(f"s/{number}:0", **{field: wrong})
        (result,) = shelf.ask(["refunds"], scope_of(), replace(ALL, neighbours=1, limit=100))
        assert "s/good" in {chunk.document_id for chunk in result.chunks}


def test_what_is_not_relevant_is_rejected_and_the_query_is_told_so_in_its_language(shelf: Shelf) -> None:
    shelf.put([Book("s/1", ["Refunds take 14 days after the parcel came back."])])
    found, dinner, 晚饭 = shelf.ask(
        ["How many days do refunds take?", "When are we having dinner tonight?", "今晚几点吃晚饭？"],
        scope_of(),
    )
    assert ([chunk.document_id for chunk in found.chunks], found.message) == (["s/1"], None)
    for result, words in ((dinner, "nothing useful"), (晚饭, "知识库")):
        assert not result.chunks
        assert words in str(result.message)
        assert [one.reason for one in result.rejected] == ["below the threshold"]
        assert result.rejected[0].relevance is not None
