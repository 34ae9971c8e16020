"""Store what leases have used, for usage rules on the time until the next use.

Revision ID: 0019
Revises: 0018
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_OPTIONS: Final[dict[str, Any]] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "sqlite_autoincrement": True,
}


def upgrade() -> None:
    """Create the table. What was used before is not recorded."""
    instant = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
    op.create_table(
        "past_uses",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("resource_type", sa.String(length=66), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant, nullable=False),
        sa.Column("slots", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name="pk_past_uses"),
        **_OPTIONS,
    )
    op.create_index("ix_past_uses_end_at", "past_uses", ["end_at"])
    op.create_index("ix_past_uses_project_id_end_at", "past_uses", ["project_id", "end_at"])


def downgrade() -> None:
    """Remove the table."""
    op.drop_table("past_uses")
