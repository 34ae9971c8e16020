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
_REFERENCES: Final = (
    ("fk_offer_allocations_offer_id", "offer_id", "offers"),
    ("fk_offer_allocations_resource_id", "resource_id", "resources"),
)


def upgrade() -> None:
    """Add the tables of offers."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
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
        *(_foreign_key(*each) for each in _REFERENCES if is_sqlite),
        sa.PrimaryKeyConstraint("id", name="pk_offer_allocations"),
        **_OPTIONS,
    )
    for table, *columns in _INDEXES:
        op.create_index("_".join(("ix", table, *columns)), table, columns)
    if not is_sqlite:
        # After the indexes. A Galera node can create an index of a table while it applies writes to a table
        # to which the first one refers; then each waits for the other, and no node commits any more. The
        # statement that adds a reference names both tables, so nodes do not carry out both at the same time.
        for name, column, target in _REFERENCES:
            op.create_foreign_key(name, "offer_allocations", target, [column], ["id"], ondelete="CASCADE")


def _foreign_key(name: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    """Remove the tables; what open offers hold becomes free."""
    op.drop_table("offer_allocations")
    op.drop_table("offers")
