"""The stages of indexing one source, from its listing to its account: what each asset calls.

Tables go in and out, one row a document, so that each stage can be run, kept and looked at by itself. A row
that failed in a stage is left out by the next one and stands in the dead letters.
"""

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
from qdrant_client import QdrantClient
from upath import UPath

from rag_pipeline.chunking.stage import chunk_source
from rag_pipeline.embedding.stage import EmbeddedResult, embed_source
from rag_pipeline.errors import ConfigurationError, DocumentError, FailureCategory, OutOfStep
from rag_pipeline.index.desired import DesiredDocument, document_facts, source_facts
from rag_pipeline.index.generations import ensure_live
from rag_pipeline.index.noticing import notice_listing
from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.index.stage import FailedDocument, index_source
from rag_pipeline.index.store import open_store
from rag_pipeline.ledger.dead_letters import Failure
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.normalize.detecting import detect_type
from rag_pipeline.normalize.stage import attempt_key, normalize_source
from rag_pipeline.progress import LoggedProgress, Progress, shown
from rag_pipeline.services import Services
from rag_pipeline.sources.listing import Listing, list_source
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline.sources.manifest_folder import ManifestSet, load_manifests
from rag_pipeline.sources.tables import documents_from_frame, listing_frame
from rag_pipeline.stage_tables import (
    CHUNKED_COLUMNS,
    EMBEDDED_COLUMNS,
    NORMALIZED_COLUMNS,
    StageTable,
    failed,
    failure_cells,
    stage_frame,
    succeeded,
    versions_of,
)

logger = logging.getLogger(__name__)

LIST, NORMALIZE, CHUNK, EMBED = "list", "normalize", "chunk", "embed"
"""The stages' names in dead letters."""

# Listing failures after which nobody can say who may see the document.
_ACCESS_UNKNOWN = (FailureCategory.ACCESS_WIDENED, FailureCategory.BAD_METADATA)


