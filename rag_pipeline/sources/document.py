"""One document as its source lists it: identity, version, and the facts that govern its use."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What is known about a document besides its content: the manifest's facts, narrowed by its own.

    `access_groups` empty means nobody. Datetimes are timezone-aware; None means unknown.
    """

    title: str | None = None
    language: str | None = None
    source_url: str | None = None
    access_groups: tuple[str, ...] = ()
    updated_at: datetime | None = None
    effective_at: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A listed document. Its bytes stay where they are; `content_hash` tells which version was seen.

    `document_id` is `<source_id>/<relative path>`, case and all. `url` is the fsspec URL of the file.
    `size` is in bytes, `content_hash` the sha256 of the bytes in hex, `mime_type` told from the content.
    """

    document_id: str
    source_id: str
    path: str
    url: str
    size: int
    content_hash: str
    mime_type: str
    facts: DocumentFacts


def source_of(document_id: str) -> str:
    """The id of the source that a document belongs to."""
    return document_id.partition("/")[0]
