"""Store feeds, and leases that were deleted before their end.

Revision ID: 0021
Revises: 0020
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_OPTIONS: Final[dict[str, Any]] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "sqlite_autoincrement": True,
}
_INSTANT: Final = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")


def upgrade() -> None:
    """Add the tables. Leases that were deleted before are not known."""
    op.create_table(
        "feeds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("token_digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("lease_id", sa.String(length=36)),
        sa.Column("question", sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql"), nullable=False),
        sa.Column("alarm_minutes", sa.Integer()),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("last_used_at", _INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_feeds"),
        sa.UniqueConstraint("token_digest", name="uq_feeds_token_digest"),
        **_OPTIONS,
    )
    op.create_index("ix_feeds_project_id_created_at_id", "feeds", ["project_id", "created_at", "id"])
    op.create_index("ix_feeds_created_at", "feeds", ["created_at"])
    op.create_table(
        "deleted_leases",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("project_id", sa.String(length=255)),
        sa.Column("start_at", _INSTANT, nullable=False),
        sa.Column("end_at", _INSTANT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", _INSTANT),
        sa.Column("deleted_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deleted_leases"),
        **_OPTIONS,
    )
    op.create_index("ix_deleted_leases_project_id_deleted_at", "deleted_leases", ["project_id", "deleted_at"])
    op.create_index("ix_deleted_leases_deleted_at", "deleted_leases", ["deleted_at"])


def downgrade() -> None:
    """Remove the tables; the tokens of all feeds are then unknown."""
    op.drop_table("deleted_leases")
    op.drop_table("feeds")
