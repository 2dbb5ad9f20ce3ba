"""Evidence from what was found: joined with its source's facts, checked again, and ordered.

What the index let through is held against the manifests as they are now, so that an access that was narrowed
a moment ago already counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.ranking import RankingRules, score_parts
from rag_pipeline.query.results import QueryResult, RetrievedChunk
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.trace import RejectedEvidence
from rag_pipeline.sources.document import source_of
from rag_pipeline.sources.manifest import Lifecycle, Manifest

NO_MANIFEST = "its source has no manifest"
NOT_ACTIVE = "its source is not active"
OTHER_AUDIENCE = "its source is not for the audience or environment that was asked for"
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


def granted(
    results: Iterable[QueryResult], manifests: Mapping[str, Manifest], scope: Scope
) -> tuple[QueryResult, ...]:
    """The results without what the manifests do not let the caller see: neither chunks nor rejected ones.

    What has no manifest stays, to be rejected for that.
    """

    def visible(source_id: str) -> bool:
        manifest = manifests.get(source_id)
        return manifest is None or grants(manifest, scope)

    return tuple(
        replace(
            result,
            chunks=tuple(one for one in result.chunks if visible(one.source_id)),
            rejected=tuple(one for one in result.rejected if visible(source_of(one.document_id))),
        )
        for result in results
    )


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


def in_force(candidates: Iterable[Candidate], scope: Scope) -> tuple[list[Candidate], list[RejectedEvidence]]:
    """Those whose source is active and for the audience and environment asked for, and the others."""
    allowed: list[Candidate] = []
    rejected: list[RejectedEvidence] = []
    for candidate in candidates:
        if candidate.manifest.lifecycle is not Lifecycle.ACTIVE:
            rejected.append(_rejected(candidate.chunk, NOT_ACTIVE))
        elif not addresses(candidate.manifest, scope):
            rejected.append(_rejected(candidate.chunk, OTHER_AUDIENCE))
        else:
            allowed.append(candidate)
    return allowed, rejected


def grants(manifest: Manifest, scope: Scope) -> bool:
    """Whether the caller may see a source; its documents may still narrow that."""
    identity = scope.identity
    return manifest.tenant == identity.tenant and not identity.visible_groups.isdisjoint(
        manifest.access_groups
    )


def addresses(manifest: Manifest, scope: Scope) -> bool:
    """Whether a source is written for the audience and environment that the request asks for."""
    return (scope.audience is None or scope.audience in manifest.audience) and (
        scope.environment is None or scope.environment in manifest.environments
    )


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
