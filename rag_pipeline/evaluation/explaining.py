"""Explaining a case: looking at every step between its gold and the answer, and at what was found instead."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from qdrant_client import QdrantClient

from rag_pipeline.catalogue import Catalogue
from rag_pipeline.chunking.identity import chunk_id, point_id
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.evaluation.asked_generation import asked_generation
from rag_pipeline.evaluation.case import Case, Category
from rag_pipeline.evaluation.conditions import blocking
from rag_pipeline.evaluation.explanation import Explanation, explained, explained_chunk, holding
from rag_pipeline.evaluation.finding import Findings, asked, find
from rag_pipeline.evaluation.seen import SeenChunk, SeenDocument, SeenRequest
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.query.lineage_reading import SourceFiles
from rag_pipeline.query.searching import CANDIDATES
from rag_pipeline.query.steps import FOUND_PER_QUERY
from rag_pipeline.services import Services
from rag_pipeline.sources.document import source_of

# Points whose conditions are asked for at once: of a longer document what was found, and then its beginning.
_MOST_CHUNKS: Final = 200
_PATIENCE_SECONDS: Final = 60.0


def explain(case: Case, services: Services, generation: str | None = None) -> list[Explanation]:
    """Ask a case and tell, for each of its quotes, at which step the right passage was lost, if it was.

    A required document without a quote is explained by its best passage. A case that must be refused has no
    right passage: for it every passage that was found is explained, and those of the documents that must
    stay hidden. Nothing is recorded, and no outage is played. Raises ConfigurationError where nothing is
    indexed, and what asking raises.
    """
    chosen = asked_generation(services, generation)
    findings = find(asked(case, services, chosen), services, chosen)
    with services.open_store(wait_seconds=_PATIENCE_SECONDS) as client:
        files = SourceFiles(Catalogue(services).find)
        looking = _Looking(client, chosen.name, services, files, findings)
        found = [looking.explain(document, quote) for document, quote in _gold(case)]
        if case.refusal or case.category is Category.UNAUTHORIZED:
            found += looking.explain_found()
    return found


def _gold(case: Case) -> list[tuple[str, str | None]]:
    """The passages to look for: every quote, and the documents that none is of."""
    quoted: list[tuple[str, str | None]] = [(one.document, one.text) for one in case.quotes]
    return quoted + [(one, None) for one in case.documents.ids if one not in dict(quoted)]


@dataclass(frozen=True, slots=True)
class _Looking:
    """The store, the ledger, the artifacts and the sources, looked at for one request."""

    client: QdrantClient
    collection: str
    services: Services
    files: SourceFiles
    findings: Findings

    def explain(self, document_id: str, quote: str | None) -> Explanation:
        """The way of one passage."""
        document = self._document(document_id)
        version = document.version
        hashes = {
            chunk_id(document_id, version.content_hash, one.index): one.text_hash
            for one in holding(document, quote)
            if version
        }
        # What was found comes first: it may stand far behind the chunks that there is time for.
        looked_at = self.findings.looked_at
        ids = sorted(hashes, key=lambda one: one not in looked_at)[:_MOST_CHUNKS]
        return explained(document, quote, self._chunks({one: hashes[one] for one in ids}), self._request)

    def explain_found(self) -> list[Explanation]:
        """The way of every chunk that the request looked at."""
        documents = self.findings.looked_at
        return [
            explained_chunk(documents[one.chunk_id], one, self._request)
            for one in self._chunks(dict.fromkeys(documents))
        ]

    @property
    def _request(self) -> SeenRequest:
        record, options = self.findings.record, self.services.asking
        return SeenRequest(
            threshold=self.findings.threshold,
            per_leg=CANDIDATES,
            looked_at=FOUND_PER_QUERY,
            max_evidence=options.max_evidence,
            context_tokens=options.context_tokens,
            outcome=record.outcome.value if record.outcome else "",
            reason=record.reason,
            reranked=self.findings.reranked,
        )

    def _document(self, document_id: str) -> SeenDocument:
        ledger, artifacts = self.services.ledger, self.services.artifacts
        letters = ledger.dead_letters.listed([source_of(document_id)])
        deletions = ledger.documents.deletions_noticed(self.collection, [document_id])
        version = dict(ledger.documents.versions([document_id])).get(self.collection)
        normalized = artifacts.read(version.normalized_key) if version else None
        chunks = read_chunks(artifacts, version.chunks_key) if version else None
        return SeenDocument(
            document_id=document_id,
            file=self.files.look(document_id),
            letters=tuple(one for one in letters if one.document_id == document_id),
            deletion_noticed=deletions.get(document_id),
            version=version,
            normalized=NormalizedDocument.from_json(normalized) if normalized else None,
            chunks=tuple(chunks[1]) if chunks else (),
        )

    def _chunks(self, ids: Mapping[str, str | None]) -> list[SeenChunk]:
        payloads = self._payloads(ids)
        blocked = self._blocked(payloads)
        return [
            self.findings.seen(
                SeenChunk(one, text_hash, payloads.get(point_id(one)), blocked.get(point_id(one), ()))
            )
            for one, text_hash in ids.items()
        ]

    def _payloads(self, ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        points = [point_id(one) for one in ids]
        if not points:
            return {}
        return {
            str(one.id): one.payload or {}
            for one in self.client.retrieve(self.collection, points, with_payload=True)
        }

    def _blocked(self, payloads: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
        documents = {str(one.get("document_id")) for one in payloads.values()}
        versions = self.services.ledger.documents.current_versions(self.collection, documents)
        record = self.findings.record
        scope = self.findings.scope
        return blocking(self.client, self.collection, payloads, scope, versions, record.manifests or {})
