"""Direct insertion of hosts and leases into a database."""

from __future__ import annotations

import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from blazar.db import tables

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
BEGIN = (datetime.now(UTC) + DAY).replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: TID251
"""The first midnight of any booking."""
FEW, MANY = 500, 5_000
"""Numbers of leases of two projects."""
RACKS = 5
"""Each host is in one of them."""
_BATCH = 5_000
_PAYLOAD = json.dumps({"lease_id": "x" * 36, "rest": "x" * 900})
_SPEC = json.dumps({"min": 10, "max": 10, "hypervisor_properties": "", "resource_properties": ""})


def fill(engine: sa.Engine, hosts: int, allocations_per_host: int, shares_per_host: int = 0) -> None:
    """Add hosts with two capabilities, and leases that book each of them on every other day.

    Half of the hosts are booked on even days after ``BEGIN``, the others on odd days; a lease has ten hosts.
    On the days between, shares of different sizes are booked, several at the same time.
    """
    host_ids = [str(number) for number in range(1, hosts + 1)]
    with engine.begin() as connection:
        _fill_hosts(connection, host_ids)
        _fill_leases(connection, host_ids, allocations_per_host, shares_per_host)
    _analyze(engine)


def fill_hosts(engine: sa.Engine, hosts: int) -> None:
    """Add the hosts that :func:`fill` adds, without bookings."""
    with engine.begin() as connection:
        _fill_hosts(connection, [str(number) for number in range(1, hosts + 1)])


