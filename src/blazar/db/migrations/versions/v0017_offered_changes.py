"""Store for which lease an offer is, and the change of the lease that it holds resources for.

Revision ID: 0017
Revises: 0016
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, which are null for the offers that exist: they are for new leases."""
    long_text = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")
    instant = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
    op.add_column("offers", sa.Column("lease_id", sa.String(length=36)))
    op.add_column("offers", sa.Column("planned_change", long_text))
    op.add_column("offers", sa.Column("outdated_at", instant))
    op.create_index("ix_offers_lease_id", "offers", ["lease_id"])


def downgrade() -> None:
    """Remove offers for existing leases with what they hold, then the columns."""
    op.execute(
        "DELETE FROM offer_allocations WHERE offer_id IN (SELECT id FROM offers WHERE lease_id IS NOT NULL)"
    )
    op.execute("DELETE FROM offers WHERE lease_id IS NOT NULL")
    op.drop_index("ix_offers_lease_id", "offers")
    with op.batch_alter_table("offers") as batch:
        for name in ("lease_id", "planned_change", "outdated_at"):
            batch.drop_column(name)
