"""Searching a generation: all legs of all queries in one request, fused, and held against the ledger."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from qdrant_client import QdrantClient, models

from rag_pipeline.embedding.embedder import Vector
from rag_pipeline.index.schema import BM25, DENSE
from rag_pipeline.ledger.documents import CurrentVersion, Documents
from rag_pipeline.query.access import access_filter, permission
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.fusion import fuse
from rag_pipeline.query.passages import Passages
from rag_pipeline.query.relevance.references import UsualCosines
from rag_pipeline.query.results import RejectedChunk
from rag_pipeline.query.scope import Scope

CANDIDATES = 20
"""What each leg brings to the fusion. Enough that a passage ranked low by one leg still meets the other's: on
XQuAD 20 to 100 give the same figures."""

# How often a question is asked again because a document was replaced between the search and the look into the
# ledger. Each time needs another such change within milliseconds.
_MOST_TRIES = 5

_DELETED = "its document is deleted, or was never completely indexed"
_OTHER_VERSION = "it is not of its document's current version"

# What the ledger is asked by. A payload in whole is most of what a search costs, and read only of what is
# looked at.
_SIFTED_BY = ["chunk_id", "document_id", "content_hash"]

Hits = Sequence[models.ScoredPoint]


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A query as the legs take it: its dense vector and the terms of its text.

    `usual` tells how near it is to any text at all, where that is needed.
    """

    text: str
    vector: Vector
    terms: models.SparseVector
    usual: UsualCosines | None = None


class Candidate(NamedTuple):
    """A current chunk that the scope permits, with what the legs say of it.

    `score` is the fused one; `dense` is the cosine, 0 where Qdrant told none; `bm25` is None for what that
    leg did not find.
    """

    point: models.Record
    score: float
    dense: float
    bm25: float | None

    @property
    def payload(self) -> Mapping[str, Any]:
        """The payload as it is stored."""
        return self.point.payload or {}

    @property
    def terms(self) -> Collection[int]:
        """The terms of its text, title and headings."""
        vector = self.point.vector.get(BM25) if isinstance(self.point.vector, dict) else None
        return vector.indices if isinstance(vector, models.SparseVector) else ()


@dataclass(frozen=True, slots=True)
class Found:
    """What one query found, and the hits that cannot be used though the scope permits them.

    `fused` are the points' ids with their fused scores, best first; `dense` and `bm25` are the legs' own
    scores, by id.
    """

    passages: Passages
    fused: Sequence[tuple[str, float]]
    dense: Mapping[str, float]
    bm25: Mapping[str, float]
    rejected: Sequence[RejectedChunk]

    def candidates(self, at_once: int) -> Iterator[Candidate]:
        """What was found, best first, read so many at once: whoever chooses seldom looks far.

        What is gone since the search is left out.
        """
        for start in range(0, len(self.fused), at_once):
            some = self.fused[start : start + at_once]
            self.passages.read(point for point, _ in some)
            for point, score in some:
                if read := self.passages.get(point):
                    yield Candidate(read, score, self.dense.get(point, 0.0), self.bm25.get(point))


