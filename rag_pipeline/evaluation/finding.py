"""What one request found and made of it, kept so that it can be told chunk by chunk."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_pipeline.chunking.identity import point_id
from rag_pipeline.evaluation.asking_cases import asked_as
from rag_pipeline.evaluation.case import Case
from rag_pipeline.evaluation.seen import Ranks, SeenChunk, Selected
from rag_pipeline.evaluation.surroundings import Surroundings
from rag_pipeline.index.sparse import query_terms
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.query.asking import ask_in_full
from rag_pipeline.query.beginnings import beginning
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.near_duplicates import nearly_the_same
from rag_pipeline.query.record import Asking, AskServices
from rag_pipeline.query.results import QueryResult, RetrievedChunk
from rag_pipeline.query.retrieval import calibration_in_force, retrieve
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.searching import EmbeddedQuery, Found, search
from rag_pipeline.query.selecting import NEARLY_THE_SAME
from rag_pipeline.query.steps import FOUND_PER_QUERY
from rag_pipeline.services import Services

# How far down the legs are looked for a chunk that no search would reach.
_DEEP: Final = 500
_PATIENCE_SECONDS: Final = 60.0


def asked(case: Case, services: Services, generation: Generation) -> Asking:
    """A case through every step of asking, with nothing down and without a trace in the ledger."""
    request, identity = asked_as(case)
    return ask_in_full(request, identity, Surroundings(services, generation.name)).record


@dataclass(frozen=True, slots=True)
class Findings:
    """A finished request, and its queries searched again: as far as it did, further, and without a threshold.

    `near` and `deep` are by query, as `results` are.
    """

    record: Asking
    scope: Scope
    threshold: float
    near: Sequence[Found]
    deep: Sequence[Found]
    results: Sequence[QueryResult]

    @property
    def looked_at(self) -> dict[str, str]:
        """The documents of the chunks that some query looked at: handed on, below the threshold, rejected."""
        both = (*self.record.results, *self.results)
        chosen = {one.chunk_id: one.document_id for result in both for one in result.chunks}
        rejected = {
            one.chunk_id: one.document_id
            for result in self.results
            for one in result.rejected
            if one.relevance is not None and one.chunk_id not in chosen
        }
        return chosen | rejected

    @property
    def reranked(self) -> bool:
        """Whether a reranker ordered what was found."""
        both = (*self.record.results, *self.results)
        return any(one.reranked is not None for result in both for one in result.chunks)

    def seen(self, chunk: SeenChunk) -> SeenChunk:
        """The chunk with what became of it in the request."""
        ranks = tuple(self._ranks(point_id(chunk.chunk_id)))
        return self._answered(replace(chunk, ranks=ranks, selected=self._selected(chunk)))

    def _ranks(self, point: str) -> Iterator[Ranks]:
        for query, near, deep in zip(self.record.queries, self.near, self.deep, strict=True):
            fused = [one for one, _ in near.fused]
            yield Ranks(
                query=query,
                deep_dense=_rank(deep.dense, point),
                deep_bm25=_rank(deep.bm25, point),
                fused=fused.index(point) + 1 if point in fused else None,
            )

    def _selected(self, chunk: SeenChunk) -> Selected | None:
        # What the request itself handed on counts: only there do neighbours come along with relevant chunks,
        # and a reranker asked again may order otherwise.
        for results in (self.record.results, self.results):
            chosen = [one for result in results for one in result.chunks if one.chunk_id == chunk.chunk_id]
            if chosen:
                best = max(chosen, key=lambda one: one.relevance)
                return Selected(
                    best.relevance, _signals(best), joined_to=best.joined_to, reranked=best.reranked
                )
        for result in self.results:
            for one in result.rejected:
                if one.chunk_id == chunk.chunk_id:
                    same = _double(chunk, result) if one.reason == NEARLY_THE_SAME else None
                    return Selected(rejected=f"{one.reason}: {same}" if same else one.reason)
        return None

    def _answered(self, chunk: SeenChunk) -> SeenChunk:
        record, some_id = self.record, chunk.chunk_id
        labels = {one.evidence.chunk_id: one.evidence.label for one in record.evidence}
        label = labels.get(some_id)
        if label is None:
            reasons = {one.chunk_id: one.reason for one in record.rejected}
            return replace(chunk, beyond=reasons.get(some_id))
        answering = record.answering
        shown = {one.label for one in answering.passages} if answering and answering.asks_model else None
        lost = next((one for one in record.conflicts if label in one.withheld), None)
        told = f"withheld: {lost.winner} is followed by {lost.decided_by}, {lost.kind}" if lost else None
        return replace(
            chunk,
            evidence=label,
            withheld=told,
            left_out=shown is not None and label not in shown,
            cited=sum(label in claim.labels for claim in record.claims),
        )


def find(record: Asking, services: AskServices, live: Generation) -> Findings:
    """Search again for what a request searched for; nothing where it ended before it searched."""
    wanted = services.retrieval_options(limit=FOUND_PER_QUERY)
    # Without neighbours, which would come along with chunks below the threshold too.
    options, threshold = replace(wanted, min_relevance=0.0, neighbours=0), wanted.min_relevance
    model = live.settings["model"]
    if threshold is None:
        threshold = calibration_in_force(live, options, services.baselines, services.ledger).threshold
    if record.scope is None:
        raise ValueError("a case is a request that can be used")
    if not record.queries:
        return Findings(record, record.scope, threshold, (), (), ())
    embedder = services.embedder_of(model)
    vectors = embedder.embed_queries([beginning(one, embedder) for one in record.queries])
    queries = [
        EmbeddedQuery(text, vector, query_terms(text))
        for text, vector in zip(record.queries, vectors, strict=True)
    ]
    with services.open_store(wait_seconds=_PATIENCE_SECONDS) as client:
        near, deep = (
            search(
                client, live.name, services.ledger.documents, record.scope, queries, limit, Deadline(math.inf)
            )
            for limit in (FOUND_PER_QUERY, _DEEP)
        )
    results = retrieve(
        record.queries,
        record.scope,
        open_client=lambda: services.open_store(wait_seconds=_PATIENCE_SECONDS),
        alias=services.asking.alias,
        generation=live.name,
        embedder_of=services.embedder_of,
        ledger=services.ledger,
        baselines=services.baselines,
        options=options,
    ).results
    return Findings(record, record.scope, threshold, near, deep, results)


def _rank(scores: Mapping[str, float], point: str) -> int | None:
    """From 1; equal scores share a rank."""
    if point not in scores:
        return None
    return 1 + sum(score > scores[point] for score in scores.values())


def _signals(chunk: RetrievedChunk) -> str:
    one = chunk.signals
    bm25 = "not found" if one.bm25 is None else f"{one.bm25:.2f}"
    told = f"cosine {one.dense:.3f}, BM25 {bm25}, {one.coverage:.0%} of {one.terms} terms, rank {one.rank}"
    return told if one.usual is None else f"{told}, usual cosine {one.usual:.3f}"


def _double(chunk: SeenChunk, result: QueryResult) -> str | None:
    text = str((chunk.payload or {}).get("text"))
    return next((one.chunk_id for one in result.chunks if nearly_the_same(text, one.text)), None)
