"""The log says who has newly booked something, and an index finds what.

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

OLD_INDEX = "ix_allocations_reservation_id"
INDEX = "ix_allocations_reservation_id_resource_id"


def upgrade() -> None:
    """Add both columns, empty, and replace the index; there is one all the time, for the foreign key."""
    op.add_column("resource_changes", sa.Column("generation", sa.Integer(), nullable=True))
    op.add_column("resource_changes", sa.Column("reservation_id", sa.String(length=36), nullable=True))
    op.create_index(INDEX, "allocations", ["reservation_id", "resource_id"])
    op.drop_index(OLD_INDEX, "allocations")


def downgrade() -> None:
    """Take the columns away, and put the index back."""
    op.create_index(OLD_INDEX, "allocations", ["reservation_id"])
    op.drop_index(INDEX, "allocations")
    op.drop_column("resource_changes", "reservation_id")
    op.drop_column("resource_changes", "generation")
