"""Store maintenances, and the resources that they book.

Revision ID: 0018
Revises: 0017
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_OPTIONS: Final[dict[str, Any]] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "sqlite_autoincrement": True,
}
_INDEXES: Final = (
    ("maintenances", "end_at"),
    ("maintenance_resources", "maintenance_id"),
    ("maintenance_resources", "resource_id"),
)
_REFERENCES: Final = (
    ("fk_maintenance_resources_maintenance_id", "maintenance_id", "maintenances"),
    ("fk_maintenance_resources_resource_id", "resource_id", "resources"),
)


def upgrade() -> None:
    """Add the tables of maintenances."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    instant = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
    counter = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "maintenances",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("resource_type", sa.String(length=66), nullable=False),
        sa.Column("reason", sa.String(length=255), nullable=False),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant, nullable=False),
        sa.Column("leaves_pool", sa.Boolean(), nullable=False),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("created_at", instant, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_maintenances"),
        **_OPTIONS,
    )
    op.create_table(
        "maintenance_resources",
        sa.Column("id", counter, nullable=False),
        sa.Column("maintenance_id", sa.String(length=36), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant, nullable=False),
        *(_foreign_key(*each) for each in _REFERENCES if is_sqlite),
        sa.PrimaryKeyConstraint("id", name="pk_maintenance_resources"),
        **_OPTIONS,
    )
    for table, *columns in _INDEXES:
        op.create_index("_".join(("ix", table, *columns)), table, columns)
    if not is_sqlite:
        # After the indexes; see revision 0015.
        for name, column, target in _REFERENCES:
            op.create_foreign_key(name, "maintenance_resources", target, [column], ["id"], ondelete="CASCADE")


def _foreign_key(name: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    """Remove the tables; resources under maintenance become free."""
    op.drop_table("maintenance_resources")
    op.drop_table("maintenances")
