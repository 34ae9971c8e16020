"""Allow an allocation to be a share of its resource.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns for the number of slots of a share and for the demand of each."""
    op.add_column("allocations", sa.Column("slots", sa.Integer(), nullable=True))
    op.add_column("allocations", sa.Column("demand", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove the columns; shares become allocations of unknown size."""
    op.drop_column("allocations", "demand")
    op.drop_column("allocations", "slots")
