"""Evidence: a retrieved chunk joined with its source's facts and its scores, all that an answer may cite."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """One passage, as of one request.

    `label` is what a model and a reader call it, S1 to Sn in order of rank; `evidence_id` is
    `<trace id>:<label>`. `relevance` is calibrated, 0 to 1. `score` is relevance with the weights of trust
    and freshness; both are for ranking and traces, never for the public response. `pages` are the first and
    the last page, where there are pages.
    """

    label: str
    evidence_id: str
    source_id: str
    source_title: str
    source_type: str
    lifecycle: str
    document_id: str
    chunk_id: str
    document_title: str
    section_path: tuple[str, ...]
    pages: tuple[int, int] | None
    text: str
    language: str | None
    score: float
    relevance: float
    retrieved_at: datetime
    effective_at: datetime | None
    valid_until: datetime | None
    last_reviewed_at: datetime | None
    updated_at: datetime | None
    trust_tier: int
    owner: str
    content_hash: str
    citation_url: str | None

    @property
    def heading(self) -> str:
        """The document's title and the sections that the passage stands in, for people."""
        return " > ".join((self.document_title, *self.section_path))
