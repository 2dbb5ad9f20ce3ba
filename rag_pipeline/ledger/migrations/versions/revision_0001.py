"""The tables of the first release."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create them all."""
    op.create_table(
        "generations",
        sa.Column("name", sa.String(), nullable=False, comment="the physical Qdrant collection"),
        sa.Column("alias", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column(
            "settings",
            sa.JSON(),
            nullable=False,
            comment="what the fingerprint was made of, to explain a difference",
        ),
        sa.Column("state", sa.String(), nullable=False, comment="building, ready, live, previous or failed"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ready_at", sa.DateTime(timezone=True), comment="when it passed its gates"),
        sa.Column("promoted_at", sa.DateTime(timezone=True), comment="when the alias was last pointed at it"),
        sa.Column("reason", sa.Text(), comment="why it failed, or which sources block it"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index(
        "one_live_generation",
        "generations",
        ["alias"],
        unique=True,
        sqlite_where=sa.text("state = 'live'"),
        postgresql_where=sa.text("state = 'live'"),
    )
    op.create_table(
        "waivers",
        sa.Column("generation", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("waived_by", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False, comment="what was blocked when it was waived"),
        sa.Column("waived_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("generation", "source_id"),
        comment="Who let a generation be promoted despite a source that blocked it.",
    )
    op.create_table(
        "documents",
        sa.Column("generation", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False, comment="the version that readers see"),
        sa.Column(
            "normalized_key", sa.String(), nullable=False, comment="artifact that holds the version's text"
        ),
        sa.Column(
            "chunks_key", sa.String(), nullable=False, comment="artifact that holds the version's chunks"
        ),
        sa.Column(
            "facts", sa.JSON(), nullable=False, comment="payload fields that the content does not decide"
        ),
        sa.Column(
            "readers", sa.JSON(), nullable=False, comment="groups that may see it as of the last listing"
        ),
        sa.Column("settled", sa.Boolean(), nullable=False, comment="false while points are changed in place"),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("failed_chunks", sa.JSON(), nullable=False, comment="indexes of chunks in dead letters"),
        sa.Column("indexed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("generation", "document_id"),
        comment="What Qdrant confirmed, one row a document and generation. The switch between versions.",
    )
    op.create_index("ix_documents_source_id", "documents", ["source_id"])
    op.create_table(
        "tombstones",
        sa.Column("generation", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("noticed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "confirmed_at",
            sa.DateTime(timezone=True),
            comment="when a read-back of Qdrant found nothing; empty while pending",
        ),
        sa.PrimaryKeyConstraint("generation", "document_id"),
    )
    op.create_index("ix_tombstones_source_id", "tombstones", ["source_id"])
    op.create_table(
        "dead_letters",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("chunk_index", sa.Integer(), comment="empty where the whole document failed"),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column(
            "input_key", sa.String(), nullable=False, comment="what was tried; another key is another attempt"
        ),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("transient", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("first_failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "due_at", sa.DateTime(timezone=True), comment="when a transient failure is tried again by itself"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_dead_letters_source_id", "dead_letters", ["source_id"])
    op.create_table(
        "source_states",
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column(
            "listed_signature", sa.String(), comment="what the source looked like when it was last listed"
        ),
        sa.Column(
            "listed_in_doubt", sa.JSON(), nullable=False, comment="hashes of files whose times prove nothing"
        ),
        sa.Column("signature", sa.String(), comment="the look that was last indexed as a whole"),
        sa.Column(
            "in_doubt", sa.JSON(), nullable=False, comment="hashes of files whose times proved nothing then"
        ),
        sa.Column(
            "attempts",
            sa.Integer(),
            nullable=False,
            comment="runs begun since the last that indexed the whole",
        ),
        sa.Column("attempted_at", sa.DateTime(timezone=True)),
        sa.Column(
            "indexed_at", sa.DateTime(timezone=True), comment="when the source was last indexed as a whole"
        ),
        sa.PrimaryKeyConstraint("source_id"),
        comment="What is durably known of each source: the sensor compares it with what the source holds.",
    )
    op.create_table(
        "withheld_deletions",
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column(
            "document_ids", sa.JSON(), nullable=False, comment="what is gone from the listing and was kept"
        ),
        sa.Column("listed", sa.Integer(), nullable=False, comment="documents that the listing held"),
        sa.Column("recorded", sa.Integer(), nullable=False, comment="documents that were indexed"),
        sa.Column("noticed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("approved_by", sa.String()),
        sa.Column("approved_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("source_id"),
        comment="Implausible listings: an approval covers at most the documents that are named here.",
    )
    op.create_table(
        "leases",
        sa.Column(
            "name",
            sa.String(),
            nullable=False,
            comment="what is held: a source, or the generations of an alias",
        ),
        sa.Column("holder", sa.String(), nullable=False, comment="machine, process and start"),
        sa.Column(
            "purpose", sa.String(), nullable=False, comment="what the holder does, for who has to wait"
        ),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("acquired_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("beaten_at", sa.DateTime(timezone=True), nullable=False, comment="the last heartbeat"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "artifact_uses",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key", "document_id"),
        comment="Which documents a stored artifact was made for: it goes with the last of them.",
    )
    op.create_index("ix_artifact_uses_document_id", "artifact_uses", ["document_id"])
    op.create_table(
        "vector_uses",
        sa.Column("model_key", sa.String(), nullable=False),
        sa.Column("text_hash", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("model_key", "text_hash", "document_id"),
        comment="Which documents hold a text that a vector was made of: it goes with the last of them.",
    )
    op.create_index("ix_vector_uses_document_id", "vector_uses", ["document_id"])
    op.create_table(
        "vectors",
        sa.Column("model_key", sa.String(), nullable=False),
        sa.Column("text_hash", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False, comment="little-endian float32"),
        sa.PrimaryKeyConstraint("model_key", "text_hash"),
    )
    op.create_table(
        "reconciliations",
        sa.Column("generation", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("reconciled", sa.Boolean(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("generation", "source_id"),
        comment="The last reconciliation of each source.",
    )
