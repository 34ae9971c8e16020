"""Leases and resources as JSON: for API v1, for notifications and for enforcement filters.

Documents are made directly from values, once; other code passes them on unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from blazar.booking.context import Plugin
from blazar.booking.specs import rendered_spec
from blazar.domain.formats import API, CHANGED, Formats
from blazar.domain.health import Diagnosis
from blazar.domain.lease import Event, Lease, Reservation
from blazar.domain.plugin_resources import PluginResource, ResourceProperty
from blazar.ports.allocations import BookedWindow, HeldResource
from blazar.ports.manager import Caller

HEALTH_REASONS_SINCE: Final = (1, 1)
"""First microversion in which resources are read with ``health_reason``."""

JsonObject = Mapping[str, object]


def lease_view(lease: Lease, plugins: Mapping[str, Plugin], formats: Formats = API) -> dict[str, object]:
    """Return a lease. ``trust_id`` is always null; clients expect the key, but trusts are not used."""
    return {
        "id": lease.id,
        "name": lease.name,
        "user_id": lease.user_id,
        "project_id": lease.project_id,
        "start_date": formats.date(lease.start),
        "end_date": formats.date(lease.end),
        "trust_id": None,
        "status": lease.status.value,
        "degraded": lease.is_degraded,
        "created_at": formats.stamp(lease.created_at),
        "updated_at": formats.stamp(lease.updated_at),
        "reservations": [_reservation_view(each, plugins, formats) for each in lease.reservations],
        "events": [_event_view(each, lease, formats) for each in lease.events],
    }


def _reservation_view(
    reservation: Reservation, plugins: Mapping[str, Plugin], formats: Formats
) -> JsonObject:
    return {
        **rendered_spec(plugins.get(reservation.resource_type), reservation),
        "id": reservation.id,
        "lease_id": reservation.lease_id,
        "resource_id": reservation.id,
        "resource_type": reservation.resource_type,
        "status": reservation.status.value,
        "missing_resources": reservation.missing_resources,
        "resources_changed": reservation.resources_changed,
        "created_at": formats.stamp(reservation.created_at),
        "updated_at": formats.stamp(reservation.updated_at),
    }


def _event_view(event: Event, lease: Lease, formats: Formats) -> JsonObject:
    return {
        "id": event.id,
        "lease_id": lease.id,
        "event_type": event.event_type.value,
        "time": formats.date(event.time),
        "status": event.status.value,
        "created_at": formats.stamp(event.created_at),
        "updated_at": formats.stamp(event.updated_at),
    }


def resource_view(resource: PluginResource, hidden: Collection[str] = ()) -> JsonObject:
    """Return a registered resource.

    Args:
        resource: The resource.
        hidden: Names of extra capabilities that are hidden from the caller.
    """
    return {
        **{
            key: value
            for key, value in resource.facts.items()
            if key not in resource.properties or key not in hidden
        },
        "id": resource.id,
        "name": resource.name,
        "amounts": dict(resource.amounts),
        "reservable": resource.diagnosis.is_reservable,
    }


def health_view(diagnosis: Diagnosis, caller: Caller) -> JsonObject:
    """Return the keys about the health of a resource that a caller sees in addition to ``reservable``.

    A key of the resource with the same name replaces one of them.
    """
    if caller.api_version < HEALTH_REASONS_SINCE or not caller.sees_private_properties:
        return {}
    reason = None if diagnosis.is_reservable else diagnosis.problem or diagnosis.health.value
    return {"health_reason": reason}


def property_view(each: ResourceProperty) -> JsonObject:
    """Return a resource property as a response to PATCH."""
    return {
        "id": each.id,
        "resource_type": each.resource_type,
        "property_name": each.name,
        "private": each.is_private,
        "created_at": CHANGED.stamp(each.created_at),
        "updated_at": CHANGED.stamp(each.updated_at),
    }


def plugin_resource_view(resource: PluginResource) -> JsonObject:
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
                "start_date": API.date(each.start),
                "end_date": API.date(each.end),
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
        "start_date": API.date(held.window.start),
        "end_date": API.date(held.window.end),
    }
