"""What the stages' tables ask of the store: which documents, in which version, with which facts."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import pandas as pd

from rag_pipeline.errors import FailureCategory, OutOfStep
from rag_pipeline.index.desired import DesiredDocument, kept_version
from rag_pipeline.index.stage import FailedDocument
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.sources.tables import LOOK
from rag_pipeline.stage_tables import failed, succeeded, versions_of

ACCESS_UNKNOWN: Final = (FailureCategory.ACCESS_WIDENED, FailureCategory.BAD_METADATA)
"""Listing failures after which nobody can say who may see the document."""


def require_last_listing(source_id: str, raw: pd.DataFrame, listed_last: str | None) -> None:
    """Refuse a listing that is not the last one: what was noticed since would be taken back.

    A run of the command line, or a build, lists a source without writing the table.
    """
    if raw.attrs.get(LOOK) != listed_last:
        raise OutOfStep(
            f"Source {source_id} was listed again since raw_documents was made, and looked different. "
            "Materialize raw_documents and what follows from it, or run the job index_source."
        )


def require_same_listing(
    source_id: str, raw: pd.DataFrame, embedded: pd.DataFrame, settled: Collection[str]
) -> None:
    """Refuse tables of different listings: old text must not be stored under a new version's id.

    Every listed document must have been embedded in the version that was listed, or be `settled`: it stands
    in a dead letter, or needs nothing.
    """
    listed = raw[raw["category"].isna()]
    wanted, found = versions_of(listed), versions_of(embedded)
    other = [one for one, version in found.items() if wanted.get(one) != version]
    unseen = [one for one in wanted if one not in found and one not in settled]
    if other or unseen:
        example = min([*other, *unseen])
        raise OutOfStep(
            f"Source {source_id}: the embeddings are not of the listing in raw_documents ({example}, say). "
            "Materialize normalized_documents, chunks and embeddings first, or run the job index_source."
        )


def desired_documents(
    source_id: str,
    embedded: pd.DataFrame,
    facts: Mapping[str, Mapping[str, Any]],
    kept: Mapping[str, IndexedDocument],
) -> Iterator[DesiredDocument]:
    """The documents that can be indexed: those of which a chunk has its vector, and those that stay."""
    for document_id, recorded in kept.items():
        if document_id in facts:
            yield kept_version(recorded, facts[document_id])
    for row in succeeded(embedded):
        refused = tuple(int(index) for index in row.failed_chunks.split(",") if index)
        if len(refused) < row.chunk_count:
            yield DesiredDocument(
                document_id=row.document_id,
                source_id=source_id,
                content_hash=row.content_hash,
                normalized_key=row.normalized_key,
                chunks_key=row.chunks_key,
                chunk_count=int(row.chunk_count),
                failed_chunks=refused,
                facts=facts[row.document_id],
            )


def failed_documents(
    raw: pd.DataFrame,
    desired: Collection[str],
    facts: Mapping[str, Mapping[str, Any]],
    sources_own: Mapping[str, Any],
) -> Iterator[FailedDocument]:
    """The listed documents of which no version can be indexed."""
    at_listing = {document_id: error.category for document_id, error in failed(raw)}
    for document_id in raw["document_id"]:
        if document_id not in desired:
            withdraw = at_listing.get(document_id) in ACCESS_UNKNOWN
            yield FailedDocument(document_id, facts.get(document_id, sources_own), withdraw)


def newest(raw: pd.DataFrame) -> datetime | None:
    """When the source's newest document was updated, as far as its documents tell."""
    latest = raw["updated_at"].max()
    return None if pd.isna(latest) else latest.to_pydatetime()
