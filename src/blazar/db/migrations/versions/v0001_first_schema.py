"""The first schema.

Revision ID: 0001
Revises: none
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")
COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")
OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "sqlite_autoincrement": True,
}
TABLES = (
    "journal",
    "leases",
    "outbox",
    "resource_changes",
    "resource_properties",
    "resources",
    "sweep_findings",
    "work",
    "events",
    "hosts",
    "reservations",
    "allocations",
    "host_capabilities",
    "host_inventories",
    "host_traits",
)


def upgrade() -> None:
    """Create all tables, and last the database's constraint against double bookings."""
    _create_journal()
    _create_leases()
    _create_outbox()
    _create_resource_changes()
    _create_resource_properties()
    _create_resources()
    _create_sweep_findings()
    _create_work()
    _create_events()
    _create_hosts()
    _create_reservations()
    _create_allocations()
    _create_host_capabilities()
    _create_host_inventories()
    _create_host_traits()
    bind = op.get_context().dialect
    if bind.name == "postgresql":
        _refuse_overlaps_on_postgresql()
    elif bind.name == "sqlite":
        _refuse_overlaps_on_sqlite()
    elif getattr(bind, "is_mariadb", False):
        _refuse_overlaps_on_mariadb()


def downgrade() -> None:
    """Drop all tables."""
    for name in reversed(TABLES):
        op.drop_table(name)


def _refuse_overlaps_on_postgresql() -> None:
    # Rows whose exclusive_resource_id is null never conflict: null is not equal to anything.
    op.execute("CREATE EXTENSION IF NOT EXISTS btree_gist")
    op.execute(
        "ALTER TABLE allocations ADD CONSTRAINT no_double_promise EXCLUDE USING gist "
        "(exclusive_resource_id WITH =, tsrange(start_at, end_at) WITH &&)"
    )


def _refuse_overlaps_on_mariadb() -> None:
    # MySQL has no such key; there only the generations protect.
    op.execute("ALTER TABLE allocations ADD PERIOD FOR held (start_at, end_at)")
    op.execute(
        "ALTER TABLE allocations ADD UNIQUE KEY no_double_promise "
        "(exclusive_resource_id, held WITHOUT OVERLAPS)"
    )


def _refuse_overlaps_on_sqlite() -> None:
    op.execute(
        "CREATE INDEX ix_allocations_exclusive ON allocations (exclusive_resource_id, end_at, start_at)"
    )
    for event in ("INSERT", "UPDATE"):
        op.execute(
            f"CREATE TRIGGER no_double_promise_{event.lower()} BEFORE {event} ON allocations "  # noqa: S608
            "WHEN NEW.exclusive_resource_id IS NOT NULL AND EXISTS ("
            " SELECT 1 FROM allocations AS other"
            " WHERE other.exclusive_resource_id = NEW.exclusive_resource_id"
            " AND other.start_at < NEW.end_at AND other.end_at > NEW.start_at"
            " AND other.id IS NOT NEW.id"
            ") BEGIN SELECT RAISE(ABORT, 'no_double_promise'); END"
        )


def _create_journal() -> None:
    op.create_table(
        "journal",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("lease_id", sa.String(length=36)),
        sa.Column("reservation_id", sa.String(length=36)),
        sa.Column("event", sa.String(length=64), nullable=False),
        sa.Column("reason", LONG_TEXT, nullable=False),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("request_id", sa.String(length=64)),
        sa.PrimaryKeyConstraint("id", name="pk_journal"),
        **OPTIONS,
    )
    op.create_index("ix_journal_lease_id", "journal", ["lease_id"], unique=False)