class Pipeline:
    """Indexing, stage by stage, on the services that the settings describe."""

    def __init__(self, services: Services, progress: Progress | None = None) -> None:
        self.services = services
        self._progress = progress or LoggedProgress()

    @property
    def tables_root(self) -> UPath:
        """The folder of the stages' tables."""
        return self.services.root / "tables"

    def manifests(self) -> ManifestSet:
        """All manifests as they are now, and what is wrong with the rest."""
        return load_manifests(self.services.settings.sources_folder)

    def manifest(self, source_id: str) -> Manifest:
        """One source's manifest; raises ConfigurationError where it is missing or broken."""
        found = self.manifests()
        if source_id in found.manifests:
            return found.manifests[source_id]
        reasons = [str(problem) for problem in found.problems if problem.source_id == source_id]
        if reasons:
            raise ConfigurationError(f"The manifest of source {source_id} is broken: {'; '.join(reasons)}")
        raise ConfigurationError(
            f"There is no manifest of source {source_id} in {self.services.settings.sources_folder}. It has: "
            f"{', '.join(found.manifests) or 'none'}."
        )

    def list_documents(self, source_id: str) -> StageTable:
        """What the source holds now. What is gone or restricted is so for readers from here on."""
        started = time.monotonic()
        manifest, ledger = self.manifest(source_id), self.services.ledger
        listing = list_source(manifest, detect=detect_type)
        for document_id in listing.duplicates:
            logger.warning("%s was listed twice; the later one counts", document_id)
        failures = [Failure(f.document_id, f.content_hash, f.error) for f in listing.failures]
        ledger.dead_letters.record(source_id, LIST, failures)
        if live := ledger.generations.live(self.services.settings.alias):
            notice_listing(
                ledger.documents,
                live,
                source_id=source_id,
                tenant=manifest.tenant,
                readers=_readers(listing),
                source_readers=manifest.access_groups,
            )
        return StageTable(listing_frame(listing), time.monotonic() - started)

    def normalize(self, source_id: str, raw: pd.DataFrame) -> StageTable:
        """Convert what is not converted yet; a failure that must not be tried again is not."""
        started = time.monotonic()
        manifest, services = self.manifest(source_id), self.services
        parsing = manifest.parsing
        letters = services.ledger.dead_letters
        exhausted = letters.exhausted(source_id, NORMALIZE)
        documents = list(documents_from_frame(raw, source_id))
        rows: list[dict[str, Any]] = []
        failures: list[Failure] = []
        with shown(self._progress, source_id, "normalizing", len(documents), "documents") as advance:
            for result in normalize_source(
                documents,
                manifest=manifest,
                passwords=services.passwords(manifest),
                workers=services.settings.workers,
                artifacts=services.artifacts,
                known_failure=lambda one: exhausted.get((one.document_id, attempt_key(one, parsing), None)),
                advance=advance,
            ):
                document = result.document
                if result.error:
                    key = attempt_key(document, parsing)
                    failures.append(
                        Failure(
                            document.document_id,
                            key,
                            result.error,
                            tried=(document.document_id, key, None) not in exhausted,
                        )
                    )
                rows.append(
                    {
                        "document_id": document.document_id,
                        "content_hash": document.content_hash,
                        "normalized_key": result.artifact_key,
                        "title": document.facts.title or result.title or PurePosixPath(document.path).stem,
                        "characters": result.characters,
                        "pages": result.pages,
                        "seconds": result.seconds,
                        "reused": result.reused,
                        "warnings": "; ".join(result.warnings),
                        **failure_cells(result.error),
                    }
                )
        letters.record(source_id, NORMALIZE, failures)
        return StageTable(stage_frame(NORMALIZED_COLUMNS, rows), time.monotonic() - started)

    def chunk(self, source_id: str, normalized: pd.DataFrame) -> StageTable:
        """Split what is not split yet."""
        started = time.monotonic()
        services = self.services
        versions = versions_of(normalized)
        documents = [(row.document_id, row.normalized_key, row.title) for row in succeeded(normalized)]
        rows: list[dict[str, Any]] = []
        failures: list[Failure] = []
        with shown(self._progress, source_id, "chunking", len(documents), "documents") as advance:
            for result in chunk_source(
                documents,
                options=services.chunking,
                tokenizer_name=services.embedder.identity.key,
                count_tokens=services.embedder.count_tokens,
                artifacts=services.artifacts,
                on_done=advance,
            ):
                if result.error:
                    failures.append(Failure(result.document_id, result.artifact_key, result.error))
                rows.append(
                    {
                        "document_id": result.document_id,
                        "content_hash": versions[result.document_id],
                        "chunks_key": result.artifact_key,
                        "chunk_count": result.chunk_count,
                        "reused": result.reused,
                        **failure_cells(result.error),
                    }
                )
        services.ledger.dead_letters.record(source_id, CHUNK, failures)
        return StageTable(stage_frame(CHUNKED_COLUMNS, rows), time.monotonic() - started)

    def embed(self, source_id: str, chunked: pd.DataFrame) -> StageTable:
        """Embed the texts that have no vector yet; a refused one is that chunk's failure alone."""
        started = time.monotonic()
        services = self.services
        versions = versions_of(chunked)
        documents = [(row.document_id, row.chunks_key) for row in succeeded(chunked)]
        total = int(chunked["chunk_count"].sum())
        exhausted = services.ledger.dead_letters.exhausted(source_id, EMBED)

        def known_refusal(document_id: str, chunks_key: str, index: int) -> str | None:
            error = exhausted.get((document_id, chunks_key, index))
            return error.message if error else None

        rows: list[dict[str, Any]] = []
        failures: list[Failure] = []
        with shown(self._progress, source_id, "embedding", total, "chunks") as advance:
            for result in embed_source(
                documents,
                embedder=services.embedder,
                cache=services.ledger.vectors,
                artifacts=services.artifacts,
                known_refusal=known_refusal,
                on_done=advance,
            ):
                failures += _embedding_failures(result, exhausted)
                rows.append(
                    {
                        "document_id": result.document_id,
                        "content_hash": versions[result.document_id],
                        "chunks_key": result.chunks_key,
                        "chunk_count": result.chunk_count,
                        "embedded": result.embedded,
                        "reused_vectors": result.reused,
                        "failed_chunks": ",".join(str(index) for index, _ in result.refused),
                        **failure_cells(result.error),
                    }
                )
        services.ledger.dead_letters.record(source_id, EMBED, failures)
        return StageTable(stage_frame(EMBEDDED_COLUMNS, rows), time.monotonic() - started)

    def index(self, source_id: str, raw: pd.DataFrame, embedded: pd.DataFrame) -> SourceReport:
        """Write, repair, update and delete the source's points, and account for them."""
        services = self.services
        manifest = self.manifest(source_id)
        facts = {
            document.document_id: document_facts(document, manifest)
            for document in documents_from_frame(raw, source_id)
        }
        letters = services.ledger.dead_letters.listed([source_id])
        _require_same_listing(source_id, raw, embedded, {letter.document_id for letter in letters})
        desired = _desired(source_id, embedded, facts)
        with open_store(services.store) as client:
            return index_source(
                client,
                self._live(client),
                source_id=source_id,
                desired=desired,
                failed=_failed(raw, {one.document_id for one in desired}, facts, source_facts(manifest)),
                embedded=int(embedded["embedded"].sum()),
                newest=_newest(raw),
                ledger=services.ledger,
                artifacts=services.artifacts,
                model_key=services.embedder.identity.key,
                progress=self._progress,
            )

    def _live(self, client: QdrantClient) -> Generation:
        services = self.services
        return ensure_live(
            client,
            services.ledger.generations,
            alias=services.settings.alias,
            settings=services.generation_settings,
        )


