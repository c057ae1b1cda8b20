"""Failure classes, drawings and videos of submissions."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "recordings",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("made", sa.BigInteger(), nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        sa.Column("video", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_recordings_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_recordings_job_id_jobs", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("submission_id", "part", "position", name="pk_recordings"),
    )
    op.create_index("ix_recordings_job_id", "recordings", ["job_id"])
    op.create_index("ix_recordings_made", "recordings", ["made"])
