"""Refuse to execute a request twice that the message broker delivers twice.

Revision ID: 0025
Revises: 0024
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_INDEX = "ux_journal_lease_id_executed_request_id"


def upgrade() -> None:
    """Add the column, which is null in all entries that exist and in those of the previous release."""
    op.add_column("journal", sa.Column("executed_request_id", sa.String(64)))
    op.create_index(_INDEX, "journal", ["lease_id", "executed_request_id"], unique=True)


def downgrade() -> None:
    """Remove the column; a request that is delivered twice can be executed twice."""
    op.drop_index(_INDEX, "journal")
    with op.batch_alter_table("journal") as batch:
        batch.drop_column("executed_request_id")
