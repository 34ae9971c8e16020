"""Database rows of an installation of the existing service, as that service writes them.

Names contain a number and ids are derived from names, so two runs make the same rows.
"""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import old_schema
import sqlalchemy as sa

NAMESPACE = uuid.UUID("5d3e3a0c-62f4-5a5e-9a0b-4e0a6f1c9d77")
NETWORK, SUBNET, OTHER_SUBNET = "net-public", "subnet-public", "subnet-second"
PROJECTS = ("astronomy", "biology", "chemistry")

Row = dict[str, Any]


def id_of(name: str) -> str:
    """Return the id that is derived from a name."""
    return str(uuid.uuid5(NAMESPACE, name))


def flavor_json(**changes: Any) -> str:
    """Return a source flavor as the existing service stores it."""
    flavor = {
        "id": "42",
        "name": "m1.small",
        "vcpus": 2,
        "ram": 2048,
        "disk": 10,
        "swap": "",
        "rxtx_factor": 1.0,
        "OS-FLV-DISABLED:disabled": False,
        "OS-FLV-EXT-DATA:ephemeral": 0,
        "os-flavor-access:is_public": True,
        "extra_specs": {},
    }
    return json.dumps({**flavor, **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A reservation: its type, the columns of its details, and its resources, one entry per instance."""

    resource_type: str
    details: Row
    held: Sequence[str]
    required: Sequence[str] = ()


def hosts(*held: str, count_range: str | None = None, **details: Any) -> Asked:
    """Return a reservation of these hosts."""
    count = count_range if count_range is not None else f"{len(held)}-{len(held)}"
    columns = {"hypervisor_properties": "", "resource_properties": "", "before_end": "default"}
    return Asked(
        resource_type="physical:host", details={**columns, "count_range": count, **details}, held=held
    )


def instances(*held: str, **details: Any) -> Asked:
    """Return a reservation of one instance, by default of 4 vCPUs, on each of these hosts."""
    columns = {"vcpus": 4, "memory_mb": 4096, "disk_gb": 20, "amount": len(held), "affinity": None}
    return Asked(
        resource_type="virtual:instance",
        details={**columns, "resource_properties": "", **details},
        held=held,
    )


def flavors(*held: str, **details: Any) -> Asked:
    """Return a reservation of one instance of a flavor on each of these hosts."""
    columns = {"vcpus": 2, "memory_mb": 2048, "disk_gb": 10, "amount": len(held), "affinity": None}
    return Asked(
        resource_type="flavor:instance",
        details={**columns, "resource_properties": flavor_json(), **details},
        held=held,
    )


def floatingips(*held: str, required: Sequence[str] = (), **details: Any) -> Asked:
    """Return a reservation of these floating IPs."""
    columns = {"network_id": NETWORK, "amount": len(held)}
    return Asked(
        resource_type="virtual:floatingip",
        details={**columns, **details},
        held=held,
        required=required,
    )


_STATUSES: Mapping[str, tuple[str, str, str]] = {
    "PENDING": ("pending", "UNDONE", "UNDONE"),
    "ACTIVE": ("active", "DONE", "UNDONE"),
    "TERMINATED": ("deleted", "DONE", "DONE"),
    "CREATING": ("pending", "UNDONE", "UNDONE"),
    "STARTING": ("pending", "IN_PROGRESS", "UNDONE"),
    "TERMINATING": ("active", "DONE", "IN_PROGRESS"),
    "DELETING": ("pending", "UNDONE", "UNDONE"),
    "UPDATING": ("active", "DONE", "UNDONE"),
    "ERROR": ("error", "ERROR", "UNDONE"),
}
"""By lease status: the statuses of the reservations, of the start event and of the end event."""


@dataclass(slots=True)
class OldInstallation:
    """Rows by table; *now* is naive UTC, like all times in that database."""

    now: datetime
    rows: dict[sa.Table, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def add(self, table: sa.Table, row_id: str, **columns: Any) -> str:
        """Add a row, and return its id."""
        self.rows[table].append({"id": row_id, "created_at": self.now - timedelta(days=400), **columns})
        return row_id

    def host(self, number: int, *, has_inventory: bool = True, **columns: Any) -> str:
        """Add a host of 64 vCPUs, and return its id."""
        sizes = {"vcpus": 64, "memory_mb": 262_144, "local_gb": 2000}
        described = {
            **sizes,
            "cpu_info": "{}",
            "hypervisor_type": "QEMU",
            "hypervisor_version": 8_002_000,
            "hypervisor_hostname": f"node-{number}.example.org",
            "service_name": f"node-{number}",
            "availability_zone": "nova",
            "trust_id": id_of(f"trust of host {number}").replace("-", ""),
            "reservable": True,
        }
        host_id = self.add(old_schema.computehosts, str(number), **{**described, **columns})
        for name, total in zip(("VCPU", "MEMORY_MB", "DISK_GB"), sizes.values(), strict=True):
            if has_inventory:
                self.add(
                    old_schema.inventories,
                    id_of(f"{name} of host {number}"),
                    computehost_id=host_id,
                    resource_class=name,
                    total=total,
                    reserved=0,
                    min_unit=1,
                    max_unit=total,
                    step_size=1,
                    allocation_ratio=1.0,
                )
        return host_id

    def floatingip(self, number: int, address: str | None = None, *, subnet: str = SUBNET) -> str:
        """Add an address, and return its id."""
        return self.add(
            old_schema.floatingips,
            id_of(f"floating IP {number}"),
            floating_network_id=NETWORK,
            subnet_id=subnet,
            floating_ip_address=address or f"198.51.{100 + number // 250}.{1 + number % 250}",
            reservable=True,
        )

    def lease(
        self,
        name: str,
        start: datetime,
        end: datetime,
        *asked: Asked,
        status: str,
        events: tuple[str, str] | None = None,
        reserved: str | None = None,
        **columns: Any,
    ) -> str:
        """Add a lease with its events and reservations, and return its id.

        Args:
            name: The name of the lease.
            start: The start date.
            end: The end date.
            *asked: The reservations.
            status: The status of the lease; the statuses of events and reservations follow from it.
            events: The statuses of the start and end events, if they differ.
            reserved: The status of the reservations, if it differs.
            **columns: Further columns.
        """
        usual = _STATUSES.get(status, _STATUSES["PENDING"])
        number = len(self.rows[old_schema.leases])
        described = {
            "name": name,
            "user_id": f"user-{number % 7}",
            "project_id": PROJECTS[number % len(PROJECTS)],
            "start_date": start,
            "end_date": end,
            "trust_id": id_of(f"trust of {name}").replace("-", ""),
            "status": status,
            "degraded": False,
            "created_at": min(start, self.now) - timedelta(days=30) + timedelta(seconds=number),
        }
        lease_id = self.add(old_schema.leases, id_of(name), **{**described, **columns})
        for kind, time, event_status in zip(
            ("start_lease", "end_lease"), (start, end), events or usual[1:], strict=True
        ):
            self.event(name, kind, time, event_status)
        before_end = max(start, end - timedelta(hours=1))
        is_over = (events or usual[1:])[1] == "DONE"
        self.event(name, "before_end_lease", before_end, "DONE" if is_over else "UNDONE")
        for place, each in enumerate(asked):
            self.reserve(name, place, each, reserved or usual[0])
        return lease_id

    def event(self, name: str, kind: str, time: datetime | None, status: str, mark: str = "") -> str:
        """Add an event of a lease; *mark* distinguishes it from another event of the same type."""
        return self.add(
            old_schema.events,
            id_of(f"{kind} of {name}{mark}"),
            lease_id=id_of(name),
            event_type=kind,
            time=time,
            status=status,
        )

    def reserve(self, name: str, place: int, asked: Asked, status: str, **columns: Any) -> str:
        """Add a reservation of a lease with its details and allocations, and return its id."""
        reservation_id = id_of(f"reservation {place} of {name}")
        details_id = id_of(f"details {place} of {name}")
        described = {
            "lease_id": id_of(name),
            "resource_id": details_id,
            "resource_type": asked.resource_type,
            "status": status,
            "missing_resources": False,
            "resources_changed": False,
        }
        self.add(old_schema.reservations, reservation_id, **{**described, **columns})
        is_of_floatingips = asked.resource_type == "virtual:floatingip"
        if status != "deleted" or is_of_floatingips:
            for number, each in enumerate(asked.held):
                self.hold(f"{number} of {reservation_id}", reservation_id, each, is_of_floatingips)
        self._describe(asked, details_id, reservation_id, len(self.rows[old_schema.reservations]))
        return reservation_id

    def hold(self, name: str, reservation_id: str | None, held: str | None, is_floatingip: bool) -> str:
        """Add an allocation."""
        table, column = (
            (old_schema.floatingip_allocations, "floatingip_id")
            if is_floatingip
            else (old_schema.host_allocations, "compute_host_id")
        )
        row_id = id_of(f"allocation {name}")
        return self.add(table, row_id, reservation_id=reservation_id, **{column: held})

    def _describe(self, asked: Asked, details_id: str, reservation_id: str, number: int) -> None:
        details = {"reservation_id": reservation_id, **asked.details}
        match asked.resource_type:
            case "physical:host":
                self.add(old_schema.host_details, details_id, **{"aggregate_id": number, **details})
            case "virtual:instance" | "flavor:instance":
                known = {"flavor_id": reservation_id, "aggregate_id": number}
                if asked.details.get("affinity") is not None:
                    known["server_group_id"] = id_of(f"group of {reservation_id}")
                self.add(old_schema.slot_details, details_id, **{**known, **details})
            case "virtual:floatingip":
                self.add(old_schema.floatingip_details, details_id, **details)
                for each in asked.required:
                    row_id = id_of(f"{each} of {details_id}")
                    self.add(
                        old_schema.required_floatingips,
                        row_id,
                        address=each,
                        floatingip_reservation_id=details_id,
                    )
