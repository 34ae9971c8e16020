"""Changes of what a lessee may be using at this moment.

What an active reservation gives up is taken away in the cloud before the change is stored. The other way
round others would be promised it while a server can still come and use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from blazar.app.assignments import assign
from blazar.app.context import Context
from blazar.app.lessee_work import telling_what_the_cloud_says
from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Allocation,
    Holdings,
    Lease,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
)
from blazar.plugins.contract import Assignment

_LONGEST_REQUEST = timedelta(seconds=15)
"""After that it is looked whether something has to be given back."""


def is_active(context: Context, lease: Lease, reservation: Reservation) -> bool:
    """Return whether the lessee may be using what a reservation, as it was read, holds."""
    is_failed = reservation.status is ReservationStatus.ERROR
    return reservation.is_deployed and not is_failed and lease.start <= context.clock.now()


def count_in_use(
    context: Context, lease: Lease, before: Reservation, assignment: Assignment[Any]
) -> Mapping[ResourceId, int]:
    """Return how many slots of each resource a reservation's servers have, where a change may touch them.

    Args:
        context: The context.
        lease: The lease.
        before: The reservation as it was read.
        assignment: The reservation with its spec as it is to be.
    """
    if not is_active(context, lease, before):
        return {}
    plugin = context.plugin_for(before.resource_type)
    with telling_what_the_cloud_says():
        return plugin.count_in_use(context.cloud, assignment, plugin.decode(before.spec))


def give_up(
    context: Context, lease: Lease, changes: Sequence[tuple[ReservationId, Holdings, Holdings]]
) -> Sequence[Allocation]:
    """Take from active reservations what they are to hold no more.

    Args:
        context: The context.
        lease: The lease as it was read.
        changes: Of each reservation what it holds, and what it is to hold.

    Returns:
        What has to be cleaned now.

    Raises:
        CannotChange: The lessee has begun to use something of it.
        CloudDisagrees, CloudUnavailable: It cannot be taken away now.
    """
    reservations = {each.id: each for each in lease.reservations}
    given_up: list[Allocation] = []
    for reservation_id, before, after in changes:
        reservation = reservations[reservation_id]
        gone = _difference(before, after)
        if gone and is_active(context, lease, reservation):
            _give_up(context, lease, reservation, before, after)
            given_up += _to_be_cleaned(context, lease, reservation_id, gone)
    return given_up


def _give_up(
    context: Context, lease: Lease, reservation: Reservation, before: Holdings, after: Holdings
) -> None:
    now = context.clock.now()
    with context.store.begin() as transaction:
        names = transaction.hosts.get_names(before.keys())
        # Whatever becomes of this request, somebody looks whether the lease has what it holds.
        transaction.work.schedule([lease.id], now + _LONGEST_REQUEST)
        transaction.commit()
    window = Interval(lease.start, max(lease.end, lease.start + timedelta.resolution))
    held = [
        Allocation(resource_id=key, reservation_id=reservation.id, window=window, share=share)
        for key, share in before.items()
    ]
    plugin = context.plugin_for(reservation.resource_type)
    with telling_what_the_cloud_says():
        plugin.give_up(context.cloud, assign(context, lease, reservation, held, names), after)


def _difference(before: Holdings, after: Holdings) -> Mapping[ResourceId, Share]:
    """Return the shares that are given up."""
    gone = {}
    for key, share in before.items():
        kept = after.get(key)
        slots = share.slots - (kept.slots if kept else 0) if share else 0
        if share is not None and slots > 0:
            gone[key] = Share(slots=slots, demand=share.demand)
    return gone


def _to_be_cleaned(
    context: Context, lease: Lease, reservation_id: ReservationId, gone: Mapping[ResourceId, Share]
) -> Sequence[Allocation]:
    now = context.clock.now()
    if not context.settings.leases.cleaning_time or lease.start >= now:
        return []
    return [
        Allocation(
            resource_id=key,
            reservation_id=reservation_id,
            window=Interval(lease.start, now),
            share=share,
            released_at=now,
        )
        for key, share in gone.items()
    ]
