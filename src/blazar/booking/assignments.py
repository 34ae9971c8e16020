"""Reservations as plugins see them when they work on the cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from blazar.booking.context import Context
from blazar.domain.health import ResourceState
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Lease, Reservation, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import AllocatedResource, Assignment

_UNKNOWN = ResourceState()


def exists_ahead(context: Context, lease: Lease, reservation: Reservation) -> bool:
    """Return whether something of a reservation exists outside long before its start."""
    plugin = context.plugin_for(reservation.resource_type)
    return bool(plugin.wanted(assign(context, lease, reservation, (), {}), Phase.AHEAD))


def assign(
    context: Context,
    lease: Lease,
    reservation: Reservation,
    allocations: Sequence[Allocation],
    states: Mapping[ResourceId, ResourceState],
) -> Assignment[Any]:
    """Return a reservation with what it holds.

    Args:
        context: The context.
        lease: Its lease.
        reservation: The reservation.
        allocations: Its own, as they are in the books.
        states: Of the resources.
    """
    plugin = context.plugin_for(reservation.resource_type)
    return Assignment(
        lease_id=lease.id,
        reservation_id=reservation.id,
        project_id=lease.project_id or "",
        window=Interval(lease.start, max(lease.end, lease.start + timedelta.resolution)),
        now=context.clock.now(),
        spec=plugin.decode(reservation.spec),
        resources=tuple(
            AllocatedResource(
                id=each.resource_id,
                share=each.share,
                facts=states.get(each.resource_id, _UNKNOWN).facts,
            )
            for each in allocations
        ),
    )
