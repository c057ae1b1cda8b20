"""Adds the training data of an agent."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column; older submissions say nothing."""
    column = sa.Column("training_data", sa.String(length=200), nullable=False, server_default="")
    op.add_column("submissions", column)
