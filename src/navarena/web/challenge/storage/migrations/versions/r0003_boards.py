"""An index with which a leaderboard finds out whether it has changed."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_submissions_board", "submissions", ["phase_id", "state", "finished", "id"])
