"""Store whether subscribers are told if an offer expires.

Revision ID: 0024
Revises: 0023
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, which is true for all offers that exist."""
    op.add_column(
        "offers", sa.Column("expiry_notice", sa.Boolean(), nullable=False, server_default=sa.true())
    )


def downgrade() -> None:
    """Remove the column; subscribers get a notice of every offer that expires."""
    with op.batch_alter_table("offers") as batch:
        batch.drop_column("expiry_notice")
