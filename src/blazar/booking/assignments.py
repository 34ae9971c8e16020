"""Reservations as plugins see them while changing the cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blazar.booking.context import Context, Plugin
from blazar.booking.specs import spec_for_work
from blazar.domain.errors import CannotChange
from blazar.domain.health import ResourceState
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, Lease, Reservation, ResourceId
from blazar.domain.lifecycle import Phase, has_started
from blazar.plugins.capabilities import ReleasesWhileActive
from blazar.plugins.contract import AllocatedResource, Assignment
from blazar.ports.cloud import Cloud

_UNKNOWN = ResourceState()


def exists_ahead(context: Context, lease: Lease, reservation: Reservation) -> bool:
    """Return whether the cloud holds items of a reservation long before its start."""
    plugin = context.plugin_for(reservation.resource_type)
    return bool(plugin.wanted(assign(context, lease, reservation, (), {}), Phase.AHEAD))


def release(plugin: Plugin, cloud: Cloud, assignment: Assignment[Any], kept: Holdings) -> None:
    """Take the resources that are not *kept* away from a reservation that has begun.

    Raises:
        CannotChange: The lessee uses one of them, or resources of this type stay until the end.
    """
    if isinstance(plugin, ReleasesWhileActive):
        plugin.release(cloud, assignment, kept)
        return
    for each in assignment.resources:
        left = kept.get(each.id)
        is_less = each.share is not None and (left is None or left.slots < each.share.slots)
        if each.id not in kept or is_less:
            raise CannotChange(f"the share of {each.id} cannot be released before the lease ends")


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
