"""Options of retrieval: neighbours, near duplicates, chunks a document, and a reranker over real HTTP."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from rag_pipeline.index.store import StoreLocation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.near_duplicates import nearly_the_same
from rag_pipeline.query.reranking import Reranker
from rag_pipeline.query.results import QueryResult
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline_tests.knowledge_base import scope_of
from rag_pipeline_tests.qdrant_server import free_ports
from rag_pipeline_tests.shelf import Book, Shelf, open_shelf

KEY = "key-that-nobody-may-read"
RULE = (
    "Hardware that was bought in the shop goes back by parcel, with the label that the customer finds in the "
    "account, and the money is paid to the card that was used when the order was placed."
)


@pytest.fixture
def shelf(store_location: StoreLocation, ledger: Ledger, alias: str) -> Iterator[Shelf]:
    with open_shelf(store_location, ledger, alias) as opened:
        yield opened


def found(result: QueryResult) -> list[str]:
    return [chunk.chunk_id for chunk in result.chunks]


def reasons(result: QueryResult) -> dict[str, str]:
    return {one.chunk_id: one.reason for one in result.rejected}


def test_neighbours_of_the_same_section_are_joined_under_the_same_filter(shelf: Shelf) -> None:
    texts = ["First some words.", "Zebras are striped.", "They live on grass.", "Nothing of that."]
    shelf.put([Book("s/page", texts, section_path=("Animals",)), Book("s/other", ["Elsewhere it rains."])])
    options = RetrievalOptions(limit=1, min_relevance=0.0, neighbours=1)
    (result,) = shelf.ask(["striped zebras"], scope_of(), options)
    assert found(result) == ["s/page:1", "s/page:0", "s/page:2"]
    assert [chunk.joined_to for chunk in result.chunks] == [None, "s/page:1", "s/page:1"]
    assert {chunk.relevance for chunk in result.chunks} == {result.chunks[0].relevance}


def test_near_duplicates_are_one_chunk_of_the_most_trusted(shelf: Shelf) -> None:
    shelf.put(
        [
            Book("s/forum", [RULE], {"trust_tier": 5}),
            Book("s/policy", [RULE.replace("parcel,", "parcel")], {"trust_tier": 1}),
            Book("s/copy", [RULE.upper()], {"trust_tier": 3}),
        ]
    )
    (result,) = shelf.ask(["how does hardware go back"], scope_of(), RetrievalOptions(min_relevance=0.0))
    assert found(result) == ["s/policy:0"]
    assert set(reasons(result).values()) == {"nearly the same as another"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (RULE, RULE.replace(",", ";"), True),
        (RULE, f"{RULE} Within 14 days.", False),
        (f"{RULE} Within 14 days.", f"{RULE} Within 30 days.", False),
        (RULE, RULE.replace("is paid", "is not paid"), False),
        (f"{RULE} In two weeks.", f"{RULE} In six weeks.", False),
        ("硬件可以在收到后通过包裹寄回商店" * 3, "硬件不可以在收到后通过包裹寄回商店" * 3, False),
        (RULE, "Something else altogether is written here.", False),
    ],
)
def test_what_says_something_different_is_no_duplicate(one: str, other: str, same: bool) -> None:
    assert nearly_the_same(one, other) is nearly_the_same(other, one) is same


def test_a_document_does_not_crowd_out_the_others(shelf: Shelf) -> None:
    texts = [f"Refunds of kind {name} are paid in time." for name in ("alpha", "beta", "gamma", "delta")]
    shelf.put([Book("s/long", texts), Book("s/short", ["Refunds are a topic of this page too."])])
    options = RetrievalOptions(limit=4, min_relevance=0.0, per_document=2)
    (result,) = shelf.ask(["refunds of all kinds"], scope_of(), options)
    assert sorted(one.split(":")[0] for one in found(result)) == ["s/long", "s/long", "s/short"]
    assert "there are enough chunks of its document" in reasons(result).values()


@contextmanager
def rerank_server(answer: Any, status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that gives the answer to every request; its base URL, and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"path": self.path, "key": self.headers["Authorization"], **body})
            given = answer(body["documents"]) if callable(answer) else answer
            content = given if isinstance(given, bytes) else json.dumps(given).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def shortest_first(documents: Sequence[str]) -> Mapping[str, Any]:
    return {"results": [{"index": n, "relevance_score": -len(text)} for n, text in enumerate(documents)]}


BOOKS = [
    Book("s/long", ["Refunds, refunds, refunds: all about how refunds are paid to customers, and when."]),
    Book("s/short", ["Refunds are paid."]),
]


def ask_reranked(shelf: Shelf, url: str) -> QueryResult:
    shelf.put(BOOKS)
    reranker = Reranker(url, "ranker", api_key=SecretStr(KEY), timeout_seconds=5)
    (result,) = shelf.ask(["refunds"], scope_of(), RetrievalOptions(min_relevance=0.0, reranker=reranker))
    return result


@pytest.mark.parametrize("store_location", ["embedded"], indirect=True)
def test_a_reranker_orders_what_was_found(shelf: Shelf) -> None:
    with rerank_server(shortest_first) as (url, asked):
        result = ask_reranked(shelf, url)
    assert found(result) == ["s/short:0", "s/long:0"]
    assert result.notes == ()
    assert [chunk.signals.rank for chunk in result.chunks] == [1, 2]
    (one,) = asked
    assert (one["path"], one["model"], one["query"]) == ("/v1/rerank", "ranker", "refunds")
    assert one["key"] == f"Bearer {KEY}"
    assert len(one["documents"]) == 2


@pytest.mark.parametrize("store_location", ["embedded"], indirect=True)
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"error": KEY}, 500),
        (b"no json", 200),
        ({"results": []}, 200),
        ({"results": [{"index": 7, "relevance_score": 1.0}]}, 200),
        ({"results": [{"index": -1, "relevance_score": 1.0}]}, 200),
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', 200),
        (None, 0),
    ],
)
def test_a_reranker_that_fails_leaves_the_order_and_is_told(
    shelf: Shelf, answer: Any, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    if status:
        with rerank_server(answer, status) as (url, _):
            result = ask_reranked(shelf, url)
    else:
        result = ask_reranked(shelf, f"http://127.0.0.1:{free_ports(1)[0]}")
    assert len(found(result)) == 2
    (note,) = result.notes
    assert "reranking failed" in note
    assert note in caplog.text
    assert KEY not in note
