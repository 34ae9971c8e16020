"""JSON as clients see it, with the keys of the REST API; instants in ISO 8601 with their offset."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from blazar.booking.context import Plugin
from blazar.booking.specs import rendered_spec
from blazar.domain.discovered import DiscoveredResource
from blazar.domain.floatingips import FloatingIP
from blazar.domain.hosts import Host, ResourceProperty
from blazar.domain.lease import Event, Lease, Reservation
from blazar.ports.store import BookedWindow, HeldResource

JsonObject = Mapping[str, object]


def lease_view(lease: Lease, plugins: Mapping[str, Plugin]) -> JsonObject:
    """Return a lease. ``trust_id`` is always null; clients expect the key, but trusts are not used."""
    return {
        "id": lease.id,
        "name": lease.name,
        "user_id": lease.user_id,
        "project_id": lease.project_id,
        "start_date": _text(lease.start),
        "end_date": _text(lease.end),
        "trust_id": None,
        "status": lease.status.value,
        "degraded": lease.is_degraded,
        "created_at": _text(lease.created_at),
        "updated_at": _text(lease.updated_at),
        "reservations": [_reservation_view(each, plugins) for each in lease.reservations],
        "events": [_event_view(each, lease) for each in lease.events],
    }


def _reservation_view(reservation: Reservation, plugins: Mapping[str, Plugin]) -> JsonObject:
    return {
        **rendered_spec(plugins.get(reservation.resource_type), reservation),
        "id": reservation.id,
        "lease_id": reservation.lease_id,
        "resource_id": reservation.id,
        "resource_type": reservation.resource_type,
        "status": reservation.status.value,
        "missing_resources": reservation.missing_resources,
        "resources_changed": reservation.resources_changed,
        "created_at": _text(reservation.created_at),
        "updated_at": _text(reservation.updated_at),
    }


def _event_view(event: Event, lease: Lease) -> JsonObject:
    return {
        "id": event.id,
        "lease_id": lease.id,
        "event_type": event.event_type.value,
        "time": _text(event.time),
        "status": event.status.value,
        "created_at": _text(event.created_at),
        "updated_at": _text(event.updated_at),
    }


def host_view(host: Host, hidden: Collection[str] = ()) -> JsonObject:
    """Return a host. An extra capability with the name of a built-in key masks that key.

    Args:
        host: The host.
        hidden: Names of extra capabilities that are hidden from the caller.
    """
    return {
        "id": host.id,
        "hypervisor_hostname": host.hypervisor_hostname,
        "service_name": host.service_name,
        "hypervisor_type": host.hypervisor_type,
        "hypervisor_version": host.hypervisor_version,
        "vcpus": host.vcpus,
        "memory_mb": host.memory_mb,
        "local_gb": host.local_gb,
        "cpu_info": host.cpu_info,
        "availability_zone": host.availability_zone,
        "status": None,
        "reservable": host.diagnosis.is_reservable,
        "trust_id": None,
        "created_at": _text(host.created_at),
        "updated_at": _text(host.updated_at),
        **{name: value for name, value in host.capabilities.items() if name not in hidden},
    }


def floatingip_view(floatingip: FloatingIP) -> JsonObject:
    """Return a floating IP."""
    return {
        "id": floatingip.id,
        "floating_network_id": floatingip.network_id,
        "subnet_id": floatingip.subnet_id,
        "floating_ip_address": floatingip.address,
        "reservable": floatingip.diagnosis.is_reservable,
        "created_at": _text(floatingip.created_at),
        "updated_at": _text(floatingip.updated_at),
    }


def resource_view(resource: DiscoveredResource) -> JsonObject:
    """Return a registered resource."""
    return {
        **resource.facts,
        "id": resource.id,
        "name": resource.name,
        "amounts": dict(resource.amounts),
        "reservable": resource.diagnosis.is_reservable,
    }


def discovered_view(resource: DiscoveredResource) -> JsonObject:
    """Return a resource as its plugin described it."""
    return {**resource.facts, "id": resource.id, "name": resource.name}


def allocation_view(resource_id: str, booked: Sequence[BookedWindow]) -> JsonObject:
    """Return the allocations of a resource."""
    return {
        "resource_id": resource_id,
        "reservations": [
            {
                "id": each.reservation_id,
                "lease_id": each.lease_id,
                "start_date": _text(each.start),
                "end_date": _text(each.end),
            }
            for each in booked
        ],
    }


def held_view(held: HeldResource, resource_type: str) -> JsonObject:
    """Return a resource that a reservation holds, as its lessee sees it."""
    return {
        "reservation_id": held.reservation_id,
        "resource_type": resource_type,
        "resource_id": held.resource_id,
        "name": held.name,
        "amount": held.slots or 1,
        "start_date": _text(held.window.start),
        "end_date": _text(held.window.end),
    }


def property_view(each: ResourceProperty) -> JsonObject:
    """Return a resource property as a response to PATCH."""
    return {
        "id": each.id,
        "resource_type": each.resource_type,
        "property_name": each.name,
        "private": each.is_private,
        "created_at": _text(each.created_at),
        "updated_at": _text(each.updated_at),
    }


def _text(instant: datetime | None) -> str | None:
    return instant.isoformat() if instant else None
