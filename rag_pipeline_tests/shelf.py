"""A live generation whose points and ledger rows a test writes itself, for what no source would ever hold."""

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.index.generations import create_collection, create_payload_indexes, fingerprint_of
from rag_pipeline.index.schema import BM25, DENSE, FACT_FIELDS, PointPayload, generation_settings
from rag_pipeline.index.sparse import passage_terms
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.results import QueryResult
from rag_pipeline.query.retrieval import DEFAULT_OPTIONS, retrieve
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.selecting import RetrievalOptions

CONTENT_HASH = "c" * 64
FACTS: Mapping[str, Any] = {
    "tenant": "default",
    "trust_tier": 1,
    "source_type": "official_policy",
    "lifecycle": "active",
    "audience": ["support"],
    "environments": ["production"],
    "access_groups": ["public"],
    "owner": "support-team",
    "system": "wiki",
    "mime_type": "text/markdown",
}


@dataclass(frozen=True)
class Book:
    """A document with a chunk for each text; `facts` replace those that are not said otherwise.

    `recorded` are the facts that the ledger has in place of the points', `readers` who may see it as the
    ledger has it; without `known` the ledger has nothing of it.
    """

    document_id: str
    texts: Sequence[str]
    facts: Mapping[str, Any] = field(default_factory=dict)
    title: str = "Page"
    section_path: tuple[str, ...] = ()
    published: bool = True
    recorded: Mapping[str, Any] = field(default_factory=dict)
    readers: Sequence[str] | None = None
    recorded_hash: str = CONTENT_HASH
    known: bool = True

    @property
    def all_facts(self) -> dict[str, Any]:
        return {name: value for name, value in {**FACTS, **self.facts}.items() if value is not None}

    def with_facts(self, **facts: Any) -> "Book":
        return replace(self, facts={**self.facts, **facts})


class Shelf:
    """The generation, open for writing and asking; on a server in strict mode."""

    def __init__(self, client: QdrantClient, ledger: Ledger, alias: str) -> None:
        self.client = client
        self.ledger = ledger
        self.alias = alias
        self.embedder = HashingEmbedder(64)
        self.collection = f"{alias}_shelf"
        settings = generation_settings(
            model=self.embedder.identity.to_json(), chunking={}, normalizing_version=1, chunking_version=1
        )
        ledger.generations.add(
            Generation(self.collection, alias=alias, fingerprint=fingerprint_of(settings), settings=settings)
        )
        create_collection(client, self.collection, dimensions=64)
        create_payload_indexes(client, self.collection)
        point_at = models.CreateAlias(collection_name=self.collection, alias_name=alias)
        client.update_collection_aliases([models.CreateAliasOperation(create_alias=point_at)])
        ledger.generations.ready(self.collection)
        ledger.generations.promote(alias, self.collection, None)

    def put(self, books: Iterable[Book]) -> None:
        """Write the points and what the ledger records of them."""
        chosen = list(books)
        points = [point for book in chosen for point in self._points(book)]
        for start in range(0, len(points), 200):
            self.client.upsert(self.collection, points[start : start + 200], wait=True)
        self.ledger.documents.record(self.collection, [self._recorded(book) for book in chosen if book.known])
        self.ledger.documents.restrict(
            self.collection,
            {book.document_id: book.readers for book in chosen if book.readers is not None},
        )

    def clear(self) -> None:
        """Take all points away; the ledger keeps what it has."""
        self.client.delete(self.collection, models.FilterSelector(filter=models.Filter()), wait=True)

    def overwrite(self, chunk_id: str, *, without: str) -> None:
        """Take a field out of a chunk's payload."""
        self.client.delete_payload(self.collection, [without], [_point_id(chunk_id)], wait=True)

    def falsify(self, chunk_id: str, /, **fields: Any) -> None:
        """Put other values into a chunk's payload, of whatever type."""
        self.client.set_payload(self.collection, fields, [_point_id(chunk_id)], wait=True)

    def ask(
        self, queries: Sequence[str], scope: Scope, options: RetrievalOptions = DEFAULT_OPTIONS
    ) -> list[QueryResult]:
        """Retrieve from the shelf."""

        @contextmanager
        def opened() -> Iterator[QdrantClient]:
            yield self.client

        return retrieve(
            queries,
            scope,
            open_client=opened,
            alias=self.alias,
            embedder_of=lambda model: self.embedder,
            ledger=self.ledger,
            baselines=Baselines(),
            options=options,
        ).results

    def _points(self, book: Book) -> Iterator[models.PointStruct]:
        for index, text in enumerate(book.texts):
            chunk_id = f"{book.document_id}:{index}"
            payload = PointPayload(
                chunk_id=chunk_id,
                document_id=book.document_id,
                source_id=book.document_id.split("/")[0],
                content_hash=CONTENT_HASH,
                text_hash=hashlib.sha256(text.encode()).hexdigest(),
                fingerprint="f",
                chunk_index=index,
                chunk_count=len(book.texts),
                span_from=0,
                span_to=len(text),
                title=book.title,
                section_path=list(book.section_path),
                text=text,
                published=book.published,
                indexed_at="2026-01-01T00:00:00Z",
                **book.all_facts,
            )
            (vector,) = self.embedder.embed_queries([text])
            vectors = {
                DENSE: vector.tolist(),
                BM25: passage_terms("\n".join((book.title, *book.section_path, text))),
            }
            yield models.PointStruct(
                id=_point_id(chunk_id), vector=vectors, payload=payload.model_dump(exclude_none=True)
            )

    def _recorded(self, book: Book) -> IndexedDocument:
        facts = {name: value for name, value in book.all_facts.items() if name in FACT_FIELDS}
        return IndexedDocument(
            document_id=book.document_id,
            source_id=book.document_id.split("/")[0],
            content_hash=book.recorded_hash,
            normalized_key="n",
            chunks_key="c",
            facts=facts | dict(book.recorded),
            chunk_count=len(book.texts),
            failed_chunks=(),
        )


@contextmanager
def open_shelf(location: StoreLocation, ledger: Ledger, alias: str) -> Iterator[Shelf]:
    """An empty shelf."""
    with open_store(location) as client:
        shelf = Shelf(client, ledger, alias)
        if not location.embedded:
            client.update_collection(
                shelf.collection,
                strict_mode_config=models.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False),
            )
        yield shelf


def _point_id(chunk_id: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, chunk_id))
