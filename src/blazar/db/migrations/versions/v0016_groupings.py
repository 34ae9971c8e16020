"""Store how the resources of a reservation are distributed over the values of their properties.

Revision ID: 0016
Revises: 0015
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_COLUMNS: Final = ("same_by", "spread_by")


def upgrade() -> None:
    """Add the columns, which are null for all reservations that exist."""
    for name in _COLUMNS:
        op.add_column("reservations", sa.Column(name, sa.String(length=255)))


def downgrade() -> None:
    """Remove the columns; reservations keep the resources that they hold."""
    with op.batch_alter_table("reservations") as batch:
        for name in _COLUMNS:
            batch.drop_column(name)
