"""Add resources that plugins discover.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")


def upgrade() -> None:
    """Add the table of discovered resources."""
    op.create_table(
        "stock",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("facts", LONG_TEXT, nullable=False),
        sa.Column("amounts", LONG_TEXT, nullable=False),
        sa.Column("created_at", INSTANT),
        sa.Column("updated_at", INSTANT),
        sa.ForeignKeyConstraint(["id"], ["resources.id"], name="fk_stock_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_stock"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Remove the table and its resources."""
    op.execute("DELETE FROM allocations WHERE resource_id IN (SELECT id FROM stock)")
    op.drop_table("stock")
    op.execute("DELETE FROM resources WHERE collection NOT IN ('host', 'floatingip')")
