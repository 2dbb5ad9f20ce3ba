"""The stages of indexing one source, from its listing to its account: what each asset calls.

Tables go in and out, one row a document, so that each stage can be run, kept and looked at by itself. A row
that failed in a stage is left out by the next one and stands in the dead letters.
"""

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
from qdrant_client import QdrantClient
from upath import UPath

from rag_pipeline.builds import Build, builds, distinct, known_types, to_be_made
from rag_pipeline.catalogue import Catalogue
from rag_pipeline.chunking.stage import chunk_source, chunks_key
from rag_pipeline.embedding.stage import EmbeddedResult, embed_source
from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.fault_points import passing
from rag_pipeline.index.deleting import delete_documents
from rag_pipeline.index.desired import document_facts, source_facts
from rag_pipeline.index.generations import ensure_collection
from rag_pipeline.index.live import ensure_live
from rag_pipeline.index.noticing import notice_listing
from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.index.releasing import release_unused
from rag_pipeline.index.stage import index_source
from rag_pipeline.index.store import open_store
from rag_pipeline.index.withholding import withhold
from rag_pipeline.ledger.dead_letters import Failure
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.normalize.detecting import detect_type
from rag_pipeline.normalize.stage import attempt_key, keys_of, normalize_source
from rag_pipeline.progress import LoggedProgress, Progress, shown
from rag_pipeline.services import Services
from rag_pipeline.source_leases import SourceLeases
from rag_pipeline.sources.listing import Listing, list_source
from rag_pipeline.sources.manifest import Lifecycle, Manifest
from rag_pipeline.sources.snapshot import WITHDRAWN, Snapshot
from rag_pipeline.sources.tables import documents_from_frame, listing_frame
from rag_pipeline.stage_tables import (
    CHUNKED_COLUMNS,
    EMBEDDED_COLUMNS,
    NORMALIZED_COLUMNS,
    StageTable,
    chunked_row,
    embedded_row,
    normalized_row,
    stage_frame,
    succeeded,
    versions_of,
)
from rag_pipeline.wanted import (
    ACCESS_UNKNOWN,
    desired_documents,
    failed_documents,
    newest,
    require_last_listing,
    require_same_listing,
)

logger = logging.getLogger(__name__)

LIST, NORMALIZE, CHUNK, EMBED = "list", "normalize", "chunk", "embed"
"""The stages' names in dead letters."""


