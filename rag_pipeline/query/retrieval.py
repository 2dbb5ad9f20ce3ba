"""Retrieval: several queries, each searched by itself under one scope, told apart into useful and not.

Each query is searched by its dense vector and by BM25, fused by rank. Chunks whose calibrated relevance is
below the threshold are rejected: a query that finds nothing better gets none, never the least bad ones.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

from qdrant_client import QdrantClient

from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.errors import ConfigurationError, StoreError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.sparse import query_terms
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.beginnings import beginning
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.neighbours import join_neighbours
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.relevance.calibration import Calibration
from rag_pipeline.query.relevance.defaults import default_calibration
from rag_pipeline.query.relevance.references import UsualCosines
from rag_pipeline.query.results import QueryResult
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.searching import EmbeddedQuery, search
from rag_pipeline.query.selecting import RetrievalOptions, select

# How often a request is begun again because the generation that it searched was removed meanwhile.
_MOST_TRIES = 5

# Queries whose searches go to Qdrant together: more than a request holds, so that only benchmarks are split.
_QUERIES_A_REQUEST = 10

EmbedderOf = Callable[[Mapping[str, Any]], Embedder]
"""The embedder of a model, given as a generation's settings hold it."""

DEFAULT_OPTIONS = RetrievalOptions()


class Retrieved(NamedTuple):
    """What each query found, and the generation that was searched."""

    generation: str
    results: list[QueryResult]


def retrieve(
    queries: Sequence[str],
    scope: Scope,
    *,
    open_client: Callable[[], AbstractContextManager[QdrantClient]],
    alias: str,
    generation: str | None = None,
    embedder_of: EmbedderOf,
    ledger: Ledger,
    baselines: Baselines | None = None,
    options: RetrievalOptions = DEFAULT_OPTIONS,
    deadline: Deadline | None = None,
) -> Retrieved:
    """Search each query by itself within the scope.

    `embedder_of` gives the embedder of a model that a generation was built with, and refuses what it cannot
    give. The store is opened once the queries are embedded. The generation that the alias names at that
    moment answers all of them: one that is swapped in meanwhile is for the next request. A `generation` that
    is named is searched in place of it. Keep the
    `baselines` from one request to the next, or each measures its own. The `deadline` bounds the wait for an
    embedding endpoint and how often the store is asked; how long each answer of the store may take is up to
    whoever opens it. A query that is longer than the model's window is searched by all of its terms and by
    the vector of its beginning. Raises ConfigurationError where nothing was indexed under the alias, there is
    no such generation, or its model cannot be had.
    """
    baselines = baselines or Baselines()
    bound = deadline or Deadline(math.inf)
    expected = _wanted(ledger, alias, generation)
    tries = 0
    while True:
        embedder = embedder_of(expected.settings["model"])
        vectors = embedder.embed_queries(
            [beginning(query, embedder) for query in queries], timeout_seconds=bound.remaining
        )
        calibration = calibration_in_force(expected, options, baselines, ledger)
        usual: Sequence[UsualCosines | None] = [None] * len(vectors)
        if calibration.needs_usual:
            usual = baselines.references.usual(embedder, vectors)
        embedded = [
            EmbeddedQuery(query, vector, query_terms(query), one)
            for query, vector, one in zip(queries, vectors, usual, strict=True)
        ]
        live = None
        try:
            with open_client() as client:
                live = expected if generation else _aliased(client, ledger, alias, expected)
                if live.fingerprint == expected.fingerprint:
                    search = _Search(client, live.name, ledger, scope, baselines, calibration, options, bound)
                    return Retrieved(live.name, search.results(embedded))
        except StoreError:
            tries += 1
            now_live = _wanted(ledger, alias, generation)
            if live is None or live.name == now_live.name or tries > _MOST_TRIES:
                raise
            # It was swapped out, and removed, since the alias was asked.
            live = now_live
        # One of other settings may have been swapped in since the ledger was asked.
        expected = live


def calibration_in_force(
    generation: Generation, options: RetrievalOptions, baselines: Baselines, ledger: Ledger
) -> Calibration:
    """What tells relevance in a generation: the options' calibration, the fitted one, or its model's default.

    Raises ConfigurationError where a stored one cannot be used.
    """
    return (
        options.calibration
        or baselines.calibrations.of(generation.fingerprint, ledger.calibrations)
        or default_calibration(generation.settings["model"])
    )


def _wanted(ledger: Ledger, alias: str, generation: str | None) -> Generation:
    if generation:
        named = [one for one in ledger.generations.of_alias(alias) if one.name == generation]
        if not named:
            raise ConfigurationError(
                f"There is no generation {generation} under {alias}. See `rag-pipeline generations`."
            )
        return named[0]
    live = ledger.generations.live(alias)
    if live is None:
        raise ConfigurationError(
            f"Nothing is indexed under the alias {alias} yet. Run `rag-pipeline index`, or set RAG_ALIAS."
        )
    return live


def _aliased(client: QdrantClient, ledger: Ledger, alias: str, expected: Generation) -> Generation:
    """The generation that readers are meant to see: the one that the alias names."""
    name = aliased_collection(client, alias)
    known = [expected] if name == expected.name else ledger.generations.of_alias(alias)
    for generation in known:
        if generation.name == name:
            passing("generation resolved")
            return generation
    raise StoreError(
        f"The alias {alias} points at {name or 'nothing'}, which the ledger does not know. Run "
        "`rag-pipeline index`, or set RAG_ALIAS or RAG_LEDGER_URL to the ones that belong together."
    )


@dataclass(frozen=True, slots=True)
class _Search:
    """What all queries of a request have in common."""

    client: QdrantClient
    collection: str
    ledger: Ledger
    scope: Scope
    baselines: Baselines
    calibration: Calibration
    options: RetrievalOptions
    deadline: Deadline

    def results(self, queries: Sequence[EmbeddedQuery]) -> list[QueryResult]:
        """What each query finds."""
        found = [
            one
            for start in range(0, len(queries), _QUERIES_A_REQUEST)
            for one in search(
                self.client,
                self.collection,
                self.ledger.documents,
                self.scope,
                queries[start : start + _QUERIES_A_REQUEST],
                self.options.limit,
                self.deadline,
            )
        ]
        statistics = self.baselines.term_weights.of(
            self.client, self.collection, self.scope, self.ledger.documents
        )
        results = [
            select(query, one, statistics, self.calibration, self.options, self.deadline)
            for query, one in zip(queries, found, strict=True)
        ]
        if not self.options.neighbours:
            return results
        self.deadline.check()
        return join_neighbours(self.client, self.collection, self.scope, results, self.options.neighbours)
