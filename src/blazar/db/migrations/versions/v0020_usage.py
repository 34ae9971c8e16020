"""Store what happened to leases and resources, for questions about usage.

Revision ID: 0020
Revises: 0019
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_OPTIONS: Final[dict[str, Any]] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "sqlite_autoincrement": True,
}
_INSTANT: Final = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
_LONG_TEXT: Final = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")
_NOW: Final = {
    "mysql": "UTC_TIMESTAMP(6)",
    "mariadb": "UTC_TIMESTAMP(6)",
    "postgresql": "timezone('utc', now())",
}
"""The present in UTC, by database."""
_NOW_OF_SQLITE: Final = "strftime('%Y-%m-%d %H:%M:%f000', 'now')"
_INDEXES: Final = {
    "held_periods": (("end_at",), ("project_id", "end_at")),
    "reservation_states": (("reservation_id",), ("since_at",)),
    "failed_periods": (("resource_id",), ("end_at",)),
    "past_facts": (("resource_id",), ("until_at",)),
    "used_periods": (("reservation_id",), ("end_at",)),
    "observed_periods": (("end_at",),),
}


def _columns() -> Mapping[str, tuple[sa.Column[Any], ...]]:
    """Return the columns of each table; a column belongs to one table only."""
    return {
        "held_periods": (
            sa.Column("project_id", sa.String(length=255)),
            sa.Column("user_id", sa.String(length=255)),
            sa.Column("lease_id", sa.String(length=36), nullable=False),
            sa.Column("reservation_id", sa.String(length=36), nullable=False),
            sa.Column("resource_type", sa.String(length=66), nullable=False),
            sa.Column("resource_id", sa.String(length=36), nullable=False),
            sa.Column("start_at", _INSTANT, nullable=False),
            sa.Column("end_at", _INSTANT, nullable=False),
            sa.Column("slots", sa.Integer()),
            sa.Column("demand", sa.Text()),
        ),
        "reservation_states": (
            sa.Column("reservation_id", sa.String(length=36), nullable=False),
            sa.Column("since_at", _INSTANT, nullable=False),
            sa.Column("status", sa.String(length=13), nullable=False),
            sa.Column("missing_resources", sa.Boolean(), nullable=False),
        ),
        "failed_periods": (
            sa.Column("resource_id", sa.String(length=36), nullable=False),
            sa.Column("start_at", _INSTANT, nullable=False),
            sa.Column("end_at", _INSTANT),
        ),
        "past_facts": (
            sa.Column("resource_id", sa.String(length=36), nullable=False),
            sa.Column("until_at", _INSTANT, nullable=False),
            sa.Column("name", sa.String(length=255), nullable=False),
            sa.Column("facts", _LONG_TEXT, nullable=False),
            sa.Column("amounts", _LONG_TEXT, nullable=False),
        ),
        "used_periods": (
            sa.Column("reservation_id", sa.String(length=36), nullable=False),
            sa.Column("resource_type", sa.String(length=66), nullable=False),
            sa.Column("resource_id", sa.String(length=36), nullable=False),
            sa.Column("units", sa.Integer(), nullable=False),
            sa.Column("start_at", _INSTANT, nullable=False),
            sa.Column("end_at", _INSTANT),
        ),
        "observed_periods": (
            sa.Column("resource_type", sa.String(length=66), nullable=False),
            sa.Column("start_at", _INSTANT, nullable=False),
            sa.Column("end_at", _INSTANT, nullable=False),
        ),
    }


def upgrade() -> None:
    """Create the tables, and record the present states. What was deleted before is not known."""
    for name, columns in _columns().items():
        _create(name, *columns)
    op.create_table(
        "usage_start",
        sa.Column("at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("at", name="pk_usage_start"),
        **_OPTIONS,
    )
    _record_present()


def downgrade() -> None:
    """Remove the tables."""
    op.drop_table("usage_start")
    for table in reversed(_INDEXES):
        op.drop_table(table)


def _create(name: str, *columns: sa.Column[Any]) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        *columns,
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
        **_OPTIONS,
    )
    for indexed in _INDEXES[name]:
        op.create_index(f"ix_{name}_{'_'.join(indexed)}", name, list(indexed))


def _record_present() -> None:
    """Record the states of present reservations and resources.

    A reservation counts as if it had had its present status since the start of its lease. There are only
    statements, no questions, so that they can also be printed.
    """
    names = ("id", "lease_id", "status", "missing_resources")
    reservations = sa.table("reservations", *map(sa.column, names))
    leases = sa.table("leases", sa.column("id"), sa.column("start_at", _INSTANT))
    states = sa.table(
        "reservation_states", *map(sa.column, ("reservation_id", "since_at", "status", "missing_resources"))
    )
    known = (
        sa.select(
            reservations.c.id, leases.c.start_at, reservations.c.status, reservations.c.missing_resources
        )
        .select_from(reservations.join(leases, leases.c.id == reservations.c.lease_id))
        .where(reservations.c.status != "pending")
    )
    op.execute(sa.insert(states).from_select(states.columns.keys(), known))
    now: sa.ColumnElement[Any] = sa.literal_column(_NOW.get(op.get_context().dialect.name, _NOW_OF_SQLITE))
    resources = sa.table("resources", sa.column("id"), sa.column("health"))
    failures = sa.table("failed_periods", sa.column("resource_id"), sa.column("start_at", _INSTANT))
    failed = sa.select(resources.c.id, now).where(resources.c.health == "failed")
    op.execute(sa.insert(failures).from_select(failures.columns.keys(), failed))
    starts = sa.table("usage_start", sa.column("at", _INSTANT))
    # A new installation has no leases, and its records are complete.
    began = sa.select(sa.func.max(now)).select_from(leases).having(sa.func.count() > 0)
    op.execute(sa.insert(starts).from_select(["at"], began))
