"""Port: the rows of a database of the existing service, unchanged.

Nothing is checked here: such a database has almost no constraints, and ``blazar.importer`` detects what is
wrong in it. Instants are aware; every field that may be null in the database may be None here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

NEEDED_REVISION = "553383923ca0"
"""The last revision of the existing service's schema, and the only one that can be read."""


class CannotImport(Exception):
    """The database cannot be imported in its present state; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldLease:
    """A row of ``leases``."""

    id: str
    name: str | None
    user_id: str | None
    project_id: str | None
    start: datetime
    end: datetime
    trust_id: str | None
    status: str | None
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldReservation:
    """A row of ``reservations``."""

    id: str
    lease_id: str | None
    resource_id: str | None
    """The id of a row in the table of its resource type, with the details of the request."""
    resource_type: str | None
    status: str | None
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldEvent:
    """A row of ``events``."""

    id: str
    lease_id: str | None
    event_type: str | None
    time: datetime | None
    status: str | None
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldHostDetails:
    """A row of ``computehost_reservations``."""

    id: str
    reservation_id: str | None
    count_range: str | None
    hypervisor_properties: str | None
    resource_properties: str | None
    before_end: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldSlotDetails:
    """A row of ``instance_reservations``, which both types of instance reservation share."""

    id: str
    reservation_id: str | None
    vcpus: int
    memory_mb: int
    disk_gb: int
    amount: int
    affinity: bool | None
    resource_properties: str | None
    """For ``flavor:instance`` the source flavor as JSON, for ``virtual:instance`` a requirement."""
    flavor_id: str | None
    aggregate_id: int | None
    server_group_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldFloatingIPDetails:
    """A row of ``floatingip_reservations``."""

    id: str
    reservation_id: str | None
    network_id: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OldRequiredAddress:
    """A row of ``required_floatingips``."""

    id: str
    details_id: str | None
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OldAllocation:
    """A row of ``computehost_allocations`` or ``floatingip_allocations``."""

    id: str
    resource_id: str | None
    reservation_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldHost:
    """A row of ``computehosts``."""

    id: str
    hypervisor_hostname: str | None
    service_name: str | None
    hypervisor_type: str
    hypervisor_version: int
    vcpus: int
    memory_mb: int
    local_gb: int
    cpu_info: str
    availability_zone: str | None
    trust_id: str | None
    is_reservable: bool
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldProperty:
    """A row of ``resource_properties``."""

    id: str
    resource_type: str
    name: str
    is_private: bool
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldCapability:
    """A row of ``computehost_extra_capabilities``."""

    id: str
    host_id: str | None
    property_id: str | None
    value: str
    created_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldInventory:
    """A row of ``computehost_resource_inventory``."""

    id: str
    host_id: str | None
    resource_class: str
    total: int
    reserved: int
    min_unit: int
    max_unit: int
    step_size: int
    allocation_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OldTrait:
    """A row of ``computehost_trait``."""

    id: str
    host_id: str | None
    trait: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OldFloatingIP:
    """A row of ``floatingips``."""

    id: str
    network_id: str
    subnet_id: str
    address: str
    is_reservable: bool
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldDatabase:
    """The whole database as of one instant, each table ordered by id."""

    revision: str | None
    """None if the schema looks like the needed revision, but the database does not name its revision."""
    leases: tuple[OldLease, ...] = ()
    reservations: tuple[OldReservation, ...] = ()
    events: tuple[OldEvent, ...] = ()
    host_details: tuple[OldHostDetails, ...] = ()
    slot_details: tuple[OldSlotDetails, ...] = ()
    floatingip_details: tuple[OldFloatingIPDetails, ...] = ()
    required_addresses: tuple[OldRequiredAddress, ...] = ()
    host_allocations: tuple[OldAllocation, ...] = ()
    floatingip_allocations: tuple[OldAllocation, ...] = ()
    hosts: tuple[OldHost, ...] = ()
    properties: tuple[OldProperty, ...] = ()
    capabilities: tuple[OldCapability, ...] = ()
    inventories: tuple[OldInventory, ...] = ()
    traits: tuple[OldTrait, ...] = ()
    floatingips: tuple[OldFloatingIP, ...] = ()


class OldService(Protocol):
    """A database of the existing service. It is only read."""

    @property
    def name(self) -> str:
        """Return the database URL without its password."""

    def read(self) -> OldDatabase:
        """Return the whole database as of one instant.

        Raises:
            CannotImport: The database is unreachable, is not Blazar's, or has another revision.
        """
