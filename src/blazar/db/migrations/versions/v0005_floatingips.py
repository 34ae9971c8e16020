"""Add registered floating IPs.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")


def upgrade() -> None:
    """Add the table of floating IPs."""
    op.create_table(
        "floatingips",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("network_id", sa.String(length=36), nullable=False),
        sa.Column("subnet_id", sa.String(length=36), nullable=False),
        sa.Column("address", sa.String(length=45), nullable=False),
        sa.Column("created_at", INSTANT),
        sa.Column("updated_at", INSTANT),
        sa.ForeignKeyConstraint(["id"], ["resources.id"], name="fk_floatingips_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_floatingips"),
        sa.UniqueConstraint("network_id", "address", name="uq_floatingips_network_id_address"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Remove the table and its resources."""
    op.execute(
        "DELETE FROM allocations WHERE resource_id IN"
        " (SELECT id FROM resources WHERE collection = 'floatingip')"
    )
    op.execute("DELETE FROM resources WHERE collection = 'floatingip'")
    op.drop_table("floatingips")
