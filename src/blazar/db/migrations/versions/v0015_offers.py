"""Store offers, and the resources that they hold.

Revision ID: 0015
Revises: 0014
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_OPTIONS: Final[dict[str, Any]] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "sqlite_autoincrement": True,
}
_INDEXES: Final = (
    ("offers", "expires_at"),
    ("offers", "project_id", "expires_at"),
    ("offer_allocations", "offer_id"),
    ("offer_allocations", "expires_at"),
    ("offer_allocations", "resource_id", "reservation_id"),
)


def upgrade() -> None:
    """Add the tables of offers."""
    instant = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
    counter = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    long_text = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")
    op.create_table(
        "offers",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("project_id", sa.String(length=255)),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant, nullable=False),
        sa.Column("before_end_at", instant),
        sa.Column("reservations", long_text, nullable=False),
        sa.Column("expires_at", instant, nullable=False),
        sa.Column("created_at", instant, nullable=False),
        sa.Column("committed_at", instant),
        sa.PrimaryKeyConstraint("id", name="pk_offers"),
        **_OPTIONS,
    )
    op.create_table(
        "offer_allocations",
        sa.Column("id", counter, nullable=False),
        sa.Column("offer_id", sa.String(length=36), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("reservation_id", sa.String(length=36), nullable=False),
        sa.Column("resource_type", sa.String(length=66), nullable=False),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant, nullable=False),
        sa.Column("slots", sa.Integer()),
        sa.Column("demand", sa.Text()),
        sa.Column("expires_at", instant, nullable=False),
        sa.ForeignKeyConstraint(
            ["offer_id"], ["offers.id"], name="fk_offer_allocations_offer_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["resource_id"], ["resources.id"], name="fk_offer_allocations_resource_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_offer_allocations"),
        **_OPTIONS,
    )
    for table, *columns in _INDEXES:
        op.create_index("_".join(("ix", table, *columns)), table, columns)


def downgrade() -> None:
    """Remove the tables; what open offers hold becomes free."""
    op.drop_table("offer_allocations")
    op.drop_table("offers")
