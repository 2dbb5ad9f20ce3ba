"""Which of a query's candidates are handed on: in what order, how many of a document, and how relevant."""

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice

from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.near_duplicates import nearly_the_same
from rag_pipeline.query.relevance.calibration import Calibration
from rag_pipeline.query.relevance.signals import Signals, coverage, scripts_of
from rag_pipeline.query.relevance.term_weights import TermStatistics
from rag_pipeline.query.reranking import Reranker, RerankFailed
from rag_pipeline.query.results import (
    BELOW_THRESHOLD,
    QueryResult,
    RejectedChunk,
    RetrievedChunk,
    chunk_of,
    defect,
)
from rag_pipeline.query.searching import Candidate, EmbeddedQuery, Found

logger = logging.getLogger(__name__)

NEARLY_THE_SAME = "nearly the same as another"
_ENOUGH_OF_DOCUMENT = "there are enough chunks of its document"

# How many terms two chunks must share before their words are compared.
_TERMS_SHARED = 0.8
_RERANKED = 30


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How much to hand on of what is found.

    `limit` is the most chunks a query, neighbours not counted, and `per_document` the most of one document.
    Without a `calibration` the one counts that was fitted for the generation, or else the model's default,
    and without `min_relevance` its threshold. Of near duplicates only the most trusted is kept, unless they
    are not to be collapsed. Chunks at most `neighbours` before or after a found one are joined to it.
    """

    limit: int = 10
    calibration: Calibration | None = None
    min_relevance: float | None = None
    per_document: int | None = None
    collapse_duplicates: bool = True
    neighbours: int = 0
    reranker: Reranker | None = None


def select(
    query: EmbeddedQuery,
    found: Found,
    statistics: TermStatistics,
    calibration: Calibration,
    options: RetrievalOptions,
    deadline: Deadline,
) -> QueryResult:
    """The chunks that are of use, best first, and why the others are not.

    The first `limit` that are no duplicates and not too many of a document are held against the threshold;
    what ranks behind them is not looked at.
    """
    candidates, reranked, notes = _reranked(query.text, found, options, deadline)
    selection = _Selection(query, statistics, calibration, options, list(found.rejected), reranked=reranked)
    for rank, candidate in enumerate(candidates, start=1):
        if len(selection.chosen) == options.limit:
            break
        selection.look_at(rank, candidate)
    return QueryResult(query.text, *selection.split(), notes)


def _reranked(
    query: str, found: Found, options: RetrievalOptions, deadline: Deadline
) -> tuple[Iterable[Candidate], bool, tuple[str, ...]]:
    """The candidates, whether they are in the reranker's order, and a note where it failed."""
    if options.reranker is None or not found.fused:
        return found.candidates(options.limit), False, ()
    rest = found.candidates(_RERANKED)
    first = list(islice(rest, _RERANKED))
    try:
        texts = [str(one.payload.get("text", "")) for one in first]
        places = options.reranker.order(query, texts, most_seconds=deadline.remaining)
    except RerankFailed as error:
        note = f"reranking failed, so that the search's own order counts: {error}"
        logger.warning("%s", note)
        return chain(first, rest), False, (note,)
    return chain((first[place] for place in places), rest), True, ()


class _Selection:
    def __init__(
        self,
        query: EmbeddedQuery,
        statistics: TermStatistics,
        calibration: Calibration,
        options: RetrievalOptions,
        rejected: list[RejectedChunk],
        *,
        reranked: bool,
    ) -> None:
        self._query = query
        self._asked = statistics.weights(query.terms.indices)
        self._calibration = calibration
        self._options = options
        self._rejected = rejected
        self._reranked = reranked
        self._of_document: Counter[str] = Counter()
        self.chosen: list[tuple[frozenset[int], RetrievedChunk]] = []
        """The chunks, each with its terms."""

    def look_at(self, rank: int, candidate: Candidate) -> None:
        """Choose a candidate, or reject it."""
        payload = candidate.payload
        if reason := defect(payload):
            self._rejected.append(
                RejectedChunk(str(payload.get("chunk_id", "")), payload["document_id"], reason)
            )
            return
        terms = frozenset(candidate.terms)
        chunk = self._chunk(rank, candidate, terms)
        most = self._options.per_document
        if most is not None and self._of_document[chunk.document_id] >= most:
            self._reject(chunk, _ENOUGH_OF_DOCUMENT)
            return
        place = self._duplicate_of(terms, chunk) if self._options.collapse_duplicates else None
        if place is None:
            self._of_document[chunk.document_id] += 1
            self.chosen.append((terms, chunk))
        elif chunk.trust_tier < self.chosen[place][1].trust_tier:
            # The words are the same, so that the more trusted one takes the other's place.
            _, before = self.chosen[place]
            self._of_document[before.document_id] -= 1
            self._of_document[chunk.document_id] += 1
            self._reject(before, NEARLY_THE_SAME)
            better = chunk._replace(score=before.score, relevance=max(before.relevance, chunk.relevance))
            self.chosen[place] = (terms, better)
        else:
            self._reject(chunk, NEARLY_THE_SAME)

    def split(self) -> tuple[tuple[RetrievedChunk, ...], tuple[RejectedChunk, ...]]:
        """What is at or above the threshold, and everything that was rejected."""
        threshold = self._options.min_relevance
        if threshold is None:
            threshold = self._calibration.threshold
        for _, chunk in self.chosen:
            if chunk.relevance < threshold:
                self._reject(chunk, BELOW_THRESHOLD)
        chunks = tuple(chunk for _, chunk in self.chosen if chunk.relevance >= threshold)
        return chunks, tuple(self._rejected)

    def _chunk(self, rank: int, candidate: Candidate, terms: frozenset[int]) -> RetrievedChunk:
        query, text = self._query, candidate.payload["text"]
        scripts = scripts_of(query.text, text)
        signals = Signals(
            dense=candidate.dense,
            bm25=candidate.bm25,
            rank=rank,
            coverage=coverage(self._asked, terms),
            terms=len(self._asked),
            scripts=scripts,
            usual=query.usual.of(scripts.chunk_is_han) if query.usual else None,
        )
        relevance = self._calibration.relevance(signals)
        return chunk_of(
            candidate.payload,
            score=candidate.score,
            relevance=relevance,
            signals=signals,
            reranked=rank if self._reranked else None,
        )

    def _duplicate_of(self, terms: frozenset[int], chunk: RetrievedChunk) -> int | None:
        """The place of a chosen chunk that says nearly the same."""
        for place, (other, chosen) in enumerate(self.chosen):
            alike = len(terms & other) >= _TERMS_SHARED * max(len(terms), len(other))
            if alike and nearly_the_same(chunk.text, chosen.text):
                return place
        return None

    def _reject(self, chunk: RetrievedChunk, reason: str) -> None:
        self._rejected.append(RejectedChunk(chunk.chunk_id, chunk.document_id, reason, chunk.relevance))
