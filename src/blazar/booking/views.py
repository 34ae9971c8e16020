"""What clients see: values as JSON with the REST API's keys; instants in ISO 8601 with their offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from blazar.booking.context import Plugin
from blazar.domain.floatingips import FloatingIP
from blazar.domain.hosts import Host, ResourceProperty
from blazar.domain.lease import Event, Lease, Reservation
from blazar.domain.stock import StockedResource
from blazar.ports.store import BookedWindow

JsonObject = Mapping[str, object]


def lease_view(lease: Lease, plugins: Mapping[str, Plugin]) -> JsonObject:
    """Return a lease. ``trust_id`` is there because clients expect the key; there are no trusts."""
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
    plugin = plugins.get(reservation.resource_type)
    # A type whose plugin is not loaded any more still shows what was stored.
    specific = plugin.render(plugin.decode(reservation.spec)) if plugin else reservation.spec
    return {
        **specific,
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


def host_view(host: Host) -> JsonObject:
    """Return a host; an extra capability of a built-in key's name masks it, as clients know it."""
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
        **host.capabilities,
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


def stock_view(resource: StockedResource) -> JsonObject:
    """Return a resource as its plugin described it."""
    return {**resource.facts, "id": resource.id, "name": resource.name}


def allocation_view(resource_id: str, booked: Sequence[BookedWindow]) -> JsonObject:
    """Return who holds a resource when."""
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


def property_view(each: ResourceProperty) -> JsonObject:
    """Return a resource property as PATCH answers it."""
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
