"""The schema of the existing service at its last revision: only types and keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

REVISION = "553383923ca0"

metadata = sa.MetaData()
_LONG = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")


def _id(name: str = "id", **options: Any) -> sa.Column[Any]:
    return sa.Column(name, sa.String(36), primary_key=name == "id", **options)


def _to(name: str, target: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.String(36), sa.ForeignKey(f"{target}.id"), nullable=nullable)


def _table(name: str, *columns: Any) -> sa.Table:
    times = sa.Column("created_at", sa.DateTime), sa.Column("updated_at", sa.DateTime)
    return sa.Table(name, metadata, *times, *columns, mysql_engine="InnoDB", mysql_charset="utf8mb3")


def _text(name: str, length: int = 255, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.String(length), nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer, nullable=nullable)


def _truth(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Boolean, nullable=nullable)


def _long(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, _LONG, nullable=nullable)


leases = _table(
    "leases",
    _id(),
    _text("name", 80, nullable=False),
    _text("user_id"),
    _text("project_id"),
    sa.Column("start_date", sa.DateTime, nullable=False),
    sa.Column("end_date", sa.DateTime, nullable=False),
    _text("trust_id", 36),
    _text("status"),
    _truth("degraded"),
)
reservations = _table(
    "reservations",
    _id(),
    _to("lease_id", "leases", nullable=False),
    _text("resource_id", 36),
    _text("resource_type", 66),
    _text("status", 13),
    _truth("missing_resources"),
    _truth("resources_changed"),
)
events = _table(
    "events",
    _id(),
    _to("lease_id", "leases"),
    _text("event_type", 66),
    sa.Column("time", sa.DateTime),
    _text("status", 13),
)
computehosts = _table(
    "computehosts",
    _id(),
    _number("vcpus"),
    _long("cpu_info", nullable=False),
    _long("hypervisor_type", nullable=False),
    _number("hypervisor_version"),
    _text("hypervisor_hostname"),
    _text("service_name"),
    _number("memory_mb"),
    _number("local_gb"),
    _text("status", 13),
    _text("availability_zone", nullable=False),
    _text("trust_id", 36, nullable=False),
    _truth("reservable"),
)
resource_properties = _table(
    "resource_properties",
    _id(),
    _text("resource_type", nullable=False),
    _text("property_name", nullable=False),
    _truth("private"),
    sa.UniqueConstraint("resource_type", "property_name"),
)
capabilities = _table(
    "computehost_extra_capabilities",
    _id(),
    _to("computehost_id", "computehosts"),
    # The migration made it longer than the column that it refers to.
    sa.Column("property_id", sa.String(255), nullable=False),
    _long("capability_value", nullable=False),
)
inventories = _table(
    "computehost_resource_inventory",
    _id(),
    _to("computehost_id", "computehosts"),
    _text("resource_class", nullable=False),
    *(_number(name) for name in ("total", "reserved", "min_unit", "max_unit", "step_size")),
    sa.Column("allocation_ratio", sa.Float, nullable=False),
)
traits = _table(
    "computehost_trait", _id(), _to("computehost_id", "computehosts"), _text("trait", nullable=False)
)
host_details = _table(
    "computehost_reservations",
    _id(),
    _to("reservation_id", "reservations"),
    _number("aggregate_id", nullable=True),
    _long("resource_properties"),
    _text("count_range", 36),
    _long("hypervisor_properties"),
    _text("before_end", 36),
)
slot_details = _table(
    "instance_reservations",
    _id(),
    _to("reservation_id", "reservations"),
    *(_number(name) for name in ("vcpus", "memory_mb", "disk_gb", "amount")),
    _truth("affinity", nullable=True),
    _long("resource_properties"),
    _text("flavor_id", 36),
    _number("aggregate_id", nullable=True),
    _text("server_group_id", 36),
)
host_allocations = _table(
    "computehost_allocations",
    _id(),
    _to("compute_host_id", "computehosts"),
    _to("reservation_id", "reservations"),
)
floatingips = _table(
    "floatingips",
    _id(),
    _text("floating_network_id", nullable=False),
    _text("subnet_id", nullable=False),
    _text("floating_ip_address", nullable=False),
    _truth("reservable"),
    sa.UniqueConstraint("subnet_id", "floating_ip_address"),
)
floatingip_details = _table(
    "floatingip_reservations",
    _id(),
    _to("reservation_id", "reservations"),
    _text("network_id", nullable=False),
    _number("amount"),
)
required_floatingips = _table(
    "required_floatingips",
    _id(),
    _text("address", nullable=False),
    _to("floatingip_reservation_id", "floatingip_reservations"),
)
floatingip_allocations = _table(
    "floatingip_allocations",
    _id(),
    _to("reservation_id", "reservations"),
    _to("floatingip_id", "floatingips"),
)
alembic_version = sa.Table(
    "alembic_version", metadata, sa.Column("version_num", sa.String(32), primary_key=True)
)


@contextmanager
def _unchecked(connection: sa.Connection) -> Iterator[None]:
    """Allow rows that violate foreign keys; needs only the rights of the tables' owner."""
    if connection.dialect.name == "mysql":
        connection.exec_driver_sql("SET SESSION foreign_key_checks = 0")
    if connection.dialect.name != "postgresql":
        yield
        return
    keys = [
        (table.name, each["name"], each["constrained_columns"][0], each["referred_table"])
        for table in metadata.sorted_tables
        for each in sa.inspect(connection).get_foreign_keys(table.name)
    ]
    for table_name, name, _, _ in keys:
        connection.exec_driver_sql(f"ALTER TABLE {table_name} DROP CONSTRAINT {name}")
    yield
    for table_name, name, column, other in keys:
        connection.exec_driver_sql(
            f"ALTER TABLE {table_name} ADD CONSTRAINT {name}"
            f" FOREIGN KEY ({column}) REFERENCES {other} (id) NOT VALID"
        )


def write(url: str, rows: dict[sa.Table, list[dict[str, Any]]]) -> None:
    """Create the tables in an empty database and fill them, also with rows that violate foreign keys.

    Args:
        url: The URL of the database.
        rows: Rows by table. Columns that a row omits are null.
    """
    engine = sa.create_engine(url)
    metadata.create_all(engine)
    with engine.begin() as connection, _unchecked(connection):
        connection.execute(sa.insert(alembic_version), [{"version_num": REVISION}])
        for table in metadata.sorted_tables:
            complete = [
                {each.name: row.get(each.name) for each in table.columns} for row in rows.get(table, [])
            ]
            if complete:
                connection.execute(sa.insert(table), complete)
    engine.dispose()
