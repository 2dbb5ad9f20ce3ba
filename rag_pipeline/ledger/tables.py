"""The ledger's tables. Times are UTC; SQLite and PostgreSQL both hold them."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    TypeDecorator,
)

metadata = MetaData()


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime. SQLite forgets the zone, so all are stored as UTC and come back as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC."""
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Back with its zone."""
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


generations = Table(
    "generations",
    metadata,
    Column("name", String, primary_key=True, comment="the physical Qdrant collection"),
    Column("alias", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column(
        "settings", JSON, nullable=False, comment="what the fingerprint was made of, to explain a difference"
    ),
    Column("live", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("generation", String),
    Column("document_id", String),
    Column("source_id", String, nullable=False, index=True),
    Column("content_hash", String, nullable=False, comment="the version that readers see"),
    Column("chunks_key", String, nullable=False, comment="artifact that holds the version's chunks"),
    Column("facts", JSON, nullable=False, comment="payload fields that the content does not decide"),
    Column("readers", JSON, nullable=False, comment="groups that may see it as of the last listing"),
    Column("settled", Boolean, nullable=False, comment="false while points are changed in place"),
    Column("chunk_count", Integer, nullable=False),
    Column("failed_chunks", JSON, nullable=False, comment="indexes of chunks in dead letters"),
    Column("indexed_at", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("generation", "document_id"),
    comment="What Qdrant confirmed, one row a document and generation. The switch between versions.",
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("generation", String),
    Column("document_id", String),
    Column("source_id", String, nullable=False, index=True),
    Column("noticed_at", UtcDateTime, nullable=False),
    Column(
        "confirmed_at", UtcDateTime, comment="when a read-back of Qdrant found nothing; empty while pending"
    ),
    PrimaryKeyConstraint("generation", "document_id"),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("id", String, primary_key=True),
    Column("source_id", String, nullable=False, index=True),
    Column("document_id", String, nullable=False),
    Column("chunk_index", Integer, comment="empty where the whole document failed"),
    Column("stage", String, nullable=False),
    Column("input_key", String, nullable=False, comment="what was tried; another key is another attempt"),
    Column("category", String, nullable=False),
    Column("message", Text, nullable=False),
    Column("transient", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("first_failed_at", UtcDateTime, nullable=False),
    Column("last_failed_at", UtcDateTime, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("model_key", String),
    Column("text_hash", String),
    Column("vector", LargeBinary, nullable=False, comment="little-endian float32"),
    PrimaryKeyConstraint("model_key", "text_hash"),
)

reconciliations = Table(
    "reconciliations",
    metadata,
    Column("generation", String),
    Column("source_id", String),
    Column("reconciled", Boolean, nullable=False),
    Column("report", JSON, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("finished_at", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("generation", "source_id"),
    comment="The last reconciliation of each source.",
)
