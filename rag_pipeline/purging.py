"""Erasing one document everywhere, and the certificate that says what was removed and read back as gone."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import pandas as pd
from qdrant_client import QdrantClient
from upath import UPath

from rag_pipeline.errors import ConfigurationError, SourceUnavailable, StoreError
from rag_pipeline.index.deleting import delete_documents
from rag_pipeline.index.scanning import points_of_documents
from rag_pipeline.index.store import open_store
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.ledger.uses import Stored
from rag_pipeline.pipeline import Pipeline
from rag_pipeline.query.tracing import erase_words, traces_with_words
from rag_pipeline.services import Services
from rag_pipeline.sources.document import source_of
from rag_pipeline.sources.listing import find_files


@dataclass(frozen=True, slots=True)
class DeletionCertificate:
    """What was removed of a document where. `left` counts what a second look still found: all 0.

    `traces` are those of answers that had used it: their ids and scores stay, and no word of it. `comments`
    are those of people on such answers, whose ratings stay. `pages` are all those of
    evaluations, which may quote it; the next evaluation writes a new one.
    `shared` are artifacts and vectors that other documents with the same content go on using.
    `still_in_source` warns that the source still holds the file, so that the next run would index it again.
    """

    document_id: str
    purged_at: str
    points: dict[str, int]
    artifacts: int
    vectors: int
    dead_letters: int
    table_rows: int
    traces: int
    comments: int
    pages: int
    shared: int
    still_in_source: bool
    left: dict[str, int] = field(default_factory=dict)


def purge(pipeline: Pipeline, document_id: str) -> tuple[DeletionCertificate, UPath]:
    """Erase a document, and return its certificate and where that is kept.

    Raises ConfigurationError where nothing is known of it, StoreError where a read-back finds something.
    """
    source_id = source_of(document_id)
    with pipeline.holding(source_id), open_store(pipeline.services.store) as client:
        certificate = _purged(pipeline, client, source_id, document_id)
    folder = pipeline.services.root / "certificates"
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(document_id.encode(errors="surrogatepass")).hexdigest()[:12]
    file = folder / f"{certificate.purged_at[:19].replace(':', '')}_{name}.json"
    file.write_text(json.dumps(asdict(certificate), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if any(certificate.left.values()):
        raise StoreError(f"{document_id} is not wholly erased: {certificate.left}. Run purge again.")
    return certificate, file


def _purged(
    pipeline: Pipeline, client: QdrantClient, source_id: str, document_id: str
) -> DeletionCertificate:
    services = pipeline.services
    ledger, artifacts = services.ledger, services.artifacts
    generations = [
        one
        for one in ledger.generations.of_alias(services.settings.alias)
        if client.collection_exists(one.name)
    ]
    points = {one.name: len(points_of_documents(client, one.name, [document_id])) for one in generations}
    letters = [one for one in ledger.dead_letters.listed([source_id]) if one.document_id == document_id]
    used = ledger.uses.of_document(document_id)
    rows = sum(len(table[table["document_id"] == document_id]) for _, table in _tables(pipeline, source_id))
    known = any(points.values()) or letters or used.keys or rows or traces_with_words(ledger, document_id)
    # A run may have deleted it already, since its file had to go first; it is looked for all the same.
    recorded = ledger.documents.versions([document_id]) or ledger.documents.was_deleted(document_id)
    if not known and not recorded:
        raise ConfigurationError(
            f"Nothing is known of a document {document_id}. Ids are <source_id>/<path>, as `rag-pipeline "
            "retrieve` and `dead-letters` print them."
        )
    for generation in generations:
        delete_documents(
            client, generation, ledger.documents, source_id=source_id, document_ids=[document_id]
        )
    own = ledger.uses.unused_without({document_id: Stored()})
    for key in own.keys:
        artifacts.delete(key)
    ledger.vectors.delete(own.vectors)
    ledger.uses.replace({document_id: Stored()})
    ledger.dead_letters.drop_document(document_id)
    for file, table in _tables(pipeline, source_id):
        _write_without(file, table, document_id)
    traces = erase_words(ledger, document_id)
    comments = ledger.feedback.erase_comments_on(document_id)
    pages = _pages(services)
    for page in pages:
        page.unlink()
    return DeletionCertificate(
        document_id=document_id,
        purged_at=datetime.now(UTC).isoformat(),
        points=points,
        artifacts=len(own.keys),
        vectors=len(own.vectors),
        dead_letters=len(letters),
        table_rows=rows,
        traces=traces,
        comments=comments,
        pages=len(pages),
        shared=len(used.keys - own.keys) + len(used.vectors - own.vectors),
        still_in_source=_still_in_source(pipeline, source_id, document_id),
        left=_left(pipeline, client, generations, source_id, document_id, own),
    )


def _left(
    pipeline: Pipeline,
    client: QdrantClient,
    generations: list[Generation],
    source_id: str,
    document_id: str,
    own: Stored,
) -> dict[str, int]:
    """What a second look finds in each place."""
    ledger, artifacts = pipeline.services.ledger, pipeline.services.artifacts
    models = {model_key for model_key, _ in own.vectors}
    return {
        "points": sum(len(points_of_documents(client, one.name, [document_id])) for one in generations),
        "artifacts": sum(artifacts.exists(key) for key in own.keys),
        "vectors": sum(
            len(ledger.vectors.get(model, [text for key, text in own.vectors if key == model]))
            for model in models
        ),
        "ledger": len(ledger.documents.versions([document_id])),
        "dead_letters": sum(
            one.document_id == document_id for one in ledger.dead_letters.listed([source_id])
        ),
        "table_rows": sum(
            len(table[table["document_id"] == document_id]) for _, table in _tables(pipeline, source_id)
        ),
        "traces": traces_with_words(ledger, document_id),
        "comments": ledger.feedback.comments_on(document_id),
        "pages": len(_pages(pipeline.services)),
    }


def _pages(services: Services) -> list[UPath]:
    """The evaluations' pages. Which of them quote a document no search in them can tell for sure."""
    folder = services.evaluation_pages
    return list(folder.iterdir()) if folder.exists() else []


def _tables(pipeline: Pipeline, source_id: str) -> Iterator[tuple[UPath, pd.DataFrame]]:
    """The stages' tables of a source that exist."""
    if not pipeline.tables_root.exists():
        return
    for folder in pipeline.tables_root.iterdir():
        file = folder / f"{source_id}.parquet"
        if file.exists():
            with file.open("rb") as stream:
                yield file, pd.read_parquet(stream)


def _write_without(file: UPath, table: pd.DataFrame, document_id: str) -> None:
    remaining: Any = table[table["document_id"] != document_id].reset_index(drop=True)
    if len(remaining) < len(table):
        with file.open("wb") as stream:
            remaining.to_parquet(stream, index=False)


def _still_in_source(pipeline: Pipeline, source_id: str, document_id: str) -> bool:
    manifest = pipeline.catalogue.find(source_id)
    if manifest is None:
        return False
    try:
        _, files = find_files(manifest)
    except SourceUnavailable:
        return True  # nobody can say that it is gone
    return any(f"{source_id}/{file.path}" == document_id for file in files)
