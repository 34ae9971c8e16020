"""Reservations as plugins see them while changing the cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blazar.booking.context import Context
from blazar.booking.specs import spec_for_work
from blazar.domain.health import ResourceState
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Lease, Reservation, ResourceId
from blazar.domain.lifecycle import Phase, has_started
from blazar.plugins.contract import AllocatedResource, Assignment

_UNKNOWN = ResourceState()


def exists_ahead(context: Context, lease: Lease, reservation: Reservation) -> bool:
    """Return whether the cloud holds items of a reservation long before its start."""
    plugin = context.plugin_for(reservation.resource_type)
    return bool(plugin.wanted(assign(context, lease, reservation, (), {}), Phase.AHEAD))


def assign(
    context: Context,
    lease: Lease,
    reservation: Reservation,
    allocations: Sequence[Allocation],
    states: Mapping[ResourceId, ResourceState],
) -> Assignment[Any]:
    """Return a reservation together with its allocations, as plugins expect it.

    Args:
        context: The context.
        lease: The lease of the reservation.
        reservation: The reservation.
        allocations: The reservation's allocations, as stored.
        states: The states of the allocated resources.

    Returns:
        The assignment. Its ``now`` is never before a start that was recorded, because this manager's clock
        may be behind the clock of the manager that started the lease.
    """
    now = context.clock.now()
    plugin = context.plugin_for(reservation.resource_type)
    return Assignment(
        lease_id=lease.id,
        reservation_id=reservation.id,
        project_id=lease.project_id or "",
        window=Interval.at_least_an_instant(lease.start, lease.end),
        now=max(now, lease.start) if has_started(lease) else now,
        has_begun=has_started(lease),
        spec=spec_for_work(plugin, reservation),
        resources=tuple(
            AllocatedResource(
                id=each.resource_id,
                share=each.share,
                facts=states.get(each.resource_id, _UNKNOWN).facts,
            )
            for each in allocations
        ),
    )
