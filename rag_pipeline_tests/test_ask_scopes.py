"""What a caller may not see changes nothing of what asking tells, records or sends to a model."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.index.store import StoreLocation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query import ask
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.response import AskResponse
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.trace import Outcome
from rag_pipeline.services import Services
from rag_pipeline.settings import Settings
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline_tests.chat_server import drafted, model_that, thought
from rag_pipeline_tests.openai_server import OpenAIServer
from rag_pipeline_tests.scoped_books import (
    AUDIENCES,
    ENVIRONMENTS,
    FIRST_DAY,
    GROUPS,
    TENANT,
    books,
    mostly,
    permitted,
    scopes,
    some,
)
from rag_pipeline_tests.shelf import Book, Shelf, open_shelf

QUERIES = ["How many days do refunds take?", "退款", "Word1x0"]


class ShelfServices(Services):
    """Asks a shelf through its own open client, with the manifests of the moment."""

    def __init__(self, settings: Settings, shelf: Shelf) -> None:
        super().__init__(settings)
        self.ledger = shelf.ledger
        self._shelf = shelf
        self.known: Mapping[str, Manifest] = {}

    def manifests(self) -> Mapping[str, Manifest]:  # type: ignore[override]
        return self.known

    def embedder_of(self, model: Mapping[str, Any]) -> HashingEmbedder:
        return self._shelf.embedder

    @contextmanager
    def open_store(self, *, wait_seconds: float) -> Iterator[QdrantClient]:
        yield self._shelf.client


@pytest.fixture
def shelf(store_location: StoreLocation, ledger: Ledger, alias: str) -> Iterator[Shelf]:
    with open_shelf(store_location, ledger, alias) as opened:
        yield opened


@pytest.fixture
def model_server() -> Iterator[OpenAIServer]:
    with OpenAIServer().running() as server:
        server.script = model_that(drafted("Refunds take 1 days."), thought())
        yield server


def manifest(source_id: str, **facts: Any) -> Manifest:
    return Manifest.model_validate(
        {
            "source_id": source_id,
            "title": source_id,
            "system": "wiki",
            "owner": "support-team",
            "trust_tier": 1,
            "location": {"url": "files"},
            **facts,
        }
    )


manifests = st.fixed_dictionaries(
    {
        source: st.builds(
            manifest,
            st.just(source),
            source_type=st.just("official_policy"),
            lifecycle=mostly(st.just("active"), st.just("deprecated")),
            tenant=TENANT,
            audience=some(AUDIENCES, least=1),
            environments=some(ENVIRONMENTS, least=1),
            access_rules=some(GROUPS[:2]).map(
                lambda roles: {"require_auth": True, "allowed_roles": list(roles)}
            )
            | st.just({"require_auth": False}),
        )
        for source in ("s1", "s2")
    }
)


def grants(manifest: Manifest, scope: Scope) -> bool:
    """The rule once more, in other words."""
    seen = {"public", *scope.identity.groups} & set(manifest.access_groups)
    return manifest.tenant == scope.identity.tenant and bool(seen)


def body_of(scope: Scope) -> dict[str, Any]:
    """The request that narrows to a scope."""
    filters = {
        "sources": list(scope.source_ids),
        "source_types": list(scope.source_types),
        "languages": list(scope.languages),
    }
    return {
        "question": QUERIES[0],
        "queries": QUERIES,
        "as_of": scope.as_of.isoformat(),
        "environment": scope.environment,
        "audience": scope.audience,
        "filters": {name: values for name, values in filters.items() if values},
    }


def asked(
    services: ShelfServices, shelf: Shelf, scope: Scope, stored: Sequence[Book]
) -> tuple[AskResponse, dict[str, Any]]:
    shelf.clear()
    shelf.put(stored)
    # What is kept from one request to the next was measured with what the first one could see.
    services.baselines = Baselines()
    response = ask(body_of(scope), scope.identity, services)
    trace = services.ledger.traces.get(response.trace_id)
    assert trace is not None
    return response, dict(trace)


@pytest.mark.parametrize("with_model", [False, True])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stored=books(), scope=scopes, known=manifests)
def test_what_may_not_be_seen_changes_nothing(
    shelf: Shelf,
    model_server: OpenAIServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    with_model: bool,
    stored: list[Book],
    scope: Scope,
    known: dict[str, Manifest],
) -> None:
    caplog.clear()
    model_server.requests.clear()
    model: dict[str, Any] = {
        "answer_provider": "openai", "answer_model": "m", "answer_base_url": model_server.base_url,
    }  # fmt: skip
    settings = Settings(
        home=tmp_path, alias=shelf.alias, min_relevance=0.0, max_evidence=50, trace_texts=True,
        **(model if with_model else {}),
    )  # fmt: skip
    services = ShelfServices(settings, shelf)
    services.known = known
    # What the request narrows away is no secret: how rare its words are may count.
    whole = Scope(scope.identity, as_of=scope.as_of)
    visible = [
        book
        for book in stored
        if permitted(book, whole) and grants(known[book.document_id.split("/")[0]], scope)
    ]
    seen = [book for book in visible if permitted(book, scope)]
    response, trace = asked(services, shelf, scope, stored)
    told = "\n".join(
        (
            response.model_dump_json(),
            json.dumps(trace, default=str, ensure_ascii=False),
            caplog.text,
            *(json.dumps(one.body, ensure_ascii=False) for one in model_server.requests),
        )
    )
    for book in stored:
        if book not in seen:
            words = [
                f'{book.document_id}"',
                f"{book.document_id}:",
                *(text.split()[-1] for text in book.texts),
            ]
            assert not any(word in told for word in words), book
    assert {one["document_id"] for one in trace["evidence"]} <= {book.document_id for book in seen}
    assert all(grants(known[source], scope) for source in trace["sources"])
    alone, trace_alone = asked(services, shelf, scope, visible)
    assert counts(response, trace) == counts(alone, trace_alone)


def counts(response: AskResponse, trace: dict[str, Any]) -> tuple[Any, ...]:
    """What could tell how much there is that may not be seen."""
    return (
        response.outcome,
        len(response.citations),
        sorted((one["chunk_id"], round(one["relevance"], 5)) for one in trace["evidence"]),
        sorted(
            (one["chunk_id"], one["reason"], round(one["relevance"] or 0, 5)) for one in trace["rejected"]
        ),
        [len(one["positions"]) for one in trace["conflicts"]],
        trace["sources"],
        trace["queries"],
        trace["reason"],
        [one["step"] for one in trace["steps"]],
    )


def test_something_is_answered(shelf: Shelf, tmp_path: Path) -> None:
    """So that the test above does not hold because nothing is ever found."""
    services = ShelfServices(Settings(home=tmp_path, alias=shelf.alias, min_relevance=0.0), shelf)
    everybody = {"require_auth": False}
    services.known = {
        "s1": manifest(
            "s1", source_type="official_policy", lifecycle="active", tenant="a", audience=["support"],
            environments=["production"], access_rules=everybody,
        )
    }  # fmt: skip
    scope = Scope(identity=Identity(tenant="a"), as_of=FIRST_DAY)
    response, _ = asked(
        services, shelf, scope, [Book("s1/1", ["Refunds take 3 days. Word1."], {"tenant": "a"})]
    )
    assert response.outcome is Outcome.ANSWERED
    assert "3 days" in response.answer
