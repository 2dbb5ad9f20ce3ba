"""Listings as DataFrames: one row a document, those that failed included."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pandas as pd

from rag_pipeline.sources.document import DocumentFacts, RawDocument
from rag_pipeline.sources.listing import Listing, ListingFailure

LISTING_COLUMNS = {
    "document_id": "str",
    "path": "str",
    "url": "str",
    "mime_type": "str",
    "size": "Int64",
    "content_hash": "str",
    "title": "str",
    "language": "str",
    "source_url": "str",
    # Lists of str. pandas cannot read an Arrow list type back from Parquet's metadata, so plain objects.
    "access_groups": "object",
    "updated_at": "datetime64[us, UTC]",
    "effective_at": "datetime64[us, UTC]",
    "valid_until": "datetime64[us, UTC]",
    "category": "str",
    "message": "str",
    "transient": "boolean",
}
"""Columns of a listing's table and their pandas types, the same for an empty listing."""


LOOK = "look"
"""The attribute of a listing's table that says what the source looked like. Parquet keeps it."""


def listing_frame(listing: Listing) -> pd.DataFrame:
    """A listing as a table sorted by document id.

    `category`, `message` and `transient` are missing for documents, whatever was not learnt is missing for
    failures (they hold an empty list of access groups).
    """
    rows = [_document_row(document) for document in listing.documents]
    rows += [_failure_row(failure) for failure in listing.failures]
    rows.sort(key=lambda row: row[0])
    columns = list(zip(*rows, strict=True)) or [()] * len(LISTING_COLUMNS)
    frame = pd.DataFrame(
        {
            name: pd.Series(list(cells), dtype=dtype)
            for (name, dtype), cells in zip(LISTING_COLUMNS.items(), columns, strict=True)
        }
    )
    frame.attrs[LOOK] = listing.snapshot.signature
    return frame


def documents_from_frame(frame: pd.DataFrame, source_id: str) -> Iterator[RawDocument]:
    """The documents of a table made by `listing_frame`, failures left out, one at a time."""
    listed = frame[frame["category"].isna()]
    columns = [listed[name] for name in LISTING_COLUMNS]
    for cells in zip(*columns, strict=True):
        row = dict(zip(LISTING_COLUMNS, cells, strict=True))
        yield RawDocument(
            document_id=row["document_id"],
            source_id=source_id,
            path=row["path"],
            url=row["url"],
            size=int(row["size"]),
            content_hash=row["content_hash"],
            mime_type=row["mime_type"],
            facts=DocumentFacts(
                title=_text(row["title"]),
                language=_text(row["language"]),
                source_url=_text(row["source_url"]),
                access_groups=tuple(row["access_groups"]),
                updated_at=_moment(row["updated_at"]),
                effective_at=_moment(row["effective_at"]),
                valid_until=_moment(row["valid_until"]),
            ),
        )


def _document_row(document: RawDocument) -> tuple[Any, ...]:
    facts = document.facts
    return (
        document.document_id, document.path, document.url, document.mime_type, document.size,
        document.content_hash, facts.title, facts.language, facts.source_url, list(facts.access_groups),
        facts.updated_at, facts.effective_at, facts.valid_until, None, None, None,
    )  # fmt: skip


def _failure_row(failure: ListingFailure) -> tuple[Any, ...]:
    error = failure.error
    return (
        failure.document_id, failure.path, None, None, None, failure.content_hash, None, None, None, [],
        None, None, None, error.category.value, error.message, error.transient,
    )  # fmt: skip


def _text(cell: Any) -> str | None:
    return None if pd.isna(cell) else str(cell)


def _moment(cell: Any) -> datetime | None:
    return None if pd.isna(cell) else cell.to_pydatetime()
