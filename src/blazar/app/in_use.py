"""Changes of what a lessee may be using at this moment.

What an active reservation gives up is taken away in the cloud before the change is stored. The other way
round others would be promised it while a server can still come and use it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from blazar.booking.assignments import assign
from blazar.booking.context import Context
from blazar.app.request_work import telling_what_the_cloud_says
from blazar.domain.capacity import Share
from blazar.domain.errors import BlazarError, ConcurrentUpdate
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
from blazar.ports.work import Claim

_LONGEST_REQUEST = timedelta(seconds=60)
"""After that a pass gives back what was taken away, whatever became of the request, which fails then."""
_OWNER = "request"
"""Of claims. Requests void each other's: of those, only the last can be stored."""

_logger = logging.getLogger(__name__)


def is_active(reservation: Reservation) -> bool:
    """Return whether the lessee may be using what a reservation, as it was read, holds.

    Of a lease that is due, but that nobody has begun to start, nothing can be used yet.
    """
    return reservation.status is ReservationStatus.ACTIVE


def count_in_use(
    context: Context, before: Reservation, assignment: Assignment[Any]
) -> Mapping[ResourceId, int]:
    """Return how many slots of each resource a reservation's servers have, where a change may touch them.

    Args:
        context: The context.
        before: The reservation as it was read.
        assignment: The reservation with its spec as it is to be.
    """
    if not is_active(before):
        return {}
    plugin = context.plugin_for(before.resource_type)
    with telling_what_the_cloud_says():
        return plugin.count_in_use(context.cloud, assignment, plugin.decode(before.spec))


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """What was taken away."""

    to_be_cleaned: Sequence[Allocation] = ()
    claim: Claim | None = None
    """Keeps passes from giving it back meanwhile; None if nothing was taken away."""


@contextmanager
def giving_up(
    context: Context, lease: Lease, changes: Sequence[tuple[ReservationId, Holdings, Holdings]]
) -> Iterator[GivenUp]:
    """Take from active reservations what they are to hold no more, and give it back if that is not stored.

    Args:
        context: The context.
        lease: The lease as it was read.
        changes: Of each reservation what it holds, and what it is to hold.

    Yields:
        What to store with the change, inside; the claim is to be given back with it.

    Raises:
        ConcurrentUpdate: Somebody is at work on the lease.
        CannotChange: The lessee has begun to use something of it.
        CloudDisagrees, CloudUnavailable: It cannot be taken away now.
    """
    reservations = {each.id: each for each in lease.reservations}
    shrinking = [
        (reservations[key], before, after)
        for key, before, after in changes
        if is_active(reservations[key]) and _difference(before, after)
    ]
    if not shrinking:
        yield GivenUp()
        return
    claim = _take_claim(context, lease)
    try:
        for reservation, before, after in shrinking:
            _give_up(context, lease, reservation, before, after)
        to_be_cleaned = [
            allocation
            for reservation, before, after in shrinking
            for allocation in _to_be_cleaned(context, lease, reservation.id, _difference(before, after))
        ]
        yield GivenUp(to_be_cleaned=to_be_cleaned, claim=claim)
    except Exception:
        _hand_back(context, claim)
        raise


def _take_claim(context: Context, lease: Lease) -> Claim:
    """Return the right to be the only one who works on a lease: a pass would give back what goes."""
    now = context.clock.now()
    with context.store.begin() as transaction:
        transaction.leases.check(lease)
        claim = transaction.work.take(lease.id, _OWNER, now, now + _LONGEST_REQUEST)
        transaction.commit()
    if claim is None:
        raise ConcurrentUpdate(f"Lease {lease.id} is just being worked on")
    return claim


def _hand_back(context: Context, claim: Claim) -> None:
    """Have whatever the lease holds, and does not have, given back at once."""
    now = context.clock.now()
    try:
        with context.store.begin() as transaction:
            try:
                transaction.work.finish(claim, now, claim.attempts)
            except ConcurrentUpdate:
                # It ran out, and whoever had it since may have looked too early.
                transaction.work.schedule([claim.key], now)
            transaction.commit()
    except BlazarError as error:
        _logger.warning("the claim on %s is left to run out: %s", claim.key, error)
    context.waker.wake()


def _give_up(
    context: Context, lease: Lease, reservation: Reservation, before: Holdings, after: Holdings
) -> None:
    with context.store.read() as transaction:
        states = transaction.resources.get_states(before.keys())
    window = Interval(lease.start, max(lease.end, lease.start + timedelta.resolution))
    held = [
        Allocation(resource_id=key, reservation_id=reservation.id, window=window, share=share)
        for key, share in before.items()
    ]
    plugin = context.plugin_for(reservation.resource_type)
    with telling_what_the_cloud_says():
        plugin.give_up(context.cloud, assign(context, lease, reservation, held, states), after)


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
