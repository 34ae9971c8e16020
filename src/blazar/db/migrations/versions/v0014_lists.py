"""Index the orders in which leases, hosts and floating IPs are listed in pages.

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_LEASE_ORDERS: Final = ("created_at", "start_at", "end_at", "name")
INDEXES: Final = (
    *(("leases", column, "id") for column in _LEASE_ORDERS),
    *(("leases", "project_id", column, "id") for column in _LEASE_ORDERS),
    ("hosts", "created_at", "id"),
    ("floatingips", "created_at", "id"),
    ("floatingips", "address", "id"),
)
OLD_INDEX: Final = "ix_leases_project_id_end_at"


def upgrade() -> None:
    """Create the indexes; one of them replaces an index without the id."""
    for table, *columns in INDEXES:
        op.create_index(_name(table, columns), table, columns)
    op.drop_index(OLD_INDEX, "leases")


def downgrade() -> None:
    """Drop the indexes, and restore the one that was replaced."""
    op.create_index(OLD_INDEX, "leases", ["project_id", "end_at"])
    for table, *columns in INDEXES:
        op.drop_index(_name(table, columns), table)


def _name(table: str, columns: list[str]) -> str:
    return "_".join(("ix", table, *columns))
