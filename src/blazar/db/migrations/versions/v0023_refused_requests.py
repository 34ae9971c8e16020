"""Store requests that were refused for lack of free resources, for planning.

Revision ID: 0023
Revises: 0022
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_NAME = "refused_requests"


def upgrade() -> None:
    """Add the table. Requests that were refused before are not known."""
    instant = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
    op.create_table(
        _NAME,
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("project_id", sa.String(length=255)),
        sa.Column("requested_at", instant, nullable=False),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant, nullable=False),
        sa.Column("reservations", sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql"), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=f"pk_{_NAME}"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        sqlite_autoincrement=True,
    )
    for indexed in (("requested_at",), ("project_id", "requested_at")):
        op.create_index(f"ix_{_NAME}_{'_'.join(indexed)}", _NAME, list(indexed))


def downgrade() -> None:
    """Remove the table."""
    op.drop_table(_NAME)
