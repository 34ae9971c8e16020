"""Record the reservation of a new booking in the log of changes, and index its bookings.

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
    """Add both columns, empty, and replace the index; the foreign key always has an index."""
    op.add_column("resource_changes", sa.Column("generation", sa.Integer(), nullable=True))
    op.add_column("resource_changes", sa.Column("reservation_id", sa.String(length=36), nullable=True))
    op.create_index(INDEX, "allocations", ["reservation_id", "resource_id"])
    op.drop_index(OLD_INDEX, "allocations")


def downgrade() -> None:
    """Remove the columns, and restore the index."""
    op.create_index(OLD_INDEX, "allocations", ["reservation_id"])
    op.drop_index(INDEX, "allocations")
    op.drop_column("resource_changes", "reservation_id")
    op.drop_column("resource_changes", "generation")
