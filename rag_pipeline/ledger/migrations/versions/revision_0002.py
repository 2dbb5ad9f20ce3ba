"""Traces of requests, the evidence that they used, and feedback."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the three tables."""
    op.create_table(
        "traces",
        sa.Column("trace_id", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("session_id", sa.String()),
        sa.Column("record", sa.JSON(), nullable=False, comment="the whole trace"),
        sa.PrimaryKeyConstraint("trace_id"),
        comment="What was asked, and how each answer came about.",
    )
    op.create_index("ix_traces_started_at", "traces", ["started_at"])
    op.create_table(
        "trace_evidence",
        sa.Column("trace_id", sa.String(), nullable=False),
        sa.Column("evidence_id", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("chunk_id", sa.String(), nullable=False),
        sa.Column("cited", sa.Boolean(), nullable=False, comment="whether the final answer cites it"),
        sa.PrimaryKeyConstraint("trace_id", "evidence_id"),
        comment="Which documents the answers rest on, to be found by document.",
    )
    op.create_index("ix_trace_evidence_evidence_id", "trace_evidence", ["evidence_id"])
    op.create_index("ix_trace_evidence_document_id", "trace_evidence", ["document_id"])
    op.create_table(
        "feedback",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("trace_id", sa.String(), nullable=False),
        sa.Column("rating", sa.String(), nullable=False, comment="up or down"),
        sa.Column("comment", sa.Text()),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("given_by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        comment="What people thought of answers.",
    )
    op.create_index("ix_feedback_trace_id", "feedback", ["trace_id"])