def search(
    client: QdrantClient,
    collection: str,
    documents: Documents,
    scope: Scope,
    queries: Sequence[EmbeddedQuery],
    limit: int,
    deadline: Deadline,
) -> list[Found]:
    """At least `limit` candidates for each query where there are so many.

    The queries that the ledger takes too many hits from are asked again, deeper. Raises StoreError where the
    deadline passes meanwhile.
    """
    allowed, permits = access_filter(scope), permission(scope)
    passages = Passages(client, collection, allowed, deadline)
    found: dict[int, Found] = {}
    depths = dict.fromkeys(range(len(queries)), max(CANDIDATES, limit))
    tries = dict.fromkeys(depths, 0)
    while depths:
        asked = {number: _legs(queries[number], allowed, depth) for number, depth in depths.items()}
        deadline.check()
        requests = [leg for legs in asked.values() for leg in legs]
        answers = iter(client.query_batch_points(collection, requests))
        hits = {number: [next(answers).points for _ in legs] for number, legs in asked.items()}
        versions = documents.current_versions(
            collection,
            {
                hit.payload["document_id"]
                for legs in hits.values()
                for leg in legs[:2]
                for hit in leg
                if hit.payload and isinstance(hit.payload.get("document_id"), str)
            },
        )
        for number, legs in hits.items():
            sifted = _Sifted.of([hit for leg in legs[:2] for hit in leg], versions, permits)
            if sifted.replaced and tries[number] < _MOST_TRIES:
                tries[number] += 1
                continue
            one = _fused(legs, sifted, passages)
            if len(one.fused) >= limit or all(len(leg) < depths[number] for leg in legs[:2]):
                found[number] = one
            else:
                depths[number] *= 2
        first = {
            number: [point for point, _ in found[number].fused[:limit]] for number in depths.keys() & found
        }
        passages.read(point for points in first.values() for point in points)
        for number, points in first.items():
            if all(map(passages.get, points)) or tries[number] == _MOST_TRIES:
                del depths[number]
            else:
                # Replaced, or withdrawn, since the ledger was asked.
                tries[number] += 1
    return [found[number] for number in range(len(queries))]


def _legs(query: EmbeddedQuery, allowed: models.Filter, depth: int) -> list[models.QueryRequest]:
    """The dense leg, the BM25 leg, and the dense scores of what the BM25 leg finds.

    Fused here rather than in Qdrant, which orders equal fused scores by chance and tells no leg's own score.
    """
    dense = query.vector.tolist()
    legs = [_leg(dense, DENSE, allowed, depth)]
    if query.terms.indices:
        legs.append(_leg(query.terms, BM25, allowed, depth))
        legs.append(
            models.QueryRequest(
                prefetch=[models.Prefetch(query=query.terms, using=BM25, filter=allowed, limit=depth)],
                query=dense,
                using=DENSE,
                filter=allowed,
                limit=depth,
                with_payload=False,
            )
        )
    return legs


def _leg(
    query: list[float] | models.SparseVector, using: str, allowed: models.Filter, depth: int
) -> models.QueryRequest:
    return models.QueryRequest(query=query, using=using, filter=allowed, limit=depth, with_payload=_SIFTED_BY)


def _fused(legs: Sequence[Hits], sifted: "_Sifted", passages: Passages) -> Found:
    scores = [{str(hit.id): hit.score for hit in leg} for leg in legs]
    dense, bm25, of_bm25 = [*scores, {}, {}][:3]
    current = sifted.current
    fused = fuse([[found for found in leg.items() if found[0] in current] for leg in (dense, bm25)])
    return Found(passages, fused, of_bm25 | dense, bm25, sifted.rejected)


@dataclass(frozen=True, slots=True)
class _Sifted:
    """Hits held against the ledger, which knows of deletions and narrowed access before the points do.

    `replaced`: a document was found in another version only than its current one, as it is when it was
    replaced since the search.
    """

    current: Collection[str]
    rejected: Sequence[RejectedChunk]
    replaced: bool

    @classmethod
    def of(
        cls,
        hits: Iterable[models.ScoredPoint],
        versions: Mapping[str, CurrentVersion],
        permits: Callable[[Mapping[str, Any], Collection[str]], bool],
    ) -> "_Sifted":
        current: set[str] = set()
        rejected: dict[str, RejectedChunk] = {}
        missed: set[str] = set()
        found: set[str] = set()
        for hit in hits:
            point, payload = str(hit.id), hit.payload or {}
            named = payload.get("document_id")
            document_id = named if isinstance(named, str) else ""
            version = versions.get(document_id)
            if version is None:
                reason = _DELETED if document_id else "lacks the field document_id"
            elif not permits(version.facts, version.readers):
                continue
            elif version.content_hash == payload.get("content_hash"):
                current.add(point)
                found.add(document_id)
                continue
            else:
                reason = _OTHER_VERSION
                missed.add(document_id)
            rejected[point] = RejectedChunk(str(payload.get("chunk_id", point)), document_id, reason)
        return cls(current, list(rejected.values()), bool(missed - found))
