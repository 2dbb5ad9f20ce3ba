"""The tables that the stages hand on: one row a document, its failure included, typed also when empty."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rag_pipeline.chunking.stage import ChunkedResult
from rag_pipeline.embedding.stage import EmbeddedResult
from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.stage import NormalizedResult, document_title

_FAILURE = {"category": "str", "message": "str", "transient": "boolean"}

NORMALIZED_COLUMNS = {
    "document_id": "str",
    "content_hash": "str",
    "normalized_key": "str",
    "title": "str",
    "characters": "Int64",
    "pages": "Int64",
    "seconds": "float64",
    "reused": "boolean",
    "warnings": "str",
    **_FAILURE,
}

CHUNKED_COLUMNS = {
    # Each build has its own chunks of a document.
    "fingerprint": "str",
    "document_id": "str",
    "content_hash": "str",
    "normalized_key": "str",
    "chunks_key": "str",
    "chunk_count": "Int64",
    "reused": "boolean",
    **_FAILURE,
}

EMBEDDED_COLUMNS = {
    "fingerprint": "str",
    "document_id": "str",
    "content_hash": "str",
    "normalized_key": "str",
    "chunks_key": "str",
    "chunk_count": "Int64",
    "embedded": "Int64",
    "reused_vectors": "Int64",
    # Comma-separated, since pandas cannot read a list column's type back from Parquet.
    "failed_chunks": "str",
    **_FAILURE,
}


@dataclass(frozen=True, slots=True)
class StageTable:
    """A stage's outcome for one source and how long it took, in seconds."""

    table: pd.DataFrame
    seconds: float


def normalized_row(result: NormalizedResult) -> dict[str, Any]:
    """A document's row of the normalized table."""
    return {
        "document_id": result.document.document_id,
        "content_hash": result.document.content_hash,
        "normalized_key": result.artifact_key,
        "title": document_title(result.document, result.title),
        "characters": result.characters,
        "pages": result.pages,
        "seconds": result.seconds,
        "reused": result.reused,
        "warnings": "; ".join(result.warnings),
        **_failure_cells(result.error),
    }


def chunked_row(
    result: ChunkedResult, *, fingerprint: str, content_hash: str, normalized_key: str
) -> dict[str, Any]:
    """A document's row of the chunked table, for the build of a fingerprint."""
    return {
        "fingerprint": fingerprint,
        "document_id": result.document_id,
        "content_hash": content_hash,
        "normalized_key": normalized_key,
        "chunks_key": result.artifact_key,
        "chunk_count": result.chunk_count,
        "reused": result.reused,
        **_failure_cells(result.error),
    }


def embedded_row(result: EmbeddedResult, chunked: Any) -> dict[str, Any]:
    """A document's row of the embedded table, which goes on from its row of the chunked one."""
    return {
        "fingerprint": chunked.fingerprint,
        "document_id": result.document_id,
        "content_hash": chunked.content_hash,
        "normalized_key": chunked.normalized_key,
        "chunks_key": result.chunks_key,
        "chunk_count": result.chunk_count,
        "embedded": result.embedded,
        "reused_vectors": result.reused,
        "failed_chunks": ",".join(str(index) for index, _ in result.refused),
        **_failure_cells(result.error),
    }


def _failure_cells(error: DocumentError | None) -> dict[str, Any]:
    if error is None:
        return {"category": None, "message": None, "transient": None}
    return {"category": error.category.value, "message": error.message, "transient": error.transient}


def stage_frame(columns: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A table of the given columns and types, sorted by document id."""
    ordered = sorted(rows, key=lambda row: row["document_id"])
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in ordered], dtype=dtype) for name, dtype in columns.items()}
    )


def versions_of(frame: pd.DataFrame) -> dict[str, str]:
    """The content hash of each document of a table."""
    return dict(zip(frame["document_id"], frame["content_hash"], strict=True))


def succeeded(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows that did not fail, as named tuples."""
    return frame[frame["category"].isna()].itertuples(index=False)


def failed(frame: pd.DataFrame) -> Iterator[tuple[str, DocumentError]]:
    """The failed rows as (document id, error)."""
    rows: Iterable[Any] = frame[frame["category"].notna()].itertuples(index=False)
    for row in rows:
        error = DocumentError(FailureCategory(row.category), row.message, transient=bool(row.transient))
        yield row.document_id, error
