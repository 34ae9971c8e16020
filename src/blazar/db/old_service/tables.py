"""The tables of the existing service that are read, as a mapping from columns to fields."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from blazar.ports import old_service as old


class NaiveUtc(TypeDecorator[datetime]):
    """An instant stored in UTC without a zone."""

    impl = sa.DateTime
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the instant with its time zone."""
        return None if value is None else value.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table, and the class for its rows."""

    table: str
    row: type
    fields: dict[str, tuple[str, TypeEngine[Any]]]
    """Each field's column and the column's type."""

    def select(self) -> sa.Select[Any]:
        """Return the query for all rows, by id; its columns have the names of the fields."""
        table = sa.table(self.table, *(sa.column(name, kind) for name, kind in self.fields.values()))
        columns = [table.c[name].label(field) for field, (name, _) in self.fields.items()]
        return sa.select(*columns).order_by(table.c.id)


_TEXT: TypeEngine[Any] = sa.Text()
_NUMBER: TypeEngine[Any] = sa.Integer()
_TRUTH: TypeEngine[Any] = sa.Boolean()
_FRACTION: TypeEngine[Any] = sa.Float()
_INSTANT: TypeEngine[Any] = NaiveUtc()


def _of(*names: str, kind: TypeEngine[Any] = _TEXT, **renamed: str) -> dict[str, tuple[str, TypeEngine[Any]]]:
    """Return fields of one type; *renamed* are fields whose columns have other names."""
    return {**{name: (name, kind) for name in names}, **{key: (name, kind) for key, name in renamed.items()}}


_TIMES = _of("created_at", "updated_at", kind=_INSTANT)

SOURCES: dict[str, Source] = {
    "leases": Source(
        table="leases",
        row=old.OldLease,
        fields=_of("id", "name", "user_id", "project_id", "trust_id", "status")
        | _of(kind=_INSTANT, start="start_date", end="end_date")
        | _TIMES,
    ),
    "reservations": Source(
        table="reservations",
        row=old.OldReservation,
        fields=_of("id", "lease_id", "resource_id", "resource_type", "status") | _TIMES,
    ),
    "events": Source(
        table="events",
        row=old.OldEvent,
        fields=_of("id", "lease_id", "event_type", "status") | _of("time", kind=_INSTANT) | _TIMES,
    ),
    "host_details": Source(
        table="computehost_reservations",
        row=old.OldHostDetails,
        fields=_of(
            "id",
            "reservation_id",
            "count_range",
            "hypervisor_properties",
            "resource_properties",
            "before_end",
        ),
    ),
    "slot_details": Source(
        table="instance_reservations",
        row=old.OldSlotDetails,
        fields=_of("id", "reservation_id", "resource_properties", "flavor_id", "server_group_id")
        | _of("vcpus", "memory_mb", "disk_gb", "amount", "aggregate_id", kind=_NUMBER)
        | _of("affinity", kind=_TRUTH),
    ),
    "floatingip_details": Source(
        table="floatingip_reservations",
        row=old.OldFloatingIPDetails,
        fields=_of("id", "reservation_id", "network_id") | _of("amount", kind=_NUMBER),
    ),
    "required_addresses": Source(
        table="required_floatingips",
        row=old.OldRequiredAddress,
        fields=_of("id", "address", details_id="floatingip_reservation_id"),
    ),
    "host_allocations": Source(
        table="computehost_allocations",
        row=old.OldAllocation,
        fields=_of("id", "reservation_id", resource_id="compute_host_id"),
    ),
    "floatingip_allocations": Source(
        table="floatingip_allocations",
        row=old.OldAllocation,
        fields=_of("id", "reservation_id", resource_id="floatingip_id"),
    ),
    "hosts": Source(
        table="computehosts",
        row=old.OldHost,
        fields=_of(
            "id",
            "hypervisor_hostname",
            "service_name",
            "hypervisor_type",
            "cpu_info",
            "availability_zone",
            "trust_id",
        )
        | _of("hypervisor_version", "vcpus", "memory_mb", "local_gb", kind=_NUMBER)
        | _of(kind=_TRUTH, is_reservable="reservable")
        | _TIMES,
    ),
    "properties": Source(
        table="resource_properties",
        row=old.OldProperty,
        fields=_of("id", "resource_type", name="property_name")
        | _of(kind=_TRUTH, is_private="private")
        | _TIMES,
    ),
    "capabilities": Source(
        table="computehost_extra_capabilities",
        row=old.OldCapability,
        fields=_of("id", "property_id", host_id="computehost_id", value="capability_value")
        | _of("created_at", kind=_INSTANT),
    ),
    "inventories": Source(
        table="computehost_resource_inventory",
        row=old.OldInventory,
        fields=_of("id", "resource_class", host_id="computehost_id")
        | _of("total", "reserved", "min_unit", "max_unit", "step_size", kind=_NUMBER)
        | _of("allocation_ratio", kind=_FRACTION),
    ),
    "traits": Source(
        table="computehost_trait", row=old.OldTrait, fields=_of("id", "trait", host_id="computehost_id")
    ),
    "floatingips": Source(
        table="floatingips",
        row=old.OldFloatingIP,
        fields=_of("id", "subnet_id", network_id="floating_network_id", address="floating_ip_address")
        | _of(kind=_TRUTH, is_reservable="reservable")
        | _TIMES,
    ),
}
"""The tables, by the field of :class:`~blazar.ports.old_service.OldDatabase` that they fill."""
