"""Keep messages that could not be delivered, with the reason.

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")
OLD_INDEX = "ix_outbox_due_at"
INDEX = "ix_outbox_failed_at_due_at"


def upgrade() -> None:
    """Add both columns; the age of messages from before migration 0008 counts from their next attempt."""
    op.add_column("outbox", sa.Column("failed_at", INSTANT, nullable=True))
    op.add_column("outbox", sa.Column("problem", LONG_TEXT, nullable=True))
    op.execute("UPDATE outbox SET created_at = due_at WHERE created_at IS NULL")
    op.create_index(INDEX, "outbox", ["failed_at", "due_at"])
    op.drop_index(OLD_INDEX, "outbox")


def downgrade() -> None:
    """Remove both columns; failed messages are tried again."""
    op.create_index(OLD_INDEX, "outbox", ["due_at"])
    op.drop_index(INDEX, "outbox")
    op.drop_column("outbox", "problem")
    op.drop_column("outbox", "failed_at")
