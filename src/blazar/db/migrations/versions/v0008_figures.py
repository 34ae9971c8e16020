"""Add indexes for statistics that monitoring reads often.

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
LEASES = "ix_leases_status"
ALLOCATIONS = "ix_allocations_start_at_released_at_resource_id"


def upgrade() -> None:
    """Add two indexes, and the age of messages, which is unknown for existing ones."""
    op.create_index(LEASES, "leases", ["status"])
    op.create_index(ALLOCATIONS, "allocations", ["start_at", "released_at", "resource_id"])
    op.add_column("outbox", sa.Column("created_at", INSTANT, nullable=True))


def downgrade() -> None:
    """Remove the indexes and the column."""
    op.drop_column("outbox", "created_at")
    op.drop_index(ALLOCATIONS, "allocations")
    op.drop_index(LEASES, "leases")
