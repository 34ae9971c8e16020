"""Store trees of providers of hosts, each provider with its inventories and traits.

Existing data are not converted: the next refresh of hosts reads them from Placement.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "sqlite_autoincrement": True,
}
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")
AMOUNTS = ("total", "reserved", "min_unit", "max_unit", "step_size")


def upgrade() -> None:
    """Replace the two tables that described only the root by one table of providers."""
    op.drop_table("host_traits")
    op.drop_table("host_inventories")
    _create(
        "host_providers",
        ["uuid"],
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("parent_uuid", sa.String(length=36), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("inventories", LONG_TEXT, nullable=False),
        sa.Column("traits", LONG_TEXT, nullable=False),
    )


def downgrade() -> None:
    """Create the two former tables, empty."""
    op.drop_table("host_providers")
    _create(
        "host_inventories",
        ["resource_class"],
        sa.Column("resource_class", sa.String(length=255), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in AMOUNTS),
        sa.Column("allocation_ratio", sa.Float(), nullable=False),
    )
    _create("host_traits", ["trait"], sa.Column("trait", sa.String(length=255), nullable=False))


def _create(name: str, key: list[str], *columns: sa.Column[Any]) -> None:
    op.create_table(
        name,
        sa.Column("host_id", sa.String(length=36), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=f"fk_{name}_host_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", *key, name=f"pk_{name}"),
        **OPTIONS,
    )