def _create_leases() -> None:
    op.create_table(
        "leases",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("user_id", sa.String(length=255)),
        sa.Column("project_id", sa.String(length=255)),
        sa.Column("start_at", INSTANT, nullable=False),
        sa.Column("end_at", INSTANT, nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("is_deleting", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", INSTANT),
        sa.Column("updated_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_leases"),
        **OPTIONS,
    )
    op.create_index("ix_leases_project_id", "leases", ["project_id"], unique=False)


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("event_type", sa.String(length=64), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("payload", LONG_TEXT, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        **OPTIONS,
    )
    op.create_index("ix_outbox_due_at", "outbox", ["due_at"], unique=False)


def _create_resource_changes() -> None:
    op.create_table(
        "resource_changes",
        sa.Column("sequence", COUNTER, nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("facts_changed", sa.Boolean(), nullable=False),
        sa.Column("changed_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_resource_changes"),
        **OPTIONS,
    )
    op.create_index("ix_resource_changes_changed_at", "resource_changes", ["changed_at"], unique=False)


def _create_resource_properties() -> None:
    op.create_table(
        "resource_properties",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("resource_type", sa.String(length=66), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.Column("created_at", INSTANT),
        sa.Column("updated_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_resource_properties"),
        sa.UniqueConstraint("resource_type", "name", name="uq_resource_properties_resource_type_name"),
        **OPTIONS,
    )


def _create_resources() -> None:
    op.create_table(
        "resources",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("collection", sa.String(length=32), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("is_reservable", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_resources"),
        **OPTIONS,
    )


def _create_sweep_findings() -> None:
    op.create_table(
        "sweep_findings",
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("first_seen_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_sweep_findings"),
        **OPTIONS,
    )


def _create_work() -> None:
    op.create_table(
        "work",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("owner", sa.String(length=255)),
        sa.Column("claim_deadline", INSTANT),
        sa.Column("claim_number", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("woken_at", INSTANT),
        sa.PrimaryKeyConstraint("key", name="pk_work"),
        **OPTIONS,
    )
    op.create_index("ix_work_due_at", "work", ["due_at"], unique=False)


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("event_type", sa.String(length=66), nullable=False),
        sa.Column("time_at", INSTANT, nullable=False),
        sa.Column("status", sa.String(length=13), nullable=False),
        sa.Column("created_at", INSTANT),
        sa.Column("updated_at", INSTANT),
        sa.ForeignKeyConstraint(["lease_id"], ["leases.id"], name="fk_events_lease_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        **OPTIONS,
    )
    op.create_index("ix_events_lease_id", "events", ["lease_id"], unique=False)


def _create_hosts() -> None:
    op.create_table(
        "hosts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("hypervisor_hostname", sa.String(length=255), nullable=False),
        sa.Column("service_name", sa.String(length=255), nullable=False),
        sa.Column("hypervisor_type", sa.String(length=255), nullable=False),
        sa.Column("hypervisor_version", sa.Integer(), nullable=False),
        sa.Column("vcpus", sa.Integer(), nullable=False),
        sa.Column("memory_mb", sa.Integer(), nullable=False),
        sa.Column("local_gb", sa.Integer(), nullable=False),
        sa.Column("cpu_info", LONG_TEXT, nullable=False),
        sa.Column("availability_zone", sa.String(length=255), nullable=False),
        sa.Column("created_at", INSTANT),
        sa.Column("updated_at", INSTANT),
        sa.ForeignKeyConstraint(["id"], ["resources.id"], name="fk_hosts_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_hosts"),
        sa.UniqueConstraint("hypervisor_hostname", name="uq_hosts_hypervisor_hostname"),
        **OPTIONS,
    )


def _create_reservations() -> None:
    op.create_table(
        "reservations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("resource_type", sa.String(length=66), nullable=False),
        sa.Column("spec", LONG_TEXT, nullable=False),
        sa.Column("status", sa.String(length=13), nullable=False),
        sa.Column("is_deployed", sa.Boolean(), nullable=False),
        sa.Column("problem", LONG_TEXT),
        sa.Column("missing_resources", sa.Boolean(), nullable=False),
        sa.Column("resources_changed", sa.Boolean(), nullable=False),
        sa.Column("created_at", INSTANT),
        sa.Column("updated_at", INSTANT),
        sa.ForeignKeyConstraint(
            ["lease_id"], ["leases.id"], name="fk_reservations_lease_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_reservations"),
        **OPTIONS,
    )
    op.create_index("ix_reservations_lease_id", "reservations", ["lease_id"], unique=False)


def _create_allocations() -> None:
    op.create_table(
        "allocations",
        sa.Column("id", COUNTER, nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("reservation_id", sa.String(length=36)),
        sa.Column("start_at", INSTANT, nullable=False),
        sa.Column("end_at", INSTANT, nullable=False),
        sa.Column("exclusive_resource_id", sa.String(length=36)),
        sa.Column("released_at", INSTANT),
        sa.ForeignKeyConstraint(
            ["reservation_id"], ["reservations.id"], name="fk_allocations_reservation_id", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["resource_id"], ["resources.id"], name="fk_allocations_resource_id"),
        sa.PrimaryKeyConstraint("id", name="pk_allocations"),
        **OPTIONS,
    )
    op.create_index("ix_allocations_released_at", "allocations", ["released_at"], unique=False)
    op.create_index("ix_allocations_reservation_id", "allocations", ["reservation_id"], unique=False)
    op.create_index(
        "ix_allocations_resource_id_end_at_start_at",
        "allocations",
        ["resource_id", "end_at", "start_at"],
        unique=False,
    )


def _create_host_capabilities() -> None:
    op.create_table(
        "host_capabilities",
        sa.Column("host_id", sa.String(length=36), nullable=False),
        sa.Column("property_id", sa.String(length=36), nullable=False),
        sa.Column("value", LONG_TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name="fk_host_capabilities_host_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["property_id"], ["resource_properties.id"], name="fk_host_capabilities_property_id"
        ),
        sa.PrimaryKeyConstraint("host_id", "property_id", name="pk_host_capabilities"),
        **OPTIONS,
    )
    op.create_index("ix_host_capabilities_property_id", "host_capabilities", ["property_id"], unique=False)


def _create_host_inventories() -> None:
    op.create_table(
        "host_inventories",
        sa.Column("host_id", sa.String(length=36), nullable=False),
        sa.Column("resource_class", sa.String(length=255), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("reserved", sa.Integer(), nullable=False),
        sa.Column("min_unit", sa.Integer(), nullable=False),
        sa.Column("max_unit", sa.Integer(), nullable=False),
        sa.Column("step_size", sa.Integer(), nullable=False),
        sa.Column("allocation_ratio", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name="fk_host_inventories_host_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("host_id", "resource_class", name="pk_host_inventories"),
        **OPTIONS,
    )


def _create_host_traits() -> None:
    op.create_table(
        "host_traits",
        sa.Column("host_id", sa.String(length=36), nullable=False),
        sa.Column("trait", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name="fk_host_traits_host_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "trait", name="pk_host_traits"),
        **OPTIONS,
    )
