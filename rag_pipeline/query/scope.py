"""What one request may see and asks for: the caller's identity, and what the request narrows it to."""

from dataclasses import dataclass
from datetime import datetime

from rag_pipeline.query.identity import Identity


@dataclass(frozen=True, slots=True)
class Scope:
    """The bounds that every leg of every search keeps.

    `as_of` is the moment whose validity counts: documents with `effective_at <= as_of < valid_until`.
    Filters only narrow; an empty tuple is no narrowing. `environment` and `audience` let through the
    documents that are for them; None asks for no particular one. `hidden_sources` are left out whatever the
    index says of them: their manifests do not let the request see them.
    """

    identity: Identity
    as_of: datetime
    environment: str | None = None
    audience: str | None = None
    source_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    hidden_sources: tuple[str, ...] = ()
