"""Retrieval as a caller gets it: by identity, within the manifests of this moment, without an answer."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.record import AskServices
from rag_pipeline.query.request import parse_request
from rag_pipeline.query.results import QueryResult
from rag_pipeline.query.retrieval import Retrieved, retrieve
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.visibility import within_manifests


def retrieve_for(
    identity: Identity, queries: Sequence[str], services: AskServices, *, limit: int = 10
) -> list[QueryResult]:
    """What each query finds of what the caller may see today, each by itself.

    What has no manifest is not searched. Raises InvalidRequest for queries that cannot be used,
    ConfigurationError where nothing is indexed, StoreError and EmbeddingUnavailable.
    """
    asked = parse_request({"question": next(iter(queries), ""), "queries": list(queries)}).queries or ()
    scope = within_manifests(Scope(identity, as_of=datetime.now(UTC)), services.manifests())
    if scope is None:
        return [QueryResult(query, ()) for query in asked]
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
