"""Reject overlaps on MariaDB with triggers instead of a key that blocks the appliers of a cluster.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

from alembic import op

from blazar.db.guard import TRIGGERS, ensure_guard

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace the key by triggers."""
    if not _is_mariadb():
        return
    op.execute("ALTER TABLE allocations DROP INDEX no_double_promise")
    op.execute("ALTER TABLE allocations DROP PERIOD FOR held")
    if not op.get_context().as_sql:
        ensure_guard(op.get_bind())
        return
    for statement in TRIGGERS.values():
        # For the command-line client. Alembic adds the last semicolon.
        op.execute(f"DELIMITER //\n{statement}//\nDELIMITER ")


def downgrade() -> None:
    """Replace the triggers by the key."""
    if not _is_mariadb():
        return
    for name in TRIGGERS:
        op.execute(f"DROP TRIGGER IF EXISTS {name}")
    op.execute("ALTER TABLE allocations ADD PERIOD FOR held (start_at, end_at)")
    op.execute(
        "ALTER TABLE allocations ADD UNIQUE KEY no_double_promise "
        "(exclusive_resource_id, held WITHOUT OVERLAPS)"
    )


def _is_mariadb() -> bool:
    return bool(getattr(op.get_context().dialect, "is_mariadb", False))
