"""The way back from an answer to a file, link by link, and the first link that no longer holds."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from rag_pipeline.chunking.chunk import Chunk
from rag_pipeline.chunking.identity import chunk_id, point_id
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.query.trace import Trace, UsedEvidence

_SHOWN_OF_A_HASH = 12


class LinkName(StrEnum):
    """The links in their order."""

    ANSWER = "answer"
    CITATION = "citation"
    EVIDENCE = "evidence"
    POINT = "point"
    CHUNK = "chunk"
    VERSION = "document version"
    FILE = "source file"


@dataclass(frozen=True, slots=True)
class Link:
    """One link: what it is, and why it no longer holds; no reason if it does."""

    name: LinkName
    what: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """The links from an answer to the file that a piece of its evidence was taken from."""

    evidence_id: str
    label: str
    links: tuple[Link, ...]

    @property
    def broken(self) -> Link | None:
        """The first link that no longer holds."""
        return next((link for link in self.links if link.reason), None)

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values."""
        return {
            "evidence_id": self.evidence_id,
            "holds": self.broken is None,
            "first_broken": self.broken.name if self.broken else None,
            "links": [asdict(link) for link in self.links],
        }


@dataclass(frozen=True, slots=True)
class SeenFile:
    """The source file now: its hash, or why it has none."""

    content_hash: str = ""
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What is there now behind a piece of evidence, in the generation that it was found in.

    `payload` is the point's, `version` the document's in the ledger, `chunk` the artifact's.
    """

    generation_exists: bool
    payload: Mapping[str, Any] | None
    version: IndexedDocument | None
    deletion_noticed: datetime | None
    chunk: Chunk | None
    file: SeenFile


def lineage(trace: Trace, evidence: UsedEvidence, seen: Seen) -> Lineage:
    """Check every link behind a piece of a trace's evidence, those after a broken one too."""
    index = _chunk_index(evidence)
    citing = sum(evidence.evidence_id in one.evidence_ids for one in trace.citations)
    point = point_id(evidence.chunk_id)
    links = (
        Link(LinkName.ANSWER, f"{trace.trace_id}: {trace.outcome}, {trace.started_at:%Y-%m-%d %H:%M}"),
        Link(
            LinkName.CITATION,
            f"cited by {citing} of {len(trace.citations)} claims" if citing else "ranked, not cited",
        ),
        Link(LinkName.EVIDENCE, f"{evidence.evidence_id}: {evidence.chunk_id}", _evidence_fault(evidence)),
        Link(
            LinkName.POINT,
            f"{point} in {trace.generation or 'no generation'}",
            _point_fault(trace, evidence, seen),
        ),
        Link(LinkName.CHUNK, f"no. {index} of {evidence.document_id}", _chunk_fault(evidence, seen)),
        Link(LinkName.VERSION, _short(evidence.content_hash), _version_fault(trace, evidence, seen)),
        Link(LinkName.FILE, evidence.document_id, _file_fault(evidence, seen.file)),
    )
    return Lineage(evidence.evidence_id, evidence.label, links)


def _chunk_index(evidence: UsedEvidence) -> str:
    return evidence.chunk_id.rpartition(":")[2]


def _evidence_fault(evidence: UsedEvidence) -> str | None:
    index = _chunk_index(evidence)
    if not index.isdecimal() or evidence.chunk_id != chunk_id(
        evidence.document_id, evidence.content_hash, int(index)
    ):
        return "the trace contradicts itself: its chunk is none of its document's version"
    if evidence.text is not None and _sha256(evidence.text) != evidence.text_hash:
        return "the text in the trace is not the one that was hashed"
    return None


def _point_fault(trace: Trace, evidence: UsedEvidence, seen: Seen) -> str | None:
    if fault := _gone(trace, evidence, seen):
        return fault if seen.payload is None else f"{fault}, and the point is still there"
    payload = seen.payload
    if payload is None:
        return "the point is missing from Qdrant; `rag-pipeline index` writes it again"
    for name in ("chunk_id", "document_id", "content_hash"):
        if payload.get(name) != getattr(evidence, name):
            return f"the point holds something else: its {name} is {payload.get(name)!r}"
    if payload.get("text_hash") != _sha256(str(payload.get("text"))):
        return "the point's text is not what its text_hash was made of: it was changed in Qdrant"
    if payload.get("text_hash") != evidence.text_hash:
        return "the point holds another text than the one that was ranked"
    if payload.get("published") is not True:
        return "the point is withdrawn from readers"
    return None


def _chunk_fault(evidence: UsedEvidence, seen: Seen) -> str | None:
    if seen.version is None or seen.version.content_hash != evidence.content_hash:
        return "the ledger no longer says where the chunks of this version are"
    if seen.chunk is None:
        return "the artifact with the chunk is gone; `rag-pipeline index` makes it again"
    if seen.chunk.text_hash != evidence.text_hash:
        return "the document was cut or converted in another way since"
    return None


def _version_fault(trace: Trace, evidence: UsedEvidence, seen: Seen) -> str | None:
    if fault := _gone(trace, evidence, seen):
        return fault
    return None if seen.version else "the ledger does not record the document"


def _gone(trace: Trace, evidence: UsedEvidence, seen: Seen) -> str | None:
    """Why the version is no longer what readers see."""
    if trace.generation is None:
        return "the trace names no generation"
    if not seen.generation_exists:
        return f"the generation {trace.generation} was removed"
    if seen.deletion_noticed:
        return f"the document was deleted from its source, as noticed {seen.deletion_noticed:%Y-%m-%d %H:%M}"
    if seen.version and seen.version.content_hash != evidence.content_hash:
        return f"the document has another version since, {_short(seen.version.content_hash)}"
    return None


def _file_fault(evidence: UsedEvidence, file: SeenFile) -> str | None:
    if file.problem:
        return file.problem
    if file.content_hash != evidence.content_hash:
        return f"the file was edited since: it holds version {_short(file.content_hash)}"
    return None


def _short(content_hash: str) -> str:
    return content_hash[:_SHOWN_OF_A_HASH]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
