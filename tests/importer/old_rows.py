"""Rows of the existing service, for tests that depend on only one or two columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from samples import at

from blazar.ports.old_service import (
    NEEDED_REVISION,
    OldAllocation,
    OldCapability,
    OldDatabase,
    OldEvent,
    OldFloatingIP,
    OldFloatingIPDetails,
    OldHost,
    OldHostDetails,
    OldInventory,
    OldLease,
    OldProperty,
    OldRequiredAddress,
    OldReservation,
    OldSlotDetails,
)

NOW = at(0)
TIMES: dict[str, Any] = {"created_at": at(-100), "updated_at": None}


def lease(lease_id: str, start: float, end: float, status: str | None, **columns: Any) -> OldLease:
    defaults: dict[str, Any] = {
        "name": f"name of {lease_id}",
        "user_id": "user",
        "project_id": "project",
        "trust_id": "trust",
        **TIMES,
    }
    return OldLease(id=lease_id, start=at(start), end=at(end), status=status, **{**defaults, **columns})


def events(lease_id: str, start: datetime, end: datetime, *statuses: str) -> list[OldEvent]:
    """Return the start and end events of a lease with these statuses."""
    return [
        OldEvent(
            id=f"{lease_id} {kind}", lease_id=lease_id, event_type=kind, time=time, status=status, **TIMES
        )
        for kind, time, status in zip(("start_lease", "end_lease"), (start, end), statuses, strict=True)
    ]


def reservation(
    lease_id: str, status: str = "pending", kind: str = "physical:host", **columns: Any
) -> OldReservation:
    """Return a reservation, ``r-<lease>``, whose details are ``d-<lease>``."""
    defaults: dict[str, Any] = {"id": f"r-{lease_id}", "resource_id": f"d-{lease_id}", **TIMES}
    return OldReservation(lease_id=lease_id, resource_type=kind, status=status, **{**defaults, **columns})


def host_details(lease_id: str, count_range: str | None = "1-1", **columns: Any) -> OldHostDetails:
    defaults: dict[str, Any] = {
        "id": f"d-{lease_id}",
        "reservation_id": f"r-{lease_id}",
        "hypervisor_properties": "",
        "resource_properties": "",
        "before_end": "default",
    }
    return OldHostDetails(count_range=count_range, **{**defaults, **columns})


def slot_details(lease_id: str, amount: int = 1, **columns: Any) -> OldSlotDetails:
    defaults: dict[str, Any] = {
        "id": f"d-{lease_id}",
        "reservation_id": f"r-{lease_id}",
        "vcpus": 2,
        "memory_mb": 1024,
        "disk_gb": 10,
        "affinity": None,
        "resource_properties": "",
        "flavor_id": f"r-{lease_id}",
        "aggregate_id": 7,
        "server_group_id": None,
    }
    return OldSlotDetails(amount=amount, **{**defaults, **columns})


def floatingip_details(lease_id: str, amount: int = 1, **columns: Any) -> OldFloatingIPDetails:
    defaults: dict[str, Any] = {
        "id": f"d-{lease_id}",
        "reservation_id": f"r-{lease_id}",
        "network_id": "network",
    }
    return OldFloatingIPDetails(amount=amount, **{**defaults, **columns})


def required(lease_id: str, *addresses: str) -> list[OldRequiredAddress]:
    return [
        OldRequiredAddress(id=f"{each} of {lease_id}", details_id=f"d-{lease_id}", address=each)
        for each in addresses
    ]


def held(lease_id: str | None, *resource_ids: str | None) -> list[OldAllocation]:
    """Return the allocations of a lease's reservation."""
    reservation_id = f"r-{lease_id}" if lease_id else None
    return [
        OldAllocation(id=f"{lease_id} {number}", resource_id=each, reservation_id=reservation_id)
        for number, each in enumerate(resource_ids)
    ]


def host(host_id: str = "1", **columns: Any) -> OldHost:
    """Return a host of 8 vCPUs."""
    defaults: dict[str, Any] = {
        "hypervisor_hostname": f"node-{host_id}",
        "service_name": f"service-{host_id}",
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8,
        "vcpus": 8,
        "memory_mb": 8192,
        "local_gb": 100,
        "cpu_info": "{}",
        "availability_zone": "nova",
        "trust_id": "trust",
        "is_reservable": True,
        **TIMES,
    }
    return OldHost(id=host_id, **{**defaults, **columns})


def inventory(host_id: str | None, resource_class: str, total: int, ratio: float = 1.0) -> OldInventory:
    return OldInventory(
        id=f"{resource_class} of {host_id}",
        host_id=host_id,
        resource_class=resource_class,
        total=total,
        reserved=0,
        min_unit=1,
        max_unit=total,
        step_size=1,
        allocation_ratio=ratio,
    )


def resource_property(name: str, property_id: str | None = None, *, is_private: bool = False) -> OldProperty:
    return OldProperty(
        id=property_id or f"p-{name}",
        resource_type="physical:host",
        name=name,
        is_private=is_private,
        **TIMES,
    )


def capability(host_id: str | None, name: str, value: str, day: int = 0) -> OldCapability:
    return OldCapability(
        id=f"{name} of {host_id} {day}",
        host_id=host_id,
        property_id=f"p-{name}",
        value=value,
        created_at=at(24 * (day - 10)),
    )


def floatingip(number: int, address: str | None = None, **columns: Any) -> OldFloatingIP:
    defaults: dict[str, Any] = {
        "network_id": "network",
        "subnet_id": "subnet",
        "is_reservable": True,
        **TIMES,
    }
    return OldFloatingIP(id=f"f{number}", address=address or f"203.0.113.{number}", **{**defaults, **columns})


def database(
    *leases: OldLease,
    statuses: Sequence[str] = ("UNDONE", "UNDONE"),
    all_events: Sequence[OldEvent] | None = None,
    **tables: Sequence[Any],
) -> OldDatabase:
    """Return a database with these leases and tables; each lease has both events with these statuses."""
    own = [one for each in leases for one in events(each.id, each.start, each.end, *statuses)]
    return OldDatabase(
        revision=NEEDED_REVISION,
        leases=leases,
        events=tuple(own if all_events is None else all_events),
        **{name: tuple(rows) for name, rows in tables.items()},
    )
