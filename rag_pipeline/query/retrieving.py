"""Retrieval as a caller gets it: by identity, within the manifests of this moment, without an answer."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.record import AskServices
from rag_pipeline.query.request import parse_request
from rag_pipeline.query.results import QueryResult
from rag_pipeline.query.retrieval import Retrieved, retrieve
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.visibility import hidden_sources


def retrieve_for(
    identity: Identity, queries: Sequence[str], services: AskServices, *, limit: int = 10
) -> list[QueryResult]:
    """What each query finds of what the caller may see today, each by itself.

    What has no manifest is not searched. Raises InvalidRequest for queries that cannot be used,
    ConfigurationError where nothing is indexed, StoreError and EmbeddingUnavailable.
    """
    asked = parse_request({"question": next(iter(queries), ""), "queries": list(queries)}).queries or ()
    scope = Scope(identity, as_of=datetime.now(UTC))
    manifests = services.manifests()
    hidden = hidden_sources(manifests, scope)
    visible = tuple(sorted(manifests.keys() - set(hidden)))
    if not visible:
        # No source in a scope would be no narrowing at all.
        return [QueryResult(query, ()) for query in asked]
    scope = replace(scope, source_ids=visible, hidden_sources=hidden)
    deadline = Deadline(services.asking.deadline_seconds)
    return retrieve_within(scope, asked, services, deadline=deadline, limit=limit).results


def retrieve_within(
    scope: Scope, queries: Sequence[str], services: AskServices, *, deadline: Deadline, limit: int
) -> Retrieved:
    """What each query finds within a scope, by the services' settings. Raises what `retrieve` does."""
    return retrieve(
        queries,
        scope,
        open_client=lambda: services.open_store(wait_seconds=deadline.remaining),
        alias=services.asking.alias,
        generation=services.asking.generation,
        embedder_of=services.embedder_of,
        ledger=services.ledger,
        baselines=services.baselines,
        options=services.retrieval_options(limit=limit),
        deadline=deadline,
    )
