"""What a point of the collection looks like: vectors, payload, payload indexes, and its fingerprint."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from qdrant_client import models

from rag_pipeline.index.sparse import SPARSE_SETTINGS

DENSE = "dense"
BM25 = "bm25"
DISTANCE = models.Distance.COSINE

# Raised when the payload changes in a way that makes old points unusable: it is part of the fingerprint.
PAYLOAD_VERSION = 1

# Every field that a filter of ours uses. Strict mode refuses filters on others.
PAYLOAD_INDEXES: Mapping[str, models.PayloadSchemaType | models.KeywordIndexParams] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    **dict.fromkeys(
        (
            "source_id", "document_id", "chunk_id", "content_hash", "access_groups", "audience",
            "environments", "source_type", "lifecycle", "language",
        ),
        models.PayloadSchemaType.KEYWORD,
    ),
    **dict.fromkeys(("chunk_index", "trust_tier"), models.PayloadSchemaType.INTEGER),
    **dict.fromkeys(("effective_at", "valid_until", "updated_at"), models.PayloadSchemaType.DATETIME),
    "published": models.PayloadSchemaType.BOOL,
}  # fmt: skip


def _rfc3339(value: str) -> str:
    if datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("a datetime needs its time zone")
    return value


Rfc3339 = Annotated[str, AfterValidator(_rfc3339)]
Count = Annotated[int, Field(ge=0)]


class PointPayload(BaseModel):
    """The payload of a point. The names are a contract with whoever reads Qdrant directly.

    Optional fields are left out of the payload when unknown, never null.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    chunk_id: str
    document_id: str
    source_id: str
    tenant: str
    content_hash: str
    text_hash: str
    fingerprint: str
    chunk_index: Count
    chunk_count: Count
    trust_tier: Annotated[int, Field(ge=1, le=5)]
    page_from: int | None = None
    page_to: int | None = None
    span_from: Count
    span_to: Count
    title: str
    section_path: list[str]
    text: str
    source_url: str | None = None
    language: str | None = None
    mime_type: str
    source_type: str
    lifecycle: str
    audience: list[str]
    environments: list[str]
    access_groups: list[str]
    owner: str
    system: str
    published: bool
    effective_at: Rfc3339 | None = None
    valid_until: Rfc3339 | None = None
    last_reviewed_at: Rfc3339 | None = None
    updated_at: Rfc3339 | None = None
    indexed_at: Rfc3339


# The facts of a document that can change while its content stays: rewritten in place, nothing embedded.
FACT_FIELDS = (
    "tenant", "trust_tier", "source_url", "language", "mime_type", "source_type", "lifecycle", "audience",
    "environments", "access_groups", "owner", "system", "effective_at", "valid_until", "last_reviewed_at",
    "updated_at",
)  # fmt: skip


def rfc3339(value: datetime) -> str:
    """A datetime as Qdrant's datetime index reads it, in UTC."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def digest(value: Any) -> str:
    """sha256 in hex of a JSON-serializable value, however its keys are ordered."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def generation_settings(
    *, model: Mapping[str, Any], chunking: Mapping[str, Any], normalizing_version: int, chunking_version: int
) -> dict[str, Any]:
    """Everything that makes two vectors or payloads incompatible; its digest is the fingerprint."""
    return {
        "model": dict(model),
        "distance": DISTANCE.value,
        "bm25": SPARSE_SETTINGS,
        "normalizing": {"version": normalizing_version},
        "chunking": {**chunking, "version": chunking_version},
        "payload": {"version": PAYLOAD_VERSION},
    }