def _readers(listing: Listing) -> dict[str, Sequence[str] | None]:
    """The groups that may see each listed document; nobody where its access cannot be established."""
    readers: dict[str, Sequence[str] | None] = {
        one.document_id: one.facts.access_groups for one in listing.documents
    }
    for failure in listing.failures:
        readers[failure.document_id] = () if failure.error.category in _ACCESS_UNKNOWN else None
    return readers


def _require_same_listing(
    source_id: str, raw: pd.DataFrame, embedded: pd.DataFrame, failed_before: Collection[str]
) -> None:
    """Refuse tables of different listings: old text must not be stored under a new version's id.

    Every listed document must have been embedded in the version that was listed, or stand in a dead letter.
    """
    listed = raw[raw["category"].isna()]
    wanted, found = versions_of(listed), versions_of(embedded)
    other = [one for one, version in found.items() if wanted.get(one) != version]
    unseen = [one for one in wanted if one not in found and one not in failed_before]
    if other or unseen:
        example = min([*other, *unseen])
        raise OutOfStep(
            f"Source {source_id}: the embeddings are not of the listing in raw_documents ({example}, say). "
            "Materialize normalized_documents, chunks and embeddings first, or run the job index_source."
        )


def _desired(
    source_id: str, embedded: pd.DataFrame, facts: Mapping[str, Mapping[str, Any]]
) -> list[DesiredDocument]:
    """The documents whose new version can be indexed: at least one chunk has its vector."""
    found = []
    for row in succeeded(embedded):
        refused = tuple(int(index) for index in row.failed_chunks.split(",") if index)
        if len(refused) < row.chunk_count:
            found.append(
                DesiredDocument(
                    document_id=row.document_id,
                    source_id=source_id,
                    content_hash=row.content_hash,
                    chunks_key=row.chunks_key,
                    chunk_count=int(row.chunk_count),
                    failed_chunks=refused,
                    facts=facts[row.document_id],
                )
            )
    return found


def _failed(
    raw: pd.DataFrame,
    desired: Collection[str],
    facts: Mapping[str, Mapping[str, Any]],
    sources_own: Mapping[str, Any],
) -> list[FailedDocument]:
    at_listing = {document_id: error.category for document_id, error in failed(raw)}
    return [
        FailedDocument(
            document_id,
            facts.get(document_id, sources_own),
            withdraw=at_listing.get(document_id) in _ACCESS_UNKNOWN,
        )
        for document_id in raw["document_id"]
        if document_id not in desired
    ]


def _newest(raw: pd.DataFrame) -> datetime | None:
    newest = raw["updated_at"].max()
    return None if pd.isna(newest) else newest.to_pydatetime()


def _embedding_failures(
    result: EmbeddedResult, exhausted: Collection[tuple[str, str, int | None]]
) -> Iterator[Failure]:
    """The dead letters of one document's embedding: the document's own, or one a refused chunk."""
    document_id, key = result.document_id, result.chunks_key
    if result.error:
        yield Failure(document_id, key, result.error)
    for index, reason in result.refused:
        error = DocumentError(FailureCategory.EMBEDDING_REFUSED, reason)
        tried = (document_id, key, index) not in exhausted
        yield Failure(document_id, key, error, chunk_index=index, tried=tried)
