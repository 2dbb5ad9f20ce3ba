"""Evidence and drafts for tests of answering."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rag_pipeline.query.answering.draft import Claim, Draft
from rag_pipeline.query.evidence import Evidence

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def evidence_of(
    *texts: str,
    title: str = "Handbook",
    titles: Sequence[str] = (),
    section: tuple[str, ...] = (),
    effective_at: datetime | None = None,
) -> list[Evidence]:
    """One piece of evidence for each text, labelled S1, S2 and so on, best first."""
    names = titles or [title] * len(texts)
    return [
        Evidence(
            label=f"S{number}",
            evidence_id=f"trace:S{number}",
            source_id="handbook",
            source_title="Handbook",
            source_type="policy",
            lifecycle="active",
            document_id=f"handbook/{number}.md",
            chunk_id=f"handbook/{number}.md:0123456789ab:0",
            document_title=name,
            section_path=section,
            pages=None,
            text=text,
            language=None,
            score=1.0 / number,
            relevance=0.9,
            retrieved_at=NOW,
            effective_at=effective_at,
            valid_until=None,
            last_reviewed_at=None,
            updated_at=None,
            trust_tier=2,
            owner="support",
            content_hash="0" * 64,
            citation_url=None,
        )
        for number, (text, name) in enumerate(zip(texts, names, strict=True), 1)
    ]


def draft_of(*claims: tuple[str, str], text: str | None = None) -> Draft:
    """An answer of claims, each with its labels; its text is the claims' unless given."""
    made = tuple(Claim(claim, tuple(labels.split())) for claim, labels in claims)
    return Draft(True, text or " ".join(claim.text for claim in made), made)
