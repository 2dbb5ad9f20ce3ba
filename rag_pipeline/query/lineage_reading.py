"""Looking at what is there now behind a trace's evidence: in Qdrant, the ledger, artifacts and sources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from qdrant_client import QdrantClient
from upath import UPath

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.chunking.chunk import Chunk
from rag_pipeline.chunking.identity import point_id
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.errors import ConfigurationError, DocumentError, SourceUnavailable
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.lineage import Lineage, Seen, SeenFile, lineage
from rag_pipeline.query.trace import Trace, UsedEvidence
from rag_pipeline.sources.document import source_of
from rag_pipeline.sources.listing import find_files, hash_file
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline.sources.walk import FoundFile


@dataclass(frozen=True, slots=True)
class Places:
    """Where a walk back looks. `find_manifest` may raise ConfigurationError where a manifest is broken."""

    client: QdrantClient
    ledger: Ledger
    artifacts: ArtifactStore
    find_manifest: Callable[[str], Manifest | None]


def evidence_to_walk(trace: Trace, some_id: str) -> list[UsedEvidence]:
    """The evidence of this id; for the trace's own id what the answer cites, or all if it cites nothing."""
    named = [one for one in trace.evidence if one.evidence_id == some_id]
    cited = {one for claim in trace.citations for one in claim.evidence_ids}
    return named or [one for one in trace.evidence if one.evidence_id in cited] or trace.evidence


def walk_back(trace: Trace, chosen: list[UsedEvidence], places: Places) -> list[Lineage]:
    """Walk from an answer to the files behind some of its evidence, re-checking every hash on the way."""
    files = SourceFiles(places.find_manifest)
    exists = trace.generation is not None and places.client.collection_exists(trace.generation)
    return [
        lineage(trace, one, _see(trace.generation if exists else None, one, places, files)) for one in chosen
    ]


def _see(generation: str | None, evidence: UsedEvidence, places: Places, files: "SourceFiles") -> Seen:
    document_id, ledger = evidence.document_id, places.ledger
    if generation is None:
        return Seen(False, None, None, None, None, files.look(document_id))
    version = dict(ledger.documents.versions([document_id])).get(generation)
    return Seen(
        generation_exists=True,
        payload=_payload(places.client, generation, evidence),
        version=version,
        deletion_noticed=ledger.documents.deletions_noticed(generation, [document_id]).get(document_id),
        chunk=_chunk(places.artifacts, version, evidence),
        file=files.look(document_id),
    )


def _payload(client: QdrantClient, generation: str, evidence: UsedEvidence) -> Mapping[str, Any] | None:
    found = client.retrieve(generation, [point_id(evidence.chunk_id)], with_payload=True)
    return (found[0].payload or {}) if found else None


def _chunk(artifacts: ArtifactStore, version: IndexedDocument | None, evidence: UsedEvidence) -> Chunk | None:
    stored = read_chunks(artifacts, version.chunks_key) if version else None
    index = evidence.chunk_id.rpartition(":")[2]
    return next((one for one in stored[1] if str(one.index) == index), None) if stored else None


@dataclass(frozen=True, slots=True)
class _Listed:
    manifest: Manifest
    root: UPath
    files: Mapping[str, FoundFile]


class SourceFiles:
    """The files of sources as they are now; each source is listed once.

    `find_manifest` may raise ConfigurationError where a manifest is broken.
    """

    def __init__(self, find_manifest: Callable[[str], Manifest | None]) -> None:
        self._find_manifest = find_manifest
        self._sources: dict[str, _Listed | SeenFile] = {}

    def look(self, document_id: str) -> SeenFile:
        """What a document's file holds."""
        source_id = source_of(document_id)
        if source_id not in self._sources:
            self._sources[source_id] = self._listed(source_id)
        listed = self._sources[source_id]
        if isinstance(listed, SeenFile):
            return listed
        file = listed.files.get(document_id)
        if file is None:
            return SeenFile(problem="the file is gone from its source, or excluded by the manifest")
        try:
            return SeenFile(hash_file(listed.manifest, listed.root, file))
        except DocumentError as error:
            return SeenFile(problem=error.message)

    def _listed(self, source_id: str) -> _Listed | SeenFile:
        try:
            manifest = self._find_manifest(source_id)
            if manifest is None:
                return SeenFile(problem=f"the source {source_id} has no manifest any more")
            root, files = find_files(manifest)
        except (ConfigurationError, SourceUnavailable) as error:
            return SeenFile(problem=str(error))
        return _Listed(manifest, root, {f"{source_id}/{file.path}": file for file in files})