class Pipeline:
    """Indexing, stage by stage, on the services that the settings describe."""

    def __init__(self, services: Services, progress: Progress | None = None) -> None:
        self.services = services
        self.catalogue = Catalogue(services)
        self._progress = progress or LoggedProgress()
        self._leases = SourceLeases(services)

    @property
    def tables_root(self) -> UPath:
        """The folder of the stages' tables."""
        return self.services.root / "tables"

    @contextmanager
    def holding(self, source_id: str) -> Iterator[None]:
        """Work on a source while nobody else does. Raises LeaseHeld where somebody goes on doing so."""
        settings = self.services.settings
        purpose = f"indexing under the alias {settings.alias}"
        with self._leases.hold(source_id, purpose, wait_seconds=settings.lease_wait_s):
            yield

    def run(self, source_id: str) -> SourceReport:
        """All stages of one source, each on the table of the one before it, while nobody else works on it."""
        with self.holding(source_id):
            raw = self.list_documents(source_id).table
            normalized = self.normalize(source_id, raw).table
            chunks = self.chunk(source_id, normalized).table
            return self.index(source_id, raw, self.embed(source_id, chunks).table)

    def list_documents(self, source_id: str) -> StageTable:
        """What the source holds now. What is gone or restricted is so for readers from here on.

        A source without a manifest, or an archived one, holds nothing any more. Deletions that are not
        plausible are withheld until a person approves them.
        """
        started = time.monotonic()
        ledger = self.services.ledger
        manifest = self.catalogue.find(source_id)
        if manifest is None and source_id not in self.catalogue.indexed():
            self.catalogue.manifest(source_id)  # says what there is
        ledger.source_states.begin(source_id)
        passing("attempt counted")
        withdrawn = manifest is None or manifest.lifecycle is Lifecycle.ARCHIVED
        listing = (
            _nothing()
            if manifest is None or withdrawn
            else list_source(manifest, detect=detect_type, known_types=known_types(self.services, source_id))
        )
        for document_id in listing.duplicates:
            logger.warning("%s was listed twice; the later one counts", document_id)
        failures = [Failure(f.document_id, f.content_hash, f.error) for f in listing.failures]
        ledger.dead_letters.record(source_id, LIST, failures)
        passing("listed")
        self._leases.require(source_id)
        readers = _readers(listing)
        generations = ledger.generations.of_alias(self.services.settings.alias)
        withheld = withhold(
            ledger, generations, source_id=source_id, listed=readers.keys(), deliberate=withdrawn
        )
        for generation in generations:
            notice_listing(
                ledger.documents,
                generation,
                source_id=source_id,
                tenant=manifest.tenant if manifest else None,
                readers=readers,
                source_readers=manifest.access_groups if manifest else (),
                withheld=withheld,
            )
        ledger.source_states.listed(source_id, listing.snapshot.signature, listing.snapshot.in_doubt)
        passing("listing recorded")
        return StageTable(listing_frame(listing), time.monotonic() - started)

    def normalize(self, source_id: str, raw: pd.DataFrame) -> StageTable:
        """Convert what is not converted yet; a failure that must not be tried again is not."""
        started = time.monotonic()
        services = self.services
        letters = services.ledger.dead_letters
        listed = list(documents_from_frame(raw, source_id))
        manifest = self.catalogue.manifest(source_id) if listed else None
        documents = to_be_made(services, source_id, listed, manifest.parsing) if manifest else []
        if manifest is None or not documents:
            letters.record(source_id, NORMALIZE, [])
            return StageTable(stage_frame(NORMALIZED_COLUMNS, []), time.monotonic() - started)
        parsing = manifest.parsing
        exhausted = letters.exhausted(source_id, NORMALIZE)
        services.ledger.uses.add_artifacts(
            (key, one.document_id)
            for one in documents
            if (one.document_id, attempt_key(one, parsing), None) not in exhausted
            for key in keys_of(one, parsing)
        )
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
                rows.append(normalized_row(result))
        letters.record(source_id, NORMALIZE, failures)
        passing("normalized")
        return StageTable(stage_frame(NORMALIZED_COLUMNS, rows), time.monotonic() - started)

    def chunk(self, source_id: str, normalized: pd.DataFrame) -> StageTable:
        """Split what is not split yet, as each build asks."""
        started = time.monotonic()
        services = self.services
        versions = versions_of(normalized)
        rows: list[dict[str, Any]] = []
        failures: list[Failure] = []
        for build in distinct(builds(services)):
            kept = build.kept(source_id)
            documents = {
                row.document_id: (row.document_id, row.normalized_key, row.title)
                for row in succeeded(normalized)
                if not _is_kept(row.document_id, row.content_hash, kept)
            }
            tokenizer = build.embedder.identity.key
            services.ledger.uses.add_artifacts(
                (chunks_key(normalized, title, build.chunking, tokenizer), document_id)
                for document_id, normalized, title in documents.values()
            )
            with shown(self._progress, source_id, "chunking", len(documents), "documents") as advance:
                for result in chunk_source(
                    documents.values(),
                    options=build.chunking,
                    tokenizer_name=tokenizer,
                    count_tokens=build.embedder.count_tokens,
                    artifacts=services.artifacts,
                    on_done=advance,
                ):
                    if result.error:
                        failures.append(Failure(result.document_id, result.artifact_key, result.error))
                    rows.append(
                        chunked_row(
                            result,
                            fingerprint=build.fingerprint,
                            content_hash=versions[result.document_id],
                            normalized_key=documents[result.document_id][1],
                        )
                    )
        services.ledger.dead_letters.record(source_id, CHUNK, failures)
        passing("chunked")
        return StageTable(stage_frame(CHUNKED_COLUMNS, rows), time.monotonic() - started)

    def embed(self, source_id: str, chunked: pd.DataFrame) -> StageTable:
        """Embed the texts that have no vector yet; a refused one is that chunk's failure alone."""
        started = time.monotonic()
        services = self.services
        exhausted = services.ledger.dead_letters.exhausted(source_id, EMBED)

        def known_refusal(document_id: str, chunks_key: str, index: int) -> str | None:
            error = exhausted.get((document_id, chunks_key, index))
            return error.message if error else None

        rows: list[dict[str, Any]] = []
        failures: list[Failure] = []
        for build in distinct(builds(services)):
            table = chunked[chunked["fingerprint"] == build.fingerprint]
            documents = {row.document_id: row for row in succeeded(table)}
            total = int(table["chunk_count"].sum())
            with shown(self._progress, source_id, "embedding", total, "chunks") as advance:
                for result in embed_source(
                    [(row.document_id, row.chunks_key) for row in documents.values()],
                    embedder=build.embedder,
                    cache=services.ledger.vectors,
                    artifacts=services.artifacts,
                    known_refusal=known_refusal,
                    on_done=advance,
                ):
                    failures += _embedding_failures(result, exhausted)
                    rows.append(embedded_row(result, documents[result.document_id]))
        services.ledger.dead_letters.record(source_id, EMBED, failures)
        passing("embedded")
        return StageTable(stage_frame(EMBEDDED_COLUMNS, rows), time.monotonic() - started)

    def index(self, source_id: str, raw: pd.DataFrame, embedded: pd.DataFrame) -> SourceReport:
        """Write, repair, update and delete the source's points in every build, and account for them.

        The account is that of the live generation.
        """
        ledger = self.services.ledger
        require_last_listing(source_id, raw, ledger.source_states.of(source_id).listed_signature)
        manifest = self.catalogue.find(source_id)
        facts = {
            document.document_id: document_facts(document, manifest)
            for document in documents_from_frame(raw, source_id)
            if manifest
        }
        own = source_facts(manifest) if manifest else {}
        letters = {letter.document_id for letter in ledger.dead_letters.listed([source_id])}
        withheld = ledger.withheld.of(source_id)
        waiting = withheld.document_ids if withheld and not withheld.approved else ()
        reports: list[SourceReport] = []
        unfinished: set[str] = set()
        with open_store(self.services.store) as client:
            # Not before the store is open: whoever had it may have promoted another generation.
            fed = builds(self.services)
            for build in fed:
                table = embedded[embedded["fingerprint"] == build.fingerprint]
                worked_on = set(table["document_id"]) | (set() if build.drifted else letters)
                before = build.held(source_id)
                kept = {
                    row.document_id: before[row.document_id]
                    for row in succeeded(raw)
                    if row.document_id not in worked_on
                    and _is_kept(row.document_id, row.content_hash, before)
                }
                require_same_listing(source_id, raw, table, letters | kept.keys())
                desired = list(desired_documents(source_id, table, facts, kept))
                failed = list(failed_documents(raw, {one.document_id for one in desired}, facts, own))
                unfinished |= {one.document_id for one in failed}
                report = index_source(
                    client,
                    self._generation(client, build),
                    source_id=source_id,
                    desired=desired,
                    failed=failed,
                    withheld=dict.fromkeys(waiting, own),
                    embedded=int(table["embedded"].sum()),
                    newest=newest(raw),
                    ledger=ledger,
                    artifacts=self.services.artifacts,
                    model_key=build.embedder.identity.key,
                    progress=self._progress,
                    require_lease=lambda: self._leases.require(source_id),
                )
                reports.append(report)
            self._delete_elsewhere(client, source_id, fed)
        passing("indexed")
        release_unused(
            # What was made of those that failed further on is needed when they are tried again.
            [one for one in ledger.uses.unsettled(source_id) if one not in unfinished],
            ledger=ledger,
            artifacts=self.services.artifacts,
        )
        if not waiting and all(report.reconciled for report in reports):
            self._settle(source_id, manifest)
        return reports[0]

    def _settle(self, source_id: str, manifest: Manifest | None) -> None:
        ledger = self.services.ledger
        if manifest:
            ledger.source_states.settle(source_id)
            passing("source settled")
            return
        # Nothing is left of a source without a manifest: added again, it is built anew.
        ledger.source_states.drop(source_id)
        ledger.dead_letters.drop(source_id)
        for generation in ledger.generations.of_alias(self.services.settings.alias):
            ledger.reconciliations.drop(generation.name, source_id)

    def _delete_elsewhere(self, client: QdrantClient, source_id: str, fed: Sequence[Build]) -> None:
        """What was noticed as gone also goes from the generations that nobody feeds any more."""
        ledger = self.services.ledger
        current = {build.generation.name for build in fed if build.generation}
        for generation in ledger.generations.of_alias(self.services.settings.alias):
            if generation.name in current:
                continue
            if client.collection_exists(generation.name):
                delete_documents(client, generation, ledger.documents, source_id=source_id, document_ids=())
            else:  # somebody dropped it, and its points with it
                pending = ledger.documents.pending_tombstones(generation.name, source_id)
                ledger.documents.confirm_deletions(generation.name, pending)

    def _generation(self, client: QdrantClient, build: Build) -> Generation:
        if build.generation and not build.generation.live:
            ensure_collection(client, build.generation, self.services.collection_options)
            return build.generation
        return ensure_live(
            client,
            self.services.ledger.generations,
            alias=self.services.settings.alias,
            settings=dict(build.settings),
            options=self.services.collection_options,
        )


def _is_kept(document_id: str, content_hash: str, kept: Mapping[str, IndexedDocument]) -> bool:
    """Whether a build keeps what it holds of a document, since its content is the same."""
    return document_id in kept and kept[document_id].content_hash == content_hash


def _nothing() -> Listing:
    """The listing of a source that was withdrawn."""
    look = Snapshot(WITHDRAWN, 0)
    return Listing((), (), (), look)


def _readers(listing: Listing) -> dict[str, Sequence[str] | None]:
    """The groups that may see each listed document; nobody where its access cannot be established."""
    readers: dict[str, Sequence[str] | None] = {
        one.document_id: one.facts.access_groups for one in listing.documents
    }
    for failure in listing.failures:
        readers[failure.document_id] = () if failure.error.category in ACCESS_UNKNOWN else None
    return readers


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
