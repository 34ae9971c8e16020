"""Store the health of resources, and which resources a reservation lost.

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")

INDEX = "ix_reservations_status_missing_resources"
RESOURCES = sa.table("resources", sa.column("is_reservable", sa.Boolean), sa.column("health", sa.String))


def upgrade() -> None:
    """Replace two flags by the data from which they follow."""
    # Not in a batch: that recreates the table, and SQLite drops all references with the old one.
    op.add_column("resources", sa.Column("health", sa.String(16), nullable=False, server_default="sound"))
    op.add_column("resources", sa.Column("problem", LONG_TEXT, nullable=True))
    op.execute(RESOURCES.update().where(RESOURCES.c.is_reservable.is_(False)).values(health="disabled"))
    op.drop_column("resources", "is_reservable")
    op.add_column("reservations", sa.Column("lost_resources", LONG_TEXT, nullable=True))
    op.drop_column("reservations", "resources_changed")
    op.create_index(INDEX, "reservations", ["status", "missing_resources"])


def downgrade() -> None:
    """Reduce health to whether new reservations may get a resource."""
    op.drop_index(INDEX, "reservations")
    op.add_column(
        "reservations",
        sa.Column("resources_changed", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.drop_column("reservations", "lost_resources")
    op.add_column(
        "resources", sa.Column("is_reservable", sa.Boolean(), nullable=False, server_default=sa.true())
    )
    op.execute(RESOURCES.update().where(RESOURCES.c.health != "sound").values(is_reservable=False))
    op.drop_column("resources", "problem")
    op.drop_column("resources", "health")
