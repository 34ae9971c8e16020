"""Hosts have trees of providers: inventories and traits say whose they are.

What the tables held is not carried over: the next refresh of hosts reads it from Placement.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

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
AMOUNTS = ("total", "reserved", "min_unit", "max_unit", "step_size")


def upgrade() -> None:
    """Make the two tables anew, and one for the providers themselves."""
    _drop("host_traits", "host_inventories")
    _create(
        "host_providers",
        ["uuid"],
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("parent_uuid", sa.String(length=36), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
    )
    _create_inventories(["provider_uuid", "resource_class"], sa.Double(), _provider_uuid())
    _create_traits(["provider_uuid", "trait"], _provider_uuid())


def downgrade() -> None:
    """Make the two tables as they were, empty."""
    _drop("host_traits", "host_inventories", "host_providers")
    _create_inventories(["resource_class"], sa.Float())
    _create_traits(["trait"])


def _drop(*names: str) -> None:
    for name in names:
        op.drop_table(name)


def _provider_uuid() -> sa.Column[str]:
    return sa.Column("provider_uuid", sa.String(length=36), nullable=False)


def _create_inventories(key: list[str], ratio: sa.types.TypeEngine[Any], *columns: sa.Column[Any]) -> None:
    _create(
        "host_inventories",
        key,
        *columns,
        sa.Column("resource_class", sa.String(length=255), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in AMOUNTS),
        sa.Column("allocation_ratio", ratio, nullable=False),
    )


def _create_traits(key: list[str], *columns: sa.Column[Any]) -> None:
    _create("host_traits", key, *columns, sa.Column("trait", sa.String(length=255), nullable=False))


def _create(name: str, key: list[str], *columns: sa.Column[Any]) -> None:
    op.create_table(
        name,
        sa.Column("host_id", sa.String(length=36), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=f"fk_{name}_host_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", *key, name=f"pk_{name}"),
        **OPTIONS,
    )
