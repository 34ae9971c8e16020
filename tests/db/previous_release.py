"""A program of the previous release, run by its interpreter: fill a database, and print what its store reads.

The database gets rows in every table: leases and reservations in every status and of every type, events of
every kind, hosts, floating IPs, allocations of every kind, and what managers record. The modules are imported
by name, because this release has other ones.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import sqlalchemy as sa

MANAGERS_OF_CLOCKS = "blazar.manager.clocks"
EPOCH = datetime(2031, 2, 3, 4, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
BODIES: dict[str, dict[str, object]] = {
    "hosts": {
        "min": 1,
        "max": 2,
        "hypervisor_properties": '[">=", "$vcpus", "2"]',
        "resource_properties": "",
    },
    "instances": {
        "vcpus": 2,
        "memory_mb": 1024,
        "disk_gb": 10,
        "amount": 2,
        "affinity": False,
        "resource_properties": "",
    },
    "flavors": {"flavor_id": "small", "amount": 2, "affinity": None, "resource_properties": ""},
    "floatingips": {"network_id": "network", "amount": 1, "required_floatingips": ["203.0.113.201"]},
}
"""A request for a reservation, by the folder of the plugin."""
TYPES = {
    "hosts": "physical:host",
    "instances": "virtual:instance",
    "flavors": "flavor:instance",
    "floatingips": "virtual:floatingip",
}

model: Any = import_module("blazar.domain.lease")
capacity: Any = import_module("blazar.domain.capacity")
health: Any = import_module("blazar.domain.health")
providers: Any = import_module("blazar.domain.providers")
ports: Any = import_module("blazar.ports.store")


def make_spec(folder: str) -> Any:
    """Return the content of the column ``spec``, as the plugin writes it."""
    module: Any = import_module(f"blazar.plugins.{folder}.spec")
    spec = module.parse_spec(BODIES[folder])
    if folder == "flavors":
        flavor: Any = import_module("blazar.ports.compute").Flavor
        spec = replace(spec, source=flavor(id="small", name="small", vcpus=2, memory_mb=1024, disk_gb=10))
    return module.encode_spec(spec)


def make_leases() -> list[Any]:
    """Return a lease for each status, with a reservation of each type, in all statuses in turn."""
    return [make_lease(number, status) for number, status in enumerate(model.LeaseStatus)]


def make_lease(number: int, status: Any) -> Any:
    """Return a lease; leases do not overlap."""
    lease_id, statuses = f"lease-{number}", list(model.ReservationStatus)
    event_statuses = list(model.EventStatus)
    start, end = EPOCH + number * 10 * HOUR, EPOCH + (number * 10 + 5) * HOUR
    times = {"start_lease": start, "before_end_lease": end - HOUR, "end_lease": end}
    return model.Lease(
        id=lease_id,
        name=f"Lease \u2603 \U0001f600 {number}",
        user_id="user" if number else None,
        project_id=f"project-{number % 2}",
        start=start,
        end=end,
        status=status,
        is_deleting=status == "DELETING",
        created_at=EPOCH,
        updated_at=EPOCH + HOUR,
        reservations=tuple(
            model.Reservation(
                id=f"{lease_id}-{folder}",
                lease_id=lease_id,
                resource_type=TYPES[folder],
                spec=make_spec(folder),
                status=statuses[(number + position) % len(statuses)],
                is_deployed=number % 2 == 1,
                problem="no capacity" if number % 3 == 0 else None,
                missing_resources=number % 4 == 0,
                lost_resources=frozenset({"host-1"}) if number % 5 == 0 else frozenset(),
                created_at=EPOCH,
                updated_at=EPOCH,
            )
            for position, folder in enumerate(TYPES)
        ),
        events=tuple(
            model.Event(
                id=f"{lease_id}-{kind}",
                event_type=model.EventType(kind),
                time=time,
                status=event_statuses[(number + position) % len(event_statuses)],
                created_at=EPOCH,
            )
            for position, (kind, time) in enumerate(times.items())
        ),
    )


def insert_resources(transaction: Any) -> None:
    """Insert two hosts, one of which has failed, two floating IPs and a discovered resource."""
    host_class: Any = import_module("blazar.domain.hosts").Host
    host = host_class(
        id="host-1",
        hypervisor_hostname="node-1.example.org",
        service_name="node-1",
        hypervisor_type="QEMU",
        hypervisor_version=8_000_000,
        vcpus=8,
        memory_mb=16_384,
        local_gb=100,
        cpu_info='{"arch": "x86_64"}',
        availability_zone="nova",
        capabilities={"gpu": "true", "rack": "7"},
        providers=(
            providers.HostProvider(
                uuid="00000000-0000-0000-0000-000000000001",
                name="node-1.example.org",
                inventories={"VCPU": providers.HostInventory(total=8, max_unit=8)},
                traits=frozenset({"HW_CPU_X86_AVX2"}),
            ),
        ),
        created_at=EPOCH,
    )
    other = replace(
        host, id="host-2", hypervisor_hostname="node-2", service_name="node-2", capabilities={}, providers=()
    )
    for each in (host, other):
        transaction.hosts.insert(each)
    transaction.hosts.set_property_private("rack", True, EPOCH)
    failed = health.Diagnosis(health=health.Health.FAILED, problem="down")
    transaction.resources.set_diagnosis("host-2", failed, EPOCH)
    floatingip: Any = import_module("blazar.domain.floatingips").FloatingIP
    for number in (1, 2):
        address = f"203.0.113.{200 + number}"
        transaction.floatingips.insert(
            floatingip(id=f"fip-{number}", network_id="network", subnet_id="subnet", address=address)
        )
    stocked: Any = import_module("blazar.domain.stock").StockedResource
    transaction.stock.put(stocked(collection="other", name="thing", facts={"size": 3}), EPOCH)


def insert_allocations(transaction: Any, leases: list[Any]) -> None:
    """Insert whole hosts, shares of one and floating IPs; those of the first lease are released."""
    demand = capacity.Demand.of({"VCPU": 2, "MEMORY_MB": 1024}, ["HW_CPU_X86_AVX2"])
    share = capacity.Share(slots=2, demand=demand)
    interval: Any = import_module("blazar.domain.interval").Interval
    for lease in leases:
        window = interval(lease.start, lease.end)
        transaction.allocations.insert(
            [
                model.Allocation(
                    resource_id=resource, reservation_id=f"{lease.id}-{kind}", window=window, share=of
                )
                for resource, kind, of in (
                    ("host-1", "hosts", None),
                    ("host-2", "instances", share),
                    ("host-2", "flavors", share),
                    ("fip-1", "floatingips", None),
                )
            ]
        )
    first = leases[0]
    for kind, resource in (("hosts", "host-1"), ("instances", "host-2")):
        transaction.allocations.release(f"{first.id}-{kind}", [resource], first.end)


def insert_records(transaction: Any, leases: list[Any]) -> None:
    """Insert what managers record about leases and about their own work."""
    for lease in leases:
        entry = ports.JournalEntry(
            at=EPOCH, lease_id=lease.id, event="lease.status", reason="PENDING -> ACTIVE", actor="manager"
        )
        transaction.journal.append(
            [entry, replace(entry, reservation_id=f"{lease.id}-hosts", request_id="req-1")]
        )
        message = ports.Message(event_type="lease.create", lease_id=lease.id, payload={"name": lease.name})
        transaction.outbox.append([message], EPOCH)
    transaction.work.schedule([each.id for each in leases], EPOCH)
    transaction.work.claim_due("manager-1", EPOCH + HOUR, EPOCH + 2 * HOUR, 2)
    transaction.findings.note("sweep", ["server-group-1"], EPOCH)
    transaction.quotas.lock("project-0")


def read(transaction: Any) -> dict[str, Any]:
    """Return what the store reads, without what only this release or only the next one has."""
    return {
        "leases": [describe(each) for each in sorted(transaction.leases.list(), key=lambda lease: lease.id)],
        "journal": [
            [each.event, each.reason, each.actor, each.reservation_id, each.request_id, str(each.at)]
            for each in transaction.journal.list("lease-3")
        ],
    }


def describe(lease: Any) -> dict[str, Any]:
    """Return the fields of a lease that both releases have."""
    fields = ("id", "name", "user_id", "project_id", "start", "end", "status", "is_deleting", "created_at")
    parts = ("id", "resource_type", "status", "is_deployed", "problem", "missing_resources", "created_at")
    return {
        **{name: str(getattr(lease, name)) for name in fields},
        "reservations": [
            {
                **{name: str(getattr(each, name)) for name in parts},
                "lost_resources": sorted(each.lost_resources),
                "spec": dict(getattr(each.spec, "content", each.spec)),
            }
            for each in lease.reservations
        ],
        "events": [[each.id, each.event_type, str(each.time), each.status] for each in lease.events],
    }


def main(url: str) -> None:
    """Create the schema in the database at *url*, fill it, and print what the store reads as JSON."""
    engine = import_module("blazar.db.engine").make_engine(url)
    import_module("blazar.db.schema").upgrade(engine)
    store_class: Any = import_module("blazar.db.store").SqlStore
    store = store_class(engine, import_module(MANAGERS_OF_CLOCKS).SystemClock())
    leases = make_leases()
    with store.begin() as transaction:
        insert_resources(transaction)
        transaction.leases.insert_many(leases)
        insert_allocations(transaction, leases)
        insert_records(transaction, leases)
        transaction.commit()
    tables: Any = import_module("blazar.db.tables").metadata.sorted_tables
    with engine.connect() as connection:
        counts = {
            each.name: connection.scalar(sa.select(sa.func.count()).select_from(each)) for each in tables
        }
    with store.read() as transaction:
        print(json.dumps({"counts": counts, **read(transaction)}))


if __name__ == "__main__":
    main(sys.argv[1])
