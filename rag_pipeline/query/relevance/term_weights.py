"""How rare terms are, told from a sample of a collection's chunks."""

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qdrant_client import QdrantClient, models

from rag_pipeline.index.schema import BM25
from rag_pipeline.ledger.documents import Documents
from rag_pipeline.query.access import access_filter, permission
from rag_pipeline.query.scope import Scope

# Point ids are hashes, so that the first ones in their order are a random sample, and always the same one.
# Rarer than once in so many chunks is all the same for a share of a question's terms.
_SAMPLE = 1_000
_KEPT_SECONDS = 600.0
# Callers of so many different groups; more are seldom, and then all are sampled anew.
_MOST_KEPT = 256

# Chunks that every collection is taken to hold besides its own, and in how many of them any term stands: in a
# handful of chunks a term's frequency tells nothing yet, and all terms should weigh about the same.
_ASSUMED_CHUNKS = 100
_ASSUMED_OCCURRENCES = 2


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """In how many of so many chunks each term stands."""

    chunks: int
    frequencies: Mapping[int, int]

    def weights(self, terms: Iterable[int]) -> dict[int, float]:
        """Each term's inverse document frequency, as BM25 computes it; higher for rarer terms."""
        return {term: self._weight(term) for term in terms}

    def _weight(self, term: int) -> float:
        chunks = self.chunks + _ASSUMED_CHUNKS
        holding = self.frequencies.get(term, 0) + _ASSUMED_OCCURRENCES
        return math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))


class TermWeights:
    """The statistics of collections, sampled when first needed and then kept for ten minutes.

    They are told from what the caller may see alone: a word that only hidden documents hold counts as one
    that none holds. May be used from several threads; whoever comes first together samples twice.
    """

    def __init__(self) -> None:
        self._kept: dict[_Key, tuple[float, TermStatistics]] = {}

    def of(self, client: QdrantClient, collection: str, scope: Scope, documents: Documents) -> TermStatistics:
        """The statistics of what the scope's caller may see in a collection, whatever the request narrows."""
        whole = Scope(scope.identity, as_of=scope.as_of, hidden_sources=scope.hidden_sources)
        key = (collection, scope.identity.tenant, scope.identity.visible_groups, scope.hidden_sources)
        known = self._kept.get(key)
        if known and time.monotonic() - known[0] < _KEPT_SECONDS:
            return known[1]
        statistics = _sampled(client, collection, whole, documents)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = (time.monotonic(), statistics)
        return statistics


_Key = tuple[str, str, frozenset[str], tuple[str, ...]]


def _sampled(client: QdrantClient, collection: str, scope: Scope, documents: Documents) -> TermStatistics:
    records, _ = client.scroll(
        collection,
        scroll_filter=access_filter(scope),
        limit=_SAMPLE,
        with_payload=["document_id"],
        with_vectors=[BM25],
    )
    named = [(str((record.payload or {}).get("document_id", "")), record) for record in records]
    permits = permission(scope)
    # The ledger knows of deletions and narrowed access before the points do.
    versions = documents.current_versions(collection, {document_id for document_id, _ in named})
    seen = {document_id for document_id, one in versions.items() if permits(one.facts, one.readers)}
    frequencies: Counter[int] = Counter()
    chunks = 0
    for document_id, record in named:
        terms = record.vector.get(BM25) if isinstance(record.vector, dict) else None
        if document_id in seen and isinstance(terms, models.SparseVector):
            chunks += 1
            frequencies.update(terms.indices)
    return TermStatistics(chunks, frequencies)
