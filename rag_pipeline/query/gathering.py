"""Evidence from what was found: each chunk once, joined with its source's facts, and ordered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.ranking import RankingRules, score_parts
from rag_pipeline.query.results import QueryResult, RetrievedChunk
from rag_pipeline.query.trace import RejectedEvidence
from rag_pipeline.sources.manifest import Manifest

NO_MANIFEST = "its source has no manifest"
BEYOND_LIMIT = "others rank before it"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A found chunk and the manifest of its source."""

    chunk: RetrievedChunk
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Ranked:
    """Evidence, what its score is the sum of, and the hash of its text."""

    evidence: Evidence
    parts: Mapping[str, float]
    text_hash: str


def best_of_each(results: Iterable[QueryResult]) -> list[RetrievedChunk]:
    """Every chunk that any query found, once, as the query found it to which it is most relevant."""
    best: dict[str, RetrievedChunk] = {}
    for result in results:
        for chunk in result.chunks:
            if chunk.chunk_id not in best or chunk.relevance > best[chunk.chunk_id].relevance:
                best[chunk.chunk_id] = chunk
    return list(best.values())


def with_manifests(
    chunks: Iterable[RetrievedChunk], manifests: Mapping[str, Manifest]
) -> tuple[list[Candidate], list[RejectedEvidence]]:
    """The chunks whose source has a manifest, and the others."""
    candidates: list[Candidate] = []
    rejected: list[RejectedEvidence] = []
    for chunk in chunks:
        if manifest := manifests.get(chunk.source_id):
            candidates.append(Candidate(chunk, manifest))
        else:
            rejected.append(_rejected(chunk, NO_MANIFEST))
    return candidates, rejected


def ranked(
    candidates: Sequence[Candidate], *, rules: RankingRules, trace_id: str, now: datetime, limit: int
) -> tuple[list[Ranked], list[RejectedEvidence]]:
    """The best candidates as evidence, the best first, labelled in that order; and those beyond the limit."""
    scored = [(candidate, _parts(candidate, rules, now)) for candidate in candidates]
    scored.sort(key=lambda one: (-sum(one[1].values()), -one[0].chunk.relevance, one[0].chunk.chunk_id))
    best = [
        Ranked(
            _evidence(candidate, f"S{number}", trace_id, now, sum(parts.values())),
            parts,
            candidate.chunk.text_hash,
        )
        for number, (candidate, parts) in enumerate(scored[:limit], start=1)
    ]
    return best, [_rejected(candidate.chunk, BEYOND_LIMIT) for candidate, _ in scored[limit:]]


def _parts(candidate: Candidate, rules: RankingRules, now: datetime) -> dict[str, float]:
    chunk = candidate.chunk
    dates = [date for date in (chunk.updated_at, chunk.last_reviewed_at) if date]
    return score_parts(
        rules,
        relevance=chunk.relevance,
        trust_tier=chunk.trust_tier,
        touched_at=max(dates, default=None),
        sla_days=candidate.manifest.freshness_sla_days,
        now=now,
        reranked=chunk.reranked,
    )


def _evidence(candidate: Candidate, label: str, trace_id: str, now: datetime, score: float) -> Evidence:
    chunk = candidate.chunk

    return Evidence(
        label=label,
        evidence_id=f"{trace_id}:{label}",
        source_id=chunk.source_id,
        source_title=candidate.manifest.title,
        source_type=chunk.source_type,
        lifecycle=chunk.lifecycle,
        document_id=chunk.document_id,
        chunk_id=chunk.chunk_id,
        document_title=chunk.title,
        section_path=chunk.section_path,
        pages=None if chunk.page_from is None else (chunk.page_from, chunk.page_to or chunk.page_from),
        text=chunk.text,
        language=chunk.language,
        score=score,
        relevance=chunk.relevance,
        retrieved_at=now,
        effective_at=chunk.effective_at,
        valid_until=chunk.valid_until,
        last_reviewed_at=chunk.last_reviewed_at,
        updated_at=chunk.updated_at,
        trust_tier=chunk.trust_tier,
        owner=chunk.owner,
        content_hash=chunk.content_hash,
        citation_url=chunk.source_url,
    )


def _rejected(chunk: RetrievedChunk, reason: str) -> RejectedEvidence:
    return RejectedEvidence(
        chunk_id=chunk.chunk_id, document_id=chunk.document_id, reason=reason, relevance=chunk.relevance
    )
