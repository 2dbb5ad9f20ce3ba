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
    Index,
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
    Column("state", String, nullable=False, comment="building, ready, live, previous or failed"),
    Column("created_at", UtcDateTime, nullable=False),
    Column("ready_at", UtcDateTime, comment="when it passed its gates"),
    Column("promoted_at", UtcDateTime, comment="when the alias was last pointed at it"),
    Column("reason", Text, comment="why it failed, or which sources block it"),
)

# Whatever races with whatever, an alias never has two.
Index(
    "one_live_generation",
    generations.c.alias,
    unique=True,
    sqlite_where=generations.c.state == "live",
    postgresql_where=generations.c.state == "live",
)

waivers = Table(
    "waivers",
    metadata,
    Column("generation", String),
    Column("source_id", String),
    Column("waived_by", String, nullable=False),
    Column("reason", Text, nullable=False, comment="what was blocked when it was waived"),
    Column("waived_at", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("generation", "source_id"),
    comment="Who let a generation be promoted despite a source that blocked it.",
)

documents = Table(
    "documents",
    metadata,
    Column("generation", String),
    Column("document_id", String),
    Column("source_id", String, nullable=False, index=True),
    Column("content_hash", String, nullable=False, comment="the version that readers see"),
    Column("normalized_key", String, nullable=False, comment="artifact that holds the version's text"),
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
    Column("due_at", UtcDateTime, comment="when a transient failure is tried again by itself"),
)

source_states = Table(
    "source_states",
    metadata,
    Column("source_id", String, primary_key=True),
    Column("listed_signature", String, comment="what the source looked like when it was last listed"),
    Column("listed_in_doubt", JSON, nullable=False, comment="hashes of files whose times prove nothing"),
    Column("signature", String, comment="the look that was last indexed as a whole"),
    Column("in_doubt", JSON, nullable=False, comment="hashes of files whose times proved nothing then"),
    Column("attempts", Integer, nullable=False, comment="runs begun since the last that indexed the whole"),
    Column("attempted_at", UtcDateTime),
    Column("indexed_at", UtcDateTime, comment="when the source was last indexed as a whole"),
    comment="What is durably known of each source: the sensor compares it with what the source holds.",
)

withheld_deletions = Table(
    "withheld_deletions",
    metadata,
    Column("source_id", String, primary_key=True),
    Column("document_ids", JSON, nullable=False, comment="what is gone from the listing and was kept"),
    Column("listed", Integer, nullable=False, comment="documents that the listing held"),
    Column("recorded", Integer, nullable=False, comment="documents that were indexed"),
    Column("noticed_at", UtcDateTime, nullable=False),
    Column("approved_by", String),
    Column("approved_at", UtcDateTime),
    comment="Implausible listings: an approval covers at most the documents that are named here.",
)

leases = Table(
    "leases",
    metadata,
    Column(
        "name", String, primary_key=True, comment="what is held: a source, or the generations of an alias"
    ),
    Column("holder", String, nullable=False, comment="machine, process and start"),
    Column("purpose", String, nullable=False, comment="what the holder does, for who has to wait"),
    Column("token", String, nullable=False),
    Column("acquired_at", UtcDateTime, nullable=False),
    Column("beaten_at", UtcDateTime, nullable=False, comment="the last heartbeat"),
)

artifact_uses = Table(
    "artifact_uses",
    metadata,
    Column("key", String),
    Column("document_id", String, index=True),
    PrimaryKeyConstraint("key", "document_id"),
    comment="Which documents a stored artifact was made for: it goes with the last of them.",
)

vector_uses = Table(
    "vector_uses",
    metadata,
    Column("model_key", String),
    Column("text_hash", String),
    Column("document_id", String, index=True),
    PrimaryKeyConstraint("model_key", "text_hash", "document_id"),
    comment="Which documents hold a text that a vector was made of: it goes with the last of them.",
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

traces = Table(
    "traces",
    metadata,
    Column("trace_id", String, primary_key=True),
    Column("started_at", UtcDateTime, nullable=False, index=True),
    Column("outcome", String, nullable=False),
    Column("session_id", String),
    Column("record", JSON, nullable=False, comment="the whole trace"),
    comment="What was asked, and how each answer came about.",
)

trace_evidence = Table(
    "trace_evidence",
    metadata,
    Column("trace_id", String),
    Column("evidence_id", String, index=True),
    Column("document_id", String, nullable=False, index=True),
    Column("source_id", String, nullable=False),
    Column("chunk_id", String, nullable=False),
    Column("cited", Boolean, nullable=False, comment="whether the final answer cites it"),
    PrimaryKeyConstraint("trace_id", "evidence_id"),
    comment="Which documents the answers rest on, to be found by document.",
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", String, primary_key=True),
    Column("trace_id", String, nullable=False, index=True),
    Column("rating", String, nullable=False, comment="up or down"),
    Column("comment", Text),
    Column("given_at", UtcDateTime, nullable=False),
    Column("given_by", String, nullable=False),
    comment="What people thought of answers.",
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("evaluation_id", String, primary_key=True),
    Column("alias", String, nullable=False),
    Column("generation", String, nullable=False),
    Column("started_at", UtcDateTime, nullable=False, index=True),
    Column("passed", Boolean, nullable=False),
    Column(
        "record", JSON, nullable=False, comment="sums, gates and each case's scores; no words of documents"
    ),
    comment="What question sets found of generations.",
)

calibrations = Table(
    "calibrations",
    metadata,
    Column("fingerprint", String, primary_key=True),
    Column("calibration", JSON, nullable=False, comment="weights and threshold"),
    Column("questions", Integer, nullable=False, comment="how many it was fitted to"),
    Column("fitted_at", UtcDateTime, nullable=False),
    comment="How relevance is told for generations of a fingerprint, once it was fitted to questions.",
)
