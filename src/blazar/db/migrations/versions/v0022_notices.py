"""Store notices, the subscriptions to them, and their deliveries.

Revision ID: 0022
Revises: 0021
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0022"
down_revision = "0021"
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
_COUNTER: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_INDEXES: Final = (
    ("subscriptions", "lease_id"),
    ("subscriptions", "project_id"),
    ("subscriptions", "scope"),
    ("deliveries", "failed_at", "due_at"),
    ("deliveries", "subscription_id", "lease_id", "id"),
    ("told", "date_at"),
    ("confirmations", "address"),
    ("confirmations", "sent_at"),
)
_REFERRING: Final = ("deliveries", "told")


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "notices",
        sa.Column("id", _COUNTER, nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=255)),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("data", _LONG_TEXT, nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        **_OPTIONS,
    )
    op.create_table(
        "confirmations",
        sa.Column("id", _COUNTER, nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("project_id", sa.String(length=255)),
        sa.Column("sent_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_confirmations"),
        **_OPTIONS,
    )
    _create_subscriptions()
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    _create_deliveries(is_sqlite)
    for table, *columns in _INDEXES:
        op.create_index("_".join(("ix", table, *columns)), table, columns)
    if not is_sqlite:
        # After the indexes; see revision 0015.
        for table in _REFERRING:
            name = f"fk_{table}_subscription_id"
            op.create_foreign_key(
                name, table, "subscriptions", ["subscription_id"], ["id"], ondelete="CASCADE"
            )


def _create_subscriptions() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("scope", sa.String(length=8), nullable=False),
        sa.Column("project_id", sa.String(length=255)),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("lease_id", sa.String(length=36)),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("types", sa.Text(), nullable=False),
        sa.Column("target", sa.Text()),
        sa.Column("secret", sa.String(length=64)),
        sa.Column("former_secret", sa.String(length=64)),
        sa.Column("former_until", _INSTANT),
        sa.Column("lead_minutes", sa.Text()),
        sa.Column("time_zone", sa.String(length=64)),
        sa.Column("language", sa.String(length=16)),
        sa.Column("resource_type", sa.String(length=66)),
        sa.Column("below", sa.Integer()),
        sa.Column("waits_minutes", sa.Integer()),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("code", sa.String(length=64)),
        sa.Column("code_attempts", sa.Integer(), nullable=False),
        sa.Column("succeeded_at", _INSTANT),
        sa.Column("failing_since", _INSTANT),
        sa.Column("retry_at", _INSTANT),
        sa.Column("problem", sa.Text()),
        sa.Column("created_at", _INSTANT),
        sa.Column("updated_at", _INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_subscriptions"),
        **_OPTIONS,
    )


def _create_deliveries(is_sqlite: bool) -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", _COUNTER, nullable=False),
        sa.Column("message_id", sa.String(length=36), nullable=False),
        sa.Column("subscription_id", sa.String(length=36), nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("data", _LONG_TEXT, nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("date_at", _INSTANT),
        sa.Column("queued_at", _INSTANT, nullable=False),
        sa.Column("due_at", _INSTANT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failed_at", _INSTANT),
        sa.Column("problem", sa.Text()),
        *([_reference("deliveries")] if is_sqlite else []),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        **_OPTIONS,
    )
    op.create_table(
        "told",
        sa.Column("subscription_id", sa.String(length=36), nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("about", sa.String(length=66), nullable=False),
        sa.Column("date_at", _INSTANT, nullable=False),
        sa.Column("lead_minutes", sa.Integer()),
        *([_reference("told")] if is_sqlite else []),
        sa.PrimaryKeyConstraint("subscription_id", "type", "about", name="pk_told"),
        **_OPTIONS,
    )


def _reference(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["subscription_id"],
        ["subscriptions.id"],
        name=f"fk_{table}_subscription_id",
        ondelete="CASCADE",
    )


def downgrade() -> None:
    """Remove the tables, with all subscriptions."""
    for table in (*reversed(_REFERRING), "subscriptions", "confirmations", "notices"):
        op.drop_table(table)
