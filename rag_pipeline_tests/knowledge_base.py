"""A small knowledge base in a folder, for tests: write files and manifests, index, look into the store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from qdrant_client import QdrantClient, models

from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.index.store import StoreLocation, failures_told, open_store
from rag_pipeline.pipeline import Pipeline
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.results import QueryResult, RetrievedChunk
from rag_pipeline.query.retrieval import DEFAULT_OPTIONS, retrieve
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline.services import Services
from rag_pipeline.settings import Settings

PAGE = """# {title}

## Rule

{sentence} It holds for every order that the shop has shipped, wherever it went.

## Exceptions

There are none. Whoever finds one tells the owner of this page about {title}.
"""


class KnowledgeBase:
    """Manifests and files under a folder, indexed with the hashing embedder (no model, no network).

    `settings` replace those defaults.
    """

    def __init__(
        self,
        folder: Path,
        store: StoreLocation | None = None,
        alias: str = "knowledge",
        **settings: Any,
    ) -> None:
        self.folder = folder
        server = store is not None and not store.embedded
        defaults: dict[str, Any] = {"embedding_provider": "hashing", "workers": 1, "lock_wait_s": 20}
        self.settings = Settings(
            home=folder / "home",
            manifests=folder / "manifests",
            alias=alias,
            qdrant_url=store.url if store and server else None,
            qdrant_grpc_port=store.grpc_port if store and server else 6334,
            **(defaults | settings),
        )
        self.services = Services(self.settings)
        self.pipeline = Pipeline(self.services)

    def write(self, source: str, files: Mapping[str, str | bytes]) -> None:
        """Write a source's files."""
        for path, content in files.items():
            file = self.folder / "files" / source / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    def page(self, source: str, *titles: str, sentence: str = "Hardware goes back within 30 days.") -> None:
        """Write a short Markdown page for each title."""
        self.write(source, {f"{t}.md": PAGE.format(title=t, sentence=sentence) for t in titles})

    def remove(self, source: str, path: str) -> None:
        """Delete one file of a source."""
        (self.folder / "files" / source / path).unlink()

    def manifest(self, source: str, roles: Iterable[str] | None = ("support",), **fields: Any) -> None:
        """Write a source's manifest; `roles` None makes it public."""
        rules: dict[str, Any] = {"require_auth": roles is not None}
        if roles is not None:
            rules["allowed_roles"] = list(roles)
        value = {
            "source_id": source,
            "title": source.title(),
            "system": "wiki",
            "owner": "support-team",
            "source_type": "official_policy",
            "trust_tier": 1,
            "lifecycle": "active",
            "audience": ["support"],
            "environments": ["production"],
            "access_rules": rules,
            "location": {"url": f"../../files/{source}"},
            **fields,
        }
        (self.folder / "files" / source).mkdir(parents=True, exist_ok=True)
        file = self.folder / "manifests" / "sources" / f"{source}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(value))

    def index(self, source: str) -> SourceReport:
        """Run the stages of one source as the assets would, each on the table of the one before it."""
        report = self.pipeline.run(source)
        documents, chunks = report.documents, report.chunks
        assert documents.seen == documents.added + documents.changed + documents.unchanged + documents.failed
        assert chunks.expected == chunks.written + chunks.reused + chunks.failed
        assert chunks.expected == chunks.stored + chunks.missing + chunks.failed
        return report

    @property
    def collection(self) -> str:
        """The live physical collection."""
        live = self.services.ledger.generations.live(self.settings.alias)
        assert live is not None
        return live.name

    def points(self) -> dict[str, dict[str, Any]]:
        """Every stored payload by point id, read through the alias."""
        with open_store(self.services.store) as client:
            if aliased_collection(client, self.settings.alias) is None:
                return {}
            records, _ = client.scroll(self.settings.alias, limit=10_000, with_payload=True)
        return {str(record.id): record.payload or {} for record in records}

    def delete_points(self, ids: Iterable[str]) -> None:
        """Delete points behind the pipeline's back."""
        with open_store(self.services.store) as client:
            client.delete(self.collection, models.PointIdsList(points=list(ids)), wait=True)

    def chunk_count(self, document_id: str) -> int:
        """How many chunks the version has that readers may see."""
        source = document_id.split("/")[0]
        return self.services.ledger.documents.of_source(self.collection, source)[document_id].chunk_count

    def find(
        self,
        question: str,
        *groups: str,
        tenant: str = "default",
        limit: int = 10,
        client: QdrantClient | None = None,
    ) -> tuple[RetrievedChunk, ...]:
        """All that a caller of these groups finds, useful or not."""
        options = RetrievalOptions(limit=limit, min_relevance=0.0, collapse_duplicates=False)
        scope = scope_of(*groups, tenant=tenant)
        (result,) = self.retrieve([question], scope, options=options, client=client)
        return result.chunks

    @contextmanager
    def opened(self, client: QdrantClient | None = None) -> Iterator[QdrantClient]:
        """A client that is open already, or one of its own."""
        if client is None:
            with open_store(self.services.store) as own:
                yield own
        else:
            with failures_told(self.services.store):
                yield client

    def retrieve(
        self,
        queries: Sequence[str],
        scope: Scope,
        *,
        options: RetrievalOptions = DEFAULT_OPTIONS,
        client: QdrantClient | None = None,
    ) -> list[QueryResult]:
        """Retrieve by a client that is open already or by one of its own."""

        return retrieve(
            queries,
            scope,
            open_client=lambda: self.opened(client),
            alias=self.settings.alias,
            embedder_of=self.services.embedder_of,
            ledger=self.services.ledger,
            baselines=self.services.baselines,
            options=options,
        ).results


def scope_of(*groups: str, tenant: str = "default", **narrowing: Any) -> Scope:
    """What a caller of these groups may see today; `narrowing` are a scope's other fields."""
    return Scope(
        Identity(groups=frozenset(groups), tenant=tenant), **{"as_of": datetime.now(UTC)} | narrowing
    )
