"""What Qdrant should hold for a document: its version, its chunks' ids and its facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rag_pipeline.chunking.identity import chunk_id, point_id
from rag_pipeline.index.schema import FACT_FIELDS, rfc3339
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.sources.document import RawDocument
from rag_pipeline.sources.manifest import Manifest


@dataclass(frozen=True)
class DesiredDocument:
    """A document's version as it should be in Qdrant.

    `facts` holds the payload fields that do not depend on the content. `failed_chunks` are the indexes of
    chunks that stand in dead letters and are not expected.
    """

    document_id: str
    source_id: str
    content_hash: str
    normalized_key: str
    chunks_key: str
    chunk_count: int
    failed_chunks: tuple[int, ...]
    facts: Mapping[str, Any]

    @cached_property
    def points(self) -> dict[str, int]:
        """Chunk index by point id, of every chunk that Qdrant must hold, in order."""
        failed = set(self.failed_chunks)
        return {
            point_id(chunk_id(self.document_id, self.content_hash, index)): index
            for index in range(self.chunk_count)
            if index not in failed
        }

    def recorded(self) -> IndexedDocument:
        """As the ledger records it once Qdrant has confirmed it."""
        return IndexedDocument(
            document_id=self.document_id,
            source_id=self.source_id,
            content_hash=self.content_hash,
            normalized_key=self.normalized_key,
            chunks_key=self.chunks_key,
            facts=dict(self.facts),
            chunk_count=self.chunk_count,
            failed_chunks=self.failed_chunks,
        )


def recorded_points(recorded: IndexedDocument) -> set[str]:
    """The point ids of a recorded version."""
    return {
        point_id(chunk_id(recorded.document_id, recorded.content_hash, index))
        for index in recorded.stored_indexes
    }


# Facts that the manifest decides, whatever the content: they hold for an old version of a document too.
_GOVERNED = (
    "tenant", "trust_tier", "source_type", "lifecycle", "audience", "environments", "access_groups", "owner",
    "system",
)  # fmt: skip


def last_good_version(recorded: IndexedDocument, today: Mapping[str, Any]) -> DesiredDocument:
    """The version that stays when a document's new one cannot be read: its own dates, today's governance.

    `today` are the document's facts, or, where the document could not even be listed, its source's. In that
    case nobody is let in who was not before, since what the document says of its access is not known.
    """
    governed = {name: today[name] for name in _GOVERNED}
    if "mime_type" not in today:
        before = recorded.facts["access_groups"]
        governed["access_groups"] = [
            group for group in before if group in recorded.readers and group in today["access_groups"]
        ]
    return kept_version(recorded, {**recorded.facts, **governed})


def kept_version(recorded: IndexedDocument, facts: Mapping[str, Any]) -> DesiredDocument:
    """The version that is recorded, under other facts."""
    return DesiredDocument(
        document_id=recorded.document_id,
        source_id=recorded.source_id,
        content_hash=recorded.content_hash,
        normalized_key=recorded.normalized_key,
        chunks_key=recorded.chunks_key,
        chunk_count=recorded.chunk_count,
        failed_chunks=recorded.failed_chunks,
        facts=dict(facts),
    )


def document_facts(document: RawDocument, manifest: Manifest) -> dict[str, Any]:
    """The payload fields of a document that its content does not decide; unknown ones are left out.

    What the document says of itself wins over the manifest, except that its access was already narrowed.
    """
    own = document.facts
    dates = {
        "effective_at": own.effective_at or manifest.effective_at,
        "valid_until": own.valid_until or manifest.valid_until,
        "last_reviewed_at": manifest.last_reviewed_at,
        "updated_at": own.updated_at,
    }
    facts: dict[str, Any] = {
        **source_facts(manifest),
        "source_url": own.source_url,
        "language": own.language or manifest.language,
        "mime_type": document.mime_type,
        "access_groups": list(own.access_groups),
        **{name: rfc3339(value) for name, value in dates.items() if value is not None},
    }
    return {name: facts[name] for name in FACT_FIELDS if facts.get(name) is not None}


def source_facts(manifest: Manifest) -> dict[str, Any]:
    """The payload fields that a source gives to all its documents; each may narrow its access groups."""
    return {
        "tenant": manifest.tenant,
        "trust_tier": manifest.trust_tier,
        "source_type": manifest.source_type.value,
        "lifecycle": manifest.lifecycle.value,
        "audience": list(manifest.audience),
        "environments": list(manifest.environments),
        "access_groups": list(manifest.access_groups),
        "owner": manifest.owner,
        "system": manifest.system,
    }
