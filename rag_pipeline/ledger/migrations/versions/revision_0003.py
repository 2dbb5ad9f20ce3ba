"""What question sets found of generations, and calibrations that were fitted to questions."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the two tables."""
    op.create_table(
        "evaluations",
        sa.Column("evaluation_id", sa.String(), nullable=False),
        sa.Column("alias", sa.String(), nullable=False),
        sa.Column("generation", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column(
            "record",
            sa.JSON(),
            nullable=False,
            comment="sums, gates and each case's scores; no words of documents",
        ),
        sa.PrimaryKeyConstraint("evaluation_id"),
        comment="What question sets found of generations.",
    )
    op.create_index("ix_evaluations_started_at", "evaluations", ["started_at"])
    op.create_table(
        "calibrations",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("calibration", sa.JSON(), nullable=False, comment="weights and threshold"),
        sa.Column("questions", sa.Integer(), nullable=False, comment="how many it was fitted to"),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint"),
        comment="How relevance is told for generations of a fingerprint, once it was fitted to questions.",
    )
