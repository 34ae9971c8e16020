"""Find the records of a reservation without reading whole tables.

Revision ID: 0026
Revises: 0025
"""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_TABLES: Final = ("held_periods", "journal")


def upgrade() -> None:
    """Create the indexes, which processes of the previous release keep current as well."""
    for table in _TABLES:
        op.create_index(f"ix_{table}_reservation_id", table, ["reservation_id"])


def downgrade() -> None:
    """Drop the indexes; deleting old records of usage then takes time that grows with their square."""
    for table in _TABLES:
        op.drop_index(f"ix_{table}_reservation_id", table)
