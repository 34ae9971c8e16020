"""Values for tests that care about one or two of their fields only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from clocks import EPOCH

from blazar.domain.capacity import Demand, Share
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Allocation,
    Event,
    EventType,
    Lease,
    LeaseId,
    LeaseStatus,
    Reservation,
    ReservationId,
    ResourceId,
    StoredSpec,
)
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.hosts.host import Host
from blazar.ports.journal import JournalEntry
from blazar.ports.store import Store

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
SPEC = StoredSpec({"min": 1, "max": 1, "hypervisor_properties": "", "resource_properties": ""})


def stored_spec(reservation: Reservation) -> Mapping[str, Any]:
    """Return the spec of a reservation that was read without the plugins."""
    assert isinstance(reservation.spec, StoredSpec)
    return reservation.spec.content


def spec_of(reservation: Reservation) -> Any:
    """Return the spec of a reservation, a value of its plugin's type."""
    assert not isinstance(reservation.spec, StoredSpec)
    return reservation.spec


def at(hours: float) -> datetime:
    """Return the instant so many hours after the clocks' epoch."""
    return EPOCH + timedelta(hours=hours)


def window(start: float, end: float) -> Interval:
    """Return a window in hours after the clocks' epoch."""
    return Interval(at(start), at(end))


def make_lease(
    lease_id: str = "lease", *, start: float = 1, end: float = 5, reservations: int = 1, **fields: Any
) -> Lease:
    """Return a pending lease whose children are named after it: ``lease-r0``, ``lease-start_lease``."""
    times = {EventType.START: at(start), EventType.BEFORE_END: at(end - 0.5), EventType.END: at(end)}
    defaults: dict[str, Any] = {
        "name": f"name of {lease_id}",
        "user_id": "user",
        "project_id": "project",
        "status": LeaseStatus.PENDING,
        "created_at": EPOCH,
        "reservations": tuple(
            Reservation(
                id=ReservationId(f"{lease_id}-r{number}"),
                lease_id=LeaseId(lease_id),
                resource_type="physical:host",
                spec=SPEC,
                created_at=EPOCH,
            )
            for number in range(reservations)
        ),
        "events": tuple(
            Event(id=f"{lease_id}-{kind}", event_type=kind, time=time, created_at=EPOCH)
            for kind, time in times.items()
        ),
    }
    return Lease(id=LeaseId(lease_id), start=at(start), end=at(end), **{**defaults, **fields})


def make_host(host_id: str = "1", **fields: Any) -> Host:
    """Return a host of 8 vcpus named after its id."""
    defaults: dict[str, Any] = {
        "hypervisor_hostname": f"node-{host_id}.example.org",
        "service_name": f"node-{host_id}",
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8_000_000,
        "vcpus": 8,
        "memory_mb": 16_384,
        "local_gb": 100,
        "cpu_info": "{}",
        "availability_zone": "nova",
        "created_at": EPOCH,
    }
    return Host(id=ResourceId(host_id), **{**defaults, **fields})


def make_floatingip(number: int = 1, **fields: Any) -> FloatingIP:
    """Return a floating IP, ``fip-1`` at 203.0.113.201 for 1, of the network ``network``."""
    defaults: dict[str, Any] = {
        "network_id": "network",
        "subnet_id": "subnet",
        "address": f"203.0.113.{200 + number}",
        "created_at": EPOCH,
    }
    return FloatingIP(id=ResourceId(f"fip-{number}"), **{**defaults, **fields})


SHARE = Share(slots=2, demand=Demand.of({"VCPU": 2, "MEMORY_MB": 4096}, ["HW_CPU_X86_AVX2"]))


def make_allocation(
    host_id: str, reservation_id: str, start: float, end: float, *, share: Share | None = None
) -> Allocation:
    """Return an unreleased allocation; the window is in hours after the clocks' epoch."""
    return Allocation(
        resource_id=ResourceId(host_id),
        reservation_id=ReservationId(reservation_id),
        window=window(start, end),
        share=share,
    )


def know_a_lease(store: Store) -> None:
    """Have the database know of a lease that is gone: before that, no sweep removes anything of leases."""
    entry = JournalEntry(at=EPOCH, lease_id=LeaseId("earlier"), event="lease.status", actor="manager")
    with store.begin() as transaction:
        transaction.journal.append([entry])
        transaction.commit()
