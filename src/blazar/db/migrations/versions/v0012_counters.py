"""Widen counters for random initial values, and add counters to rows that are only locked.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

COUNTERS: Final = (("resources", "generation"), ("work", "claim_number"), ("resource_changes", "generation"))
TOUCHED: Final = ("leases", "work")
MODULUS: Final = 1_000_000_000


def upgrade() -> None:
    """Widen the counters, and add the counters of touches."""
    _change_counters(sa.Integer(), sa.BigInteger())
    for table in TOUCHED:
        counter = sa.BigInteger().with_variant(sa.Integer, "sqlite")
        op.add_column(table, sa.Column("touches", counter, nullable=False, server_default="0"))


def downgrade() -> None:
    """Undo the upgrade; counters are reduced to fit."""
    for table in TOUCHED:
        op.drop_column(table, "touches")
    for table, column in COUNTERS:
        op.execute(f"UPDATE {table} SET {column} = {column} % {MODULUS}")  # noqa: S608 - constants
    _change_counters(sa.BigInteger(), sa.Integer())


def _change_counters(before: sa.types.TypeEngine[int], after: sa.types.TypeEngine[int]) -> None:
    # SQLite's integers have 64 bits.
    if op.get_context().dialect.name == "sqlite":
        return
    for table, column in COUNTERS:
        is_optional = table == "resource_changes"
        op.alter_column(table, column, existing_type=before, type_=after, existing_nullable=is_optional)
