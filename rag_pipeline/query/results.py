"""What retrieval hands on: found chunks with their signals, rejected ones with a reason, or a message."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import ValidationError

from rag_pipeline.index.schema import PointPayload
from rag_pipeline.query.relevance.signals import Signals
from rag_pipeline.query.scripts import asks_in_chinese

BELOW_THRESHOLD = "below the threshold"

_NOTHING_USEFUL = "The knowledge base has nothing useful for this query."
_NOTHING_USEFUL_ZH = "知识库中没有与此查询相关的有用内容。"


class RetrievedChunk(NamedTuple):
    """A found chunk.

    `score` is the fused rank score, comparable within one result only; `relevance` is calibrated, 0 to 1, and
    comparable everywhere. `joined_to` is the chunk that brought a neighbour along, whose scores it bears.
    `reranked` is the place that a reranker gave it, from 1; None without one.
    """

    chunk_id: str
    document_id: str
    source_id: str
    source_type: str
    lifecycle: str
    title: str
    section_path: tuple[str, ...]
    text: str
    language: str | None
    score: float
    relevance: float
    signals: Signals
    chunk_index: int
    content_hash: str
    text_hash: str
    page_from: int | None
    page_to: int | None
    source_url: str | None
    trust_tier: int
    owner: str
    effective_at: datetime | None
    valid_until: datetime | None
    last_reviewed_at: datetime | None
    updated_at: datetime | None
    joined_to: str | None = None
    reranked: int | None = None


@dataclass(frozen=True, slots=True)
class RejectedChunk:
    """A candidate that the caller may see but that is not among the chunks, and why."""

    chunk_id: str
    document_id: str
    reason: str
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What one query found, best first. `notes` tell what went wrong on the way without ending the search."""

    query: str
    chunks: tuple[RetrievedChunk, ...]
    rejected: tuple[RejectedChunk, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def message(self) -> str | None:
        """Where there are no chunks: that the knowledge base has nothing useful, in the query's language."""
        if self.chunks:
            return None
        return _NOTHING_USEFUL_ZH if asks_in_chinese(self.query) else _NOTHING_USEFUL


def public_json(results: Iterable[QueryResult], source_titles: Mapping[str, str]) -> dict[str, Any]:
    """What a caller may read of results: no scores, ids or rejected chunks.

    `source_titles` are by source id; a source without one is called by its id.
    """
    return {
        "knowledge_base_retrieval": [
            {
                "query": result.query,
                "message": result.message,
                "chunks": [
                    {
                        "text": chunk.text,
                        "title": chunk.title,
                        "section_path": list(chunk.section_path),
                        "source_title": source_titles.get(chunk.source_id, chunk.source_id),
                        "relevance": round(chunk.relevance, 2),
                    }
                    for chunk in result.chunks
                ],
            }
            for result in results
        ]
    }


def chunk_of(
    payload: Mapping[str, Any],
    *,
    score: float,
    relevance: float,
    signals: Signals,
    joined_to: str | None = None,
    reranked: int | None = None,
) -> RetrievedChunk:
    """A found chunk from a payload without defects."""
    optional = payload.get
    return RetrievedChunk(
        chunk_id=payload["chunk_id"],
        document_id=payload["document_id"],
        source_id=payload["source_id"],
        source_type=payload["source_type"],
        lifecycle=payload["lifecycle"],
        title=payload["title"],
        section_path=tuple(payload["section_path"]),
        text=payload["text"],
        language=optional("language"),
        score=score,
        relevance=relevance,
        signals=signals,
        chunk_index=payload["chunk_index"],
        content_hash=payload["content_hash"],
        text_hash=payload["text_hash"],
        page_from=optional("page_from"),
        page_to=optional("page_to"),
        source_url=optional("source_url"),
        trust_tier=payload["trust_tier"],
        owner=payload["owner"],
        effective_at=_moment(optional("effective_at")),
        valid_until=_moment(optional("valid_until")),
        last_reviewed_at=_moment(optional("last_reviewed_at")),
        updated_at=_moment(optional("updated_at")),
        joined_to=joined_to,
        reranked=reranked,
    )


def defect(payload: Mapping[str, Any]) -> str | None:
    """What a payload lacks of the contract, or has of a wrong type, in words; None where it is as it must be.

    Fields that the contract does not know are nobody's business here.
    """
    try:
        PointPayload.model_validate(payload, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        return f"lacks the field {field}" if first["type"] == "missing" else f"has a wrong value in {field}"
    return None


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
