"""How rare terms are, told from a sample of a collection's chunks."""

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qdrant_client import QdrantClient, models

from rag_pipeline.index.schema import BM25

# Point ids are hashes, so that the first ones in their order are a random sample, and always the same one.
# Rarer than once in so many chunks is all the same for a share of a question's terms.
_SAMPLE = 1_000
_KEPT_SECONDS = 600.0

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

    A tenant's terms are told from its own chunks alone. May be used from several threads; whoever comes first
    together samples twice.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[float, TermStatistics]] = {}

    def of(self, client: QdrantClient, collection: str, tenant: str) -> TermStatistics:
        """The statistics of a tenant's chunks in a collection."""
        known = self._kept.get((collection, tenant))
        if known and time.monotonic() - known[0] < _KEPT_SECONDS:
            return known[1]
        statistics = _sampled(client, collection, tenant)
        self._kept[collection, tenant] = (time.monotonic(), statistics)
        return statistics


def _sampled(client: QdrantClient, collection: str, tenant: str) -> TermStatistics:
    of_tenant = models.FieldCondition(key="tenant", match=models.MatchValue(value=tenant))
    published = models.FieldCondition(key="published", match=models.MatchValue(value=True))
    records, _ = client.scroll(
        collection,
        scroll_filter=models.Filter(must=[of_tenant, published]),
        limit=_SAMPLE,
        with_payload=False,
        with_vectors=[BM25],
    )
    frequencies: Counter[int] = Counter()
    for record in records:
        terms = record.vector.get(BM25) if isinstance(record.vector, dict) else None
        if isinstance(terms, models.SparseVector):
            frequencies.update(terms.indices)
    return TermStatistics(len(records), frequencies)