def book(engine: sa.Engine, hosts: int, rounds: range, hosts_per_lease: int, first_lease: int = 0) -> int:
    """Add leases with their events that book each host once in each round, on every other day.

    Args:
        engine: Engine for a database with the hosts.
        hosts: Number of hosts.
        rounds: Numbers of the rounds; each begins two days after the previous one.
        hosts_per_lease: Number of hosts of a lease.
        first_lease: Number of existing leases; the number of a lease determines its project.

    Returns:
        The total number of leases.
    """
    now = datetime.now(UTC)  # noqa: TID251
    slots = [(str(host), number) for number in rounds for host in range(1, hosts + 1)]
    leases = [str(uuid.uuid4()) for _ in range(-(-len(slots) // hosts_per_lease))]
    reservations = [str(uuid.uuid4()) for _ in leases]
    lease_rows = [
        {**lease_row(each, now), "project_id": project_of(number)}
        for number, each in enumerate(leases, first_lease)
    ]
    with engine.begin() as connection:
        _insert(connection, tables.leases, lease_rows)
        _insert(connection, tables.events, [row for each in leases for row in event_rows(each, now)])
        rows = [reservation_row(i, lease) for i, lease in zip(reservations, leases, strict=True)]
        _insert(connection, tables.reservations, rows)
        booked = [
            _booking_row(host, number, reservations[index // hosts_per_lease])
            for index, (host, number) in enumerate(slots)
        ]
        _insert(connection, tables.allocations, booked)
        _insert(connection, tables.work, [work_row(each) for each in leases])
    _analyze(engine)
    return first_lease + len(leases)


def project_of(number: int) -> str:
    """Return the project of the lease with this number: projects of 500 and of 5,000 leases, then others."""
    if number < FEW:
        return "few"
    return "many" if number < FEW + MANY else "others"


def _fill_hosts(connection: sa.Connection, host_ids: list[str]) -> None:
    now = datetime.now(UTC)  # noqa: TID251
    rack, disk = str(uuid.uuid4()), str(uuid.uuid4())
    generator = random.Random(1)  # a repeatable choice of sizes
    resources = [{"id": i, "collection": "host", "generation": 0} for i in host_ids]
    _insert(connection, tables.resources, resources)
    hosts = [host_row(i, generator.choice((8, 16, 32, 64)), now) for i in host_ids]
    _insert(connection, tables.hosts, hosts)
    providers = [_provider_row(row["id"], row["vcpus"]) for row in hosts]
    _insert(connection, tables.host_providers, providers)
    properties = [
        {"id": i, "resource_type": "physical:host", "name": name, "is_private": False}
        for i, name in ((rack, "rack"), (disk, "disk"))
    ]
    _insert(connection, tables.resource_properties, properties)
    capabilities = [
        {"host_id": i, "property_id": property_id, "value": value}
        for i in host_ids
        for property_id, value in ((rack, f"r{int(i) % RACKS}"), (disk, "ssd"))
    ]
    _insert(connection, tables.host_capabilities, capabilities)


def _fill_leases(
    connection: sa.Connection, host_ids: list[str], allocations_per_host: int, shares_per_host: int
) -> None:
    now = datetime.now(UTC)  # noqa: TID251
    leases = [str(uuid.uuid4()) for _ in range(max(1, len(host_ids) * allocations_per_host // 10))]
    reservations = [str(uuid.uuid4()) for _ in leases]
    _insert(connection, tables.leases, [lease_row(i, now) for i in leases])
    rows = [reservation_row(i, lease) for i, lease in zip(reservations, leases, strict=True)]
    _insert(connection, tables.reservations, rows)
    allocations = [
        _booking_row(i, day, reservations[(int(i) * allocations_per_host + day) % len(reservations)])
        for i in host_ids
        for day in range(allocations_per_host)
    ]
    _insert(connection, tables.allocations, allocations)
    shares = [
        _share_row(i, number, reservations[(int(i) + number) % len(reservations)])
        for i in host_ids
        for number in range(shares_per_host)
    ]
    _insert(connection, tables.allocations, shares)


def _analyze(engine: sa.Engine) -> None:
    """Make the database update its statistics."""
    if engine.dialect.name == "sqlite":
        return
    is_postgresql = engine.dialect.name == "postgresql"
    with engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE" if is_postgresql else "ANALYZE TABLE allocations, resources")


def _booking_row(host_id: str, number: int, reservation_id: str) -> dict[str, Any]:
    """Return the booking of a host for a day: half of the hosts are booked on even days, half on odd days."""
    start = BEGIN + (2 * number + (int(host_id) // 5) % 2) * DAY
    return {
        "resource_id": host_id,
        "reservation_id": reservation_id,
        "start_at": start,
        "end_at": start + DAY,
        "exclusive_resource_id": host_id,
    }


def _share_row(host_id: str, number: int, reservation_id: str) -> dict[str, Any]:
    """Return a share of an eighth or a quarter of the smallest host, which starts on a free day."""
    vcpus = 1 + number % 2
    day = 2 * (number // 3) + 1 - (int(host_id) // 5) % 2
    return {
        "resource_id": host_id,
        "reservation_id": reservation_id,
        "start_at": BEGIN + day * DAY + timedelta(hours=number % 3 * 6),
        "end_at": BEGIN + day * DAY + timedelta(hours=number % 3 * 6 + 10),
        "slots": 1 + number % 2,
        "demand": json.dumps({"amounts": {"VCPU": vcpus, "MEMORY_MB": vcpus * 4096, "DISK_GB": 10}}),
    }


def _insert(connection: sa.Connection, table: sa.Table[Any], rows: list[dict[str, Any]]) -> None:
    for first in range(0, len(rows), _BATCH):
        connection.execute(sa.insert(table), rows[first : first + _BATCH])


def _provider_row(host_id: str, vcpus: int) -> dict[str, Any]:
    totals = {"VCPU": vcpus, "MEMORY_MB": vcpus * 4096, "DISK_GB": 1000}
    return {
        "host_id": host_id,
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, host_id)),
        "name": f"host-{host_id}",
        "position": 0,
        "inventories": json.dumps({name: {"total": total} for name, total in totals.items()}),
        "traits": json.dumps(["HW_CPU_X86_AVX2"]),
    }


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
        "spec": _SPEC,
        "status": "pending",
        "is_deployed": False,
        "missing_resources": False,
    }


def bare_commit(engine: sa.Engine) -> None:
    """Commit the rows that a create of a lease for one host writes; a host 1 must exist."""
    now = datetime.now(UTC)  # noqa: TID251
    lease, reservation = str(uuid.uuid4()), str(uuid.uuid4())
    share = {"resource_id": "1", "reservation_id": reservation, "start_at": now, "end_at": now + DAY}
    change = {"resource_id": "1", "facts_changed": False, "changed_at": now}
    entry = {"at": now, "lease_id": lease, "event": "create", "reason": "", "actor": "bench"}
    message = {"event_type": "bench", "lease_id": lease, "due_at": now + 1000 * DAY, "attempts": 0}
    with engine.begin() as connection:
        connection.execute(sa.insert(tables.resource_changes), [change])
        connection.execute(sa.insert(tables.leases), [lease_row(lease, now)])
        connection.execute(sa.insert(tables.reservations), [reservation_row(reservation, lease)])
        connection.execute(sa.insert(tables.events), event_rows(lease, now))
        connection.execute(sa.insert(tables.allocations), [share])
        connection.execute(sa.insert(tables.work), [work_row(lease)])
        connection.execute(sa.insert(tables.journal), [entry])
        connection.execute(sa.insert(tables.outbox), [{**message, "payload": _PAYLOAD}])


def work_row(lease_id: str) -> dict[str, Any]:
    """Return the work row of a lease."""
    return {"key": lease_id, "due_at": BEGIN, "claim_number": 0, "attempts": 0}


def event_rows(lease_id: str, now: datetime) -> list[dict[str, Any]]:
    """Return the three events of a lease."""
    return [
        {
            "id": str(uuid.uuid4()),
            "lease_id": lease_id,
            "event_type": each,
            "time_at": now,
            "status": "UNDONE",
        }
        for each in ("start_lease", "end_lease", "before_end_lease")
    ]


def book_hosts(engine: sa.Engine, hosts: int, allocations: int, days: int, grid: int) -> str:
    """Book every host most of the time; return the id of a reservation."""
    chance = random.Random(hosts)
    lease_id, reservation_id = str(uuid.uuid4()), str(uuid.uuid4())
    places = days * 24 * 60 // grid
    rows = []
    for host in range(1, hosts + 1):
        bounds = sorted(chance.sample(range(places), 2 * allocations))
        for start, end in zip(bounds[0::2], bounds[1::2], strict=True):
            rows.append(
                booking_row(host, reservation_id, BEGIN + start * grid * MINUTE, BEGIN + end * grid * MINUTE)
            )
    with engine.begin() as connection:
        connection.execute(sa.insert(tables.leases), [lease_row(lease_id, BEGIN)])
        connection.execute(sa.insert(tables.reservations), [reservation_row(reservation_id, lease_id)])
        for done in range(0, len(rows), _BATCH):
            connection.execute(sa.insert(tables.allocations), rows[done : done + _BATCH])
    return reservation_id


def booking_row(host: int, reservation_id: str, start: datetime, end: datetime) -> dict[str, Any]:
    """Return the booking of a host."""
    return {
        "resource_id": str(host),
        "reservation_id": reservation_id,
        "start_at": start,
        "end_at": end,
        "exclusive_resource_id": str(host),
    }
