"""Filling a database with hosts and leases, directly."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from blazar.db import tables

DAY = timedelta(days=1)
BEGIN = (datetime.now(UTC) + DAY).replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: TID251
"""The first midnight at which anything is booked."""
_BATCH = 5_000


def fill(engine: sa.Engine, hosts: int, allocations_per_host: int) -> None:
    """Add hosts with two capabilities, and leases that book each of them on every other day.

    Half of the hosts are booked on even days after ``BEGIN``, the others on odd ones; ten to a lease.
    """
    host_ids = [str(number) for number in range(1, hosts + 1)]
    with engine.begin() as connection:
        _fill_hosts(connection, host_ids)
        _fill_leases(connection, host_ids, allocations_per_host)
    if engine.dialect.name != "sqlite":
        with engine.connect() as connection:
            connection.exec_driver_sql(
                "ANALYZE" if engine.dialect.name == "postgresql" else "ANALYZE TABLE allocations, resources"
            )


def _fill_hosts(connection: sa.Connection, host_ids: list[str]) -> None:
    now = datetime.now(UTC)  # noqa: TID251
    rack, disk = str(uuid.uuid4()), str(uuid.uuid4())
    generator = random.Random(1)  # a repeatable choice of sizes
    resources = [{"id": i, "collection": "host", "generation": 0, "is_reservable": True} for i in host_ids]
    _insert(connection, tables.resources, resources)
    _insert(connection, tables.hosts, [host_row(i, generator.choice((8, 16, 32, 64)), now) for i in host_ids])
    properties = [
        {"id": i, "resource_type": "physical:host", "name": name, "is_private": False}
        for i, name in ((rack, "rack"), (disk, "disk"))
    ]
    _insert(connection, tables.resource_properties, properties)
    capabilities = [
        {"host_id": i, "property_id": property_id, "value": value}
        for i in host_ids
        for property_id, value in ((rack, f"r{int(i) % 5}"), (disk, "ssd"))
    ]
    _insert(connection, tables.host_capabilities, capabilities)


def _fill_leases(connection: sa.Connection, host_ids: list[str], allocations_per_host: int) -> None:
    now = datetime.now(UTC)  # noqa: TID251
    leases = [str(uuid.uuid4()) for _ in range(max(1, len(host_ids) * allocations_per_host // 10))]
    reservations = [str(uuid.uuid4()) for _ in leases]
    _insert(connection, tables.leases, [lease_row(i, now) for i in leases])
    rows = [reservation_row(i, lease) for i, lease in zip(reservations, leases, strict=True)]
    _insert(connection, tables.reservations, rows)
    allocations = [
        {
            "resource_id": i,
            "reservation_id": reservations[(int(i) * allocations_per_host + day) % len(reservations)],
            "start_at": BEGIN + (2 * day + (int(i) // 5) % 2) * DAY,
            "end_at": BEGIN + (2 * day + (int(i) // 5) % 2 + 1) * DAY,
            "exclusive_resource_id": i,
        }
        for i in host_ids
        for day in range(allocations_per_host)
    ]
    _insert(connection, tables.allocations, allocations)


def _insert(connection: sa.Connection, table: sa.Table[Any], rows: list[dict[str, Any]]) -> None:
    for first in range(0, len(rows), _BATCH):
        connection.execute(sa.insert(table), rows[first : first + _BATCH])


def host_row(host_id: str, vcpus: int, now: datetime) -> dict[str, Any]:
    """Return a host."""
    return {
        "id": host_id,
        "hypervisor_hostname": f"host-{host_id}",
        "service_name": f"host-{host_id}",
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8002000,
        "vcpus": vcpus,
        "memory_mb": vcpus * 4096,
        "local_gb": 1000,
        "cpu_info": "{}",
        "availability_zone": "nova",
        "created_at": now,
    }


def lease_row(lease_id: str, now: datetime) -> dict[str, Any]:
    """Return a pending lease."""
    return {
        "id": lease_id,
        "name": "filler",
        "user_id": "u",
        "project_id": "p",
        "start_at": BEGIN,
        "end_at": BEGIN + 30 * DAY,
        "status": "PENDING",
        "is_deleting": False,
        "revision": 0,
        "created_at": now,
    }


def reservation_row(reservation_id: str, lease_id: str) -> dict[str, Any]:
    """Return a pending reservation of ten hosts."""
    return {
        "id": reservation_id,
        "lease_id": lease_id,
        "position": 0,
        "resource_type": "physical:host",
        "spec": "{}",
        "status": "pending",
        "is_deployed": False,
        "missing_resources": False,
        "resources_changed": False,
    }
