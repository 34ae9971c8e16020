"""Changes to resources that a lessee may be using at this moment.

Resources that an active reservation loses are taken away in the cloud before the change is stored. In the
opposite order, they could be reserved for others while a server can still start on them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from blazar.booking.assignments import assign, release
from blazar.booking.cloud_errors import cloud_errors_as_conflicts
from blazar.booking.context import Context
from blazar.booking.specs import intact_spec
from blazar.domain.capacity import Demand, Share
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
from blazar.domain.lifecycle import has_started
from blazar.plugins.capabilities import ReleasesWhileActive
from blazar.plugins.contract import Assignment
from blazar.ports.work import Claim

_LONGEST_REQUEST = timedelta(seconds=60)
"""Time after which a reconcile pass restores what a request took away; the request itself then fails."""
_OWNER = "request"
"""Owner of the claims. Requests void each other's claims, so only the last request can be stored."""

_logger = logging.getLogger(__name__)


def is_active(reservation: Reservation) -> bool:
    """Return whether the lessee may be using the resources of a reservation, judged by its status as read.

    Resources of a lease that is due but not yet marked in progress cannot be in use.
    """
    return reservation.status is ReservationStatus.ACTIVE


def count_in_use(
    context: Context, before: Reservation, assignment: Assignment[Any]
) -> Mapping[ResourceId, int]:
    """Return the number of instances of a reservation on each resource, where a change may affect them.

    Args:
        context: The context.
        before: The reservation as it was read.
        assignment: The reservation with its new spec.
    """
    if not is_active(before):
        return {}
    plugin = context.plugin_for(before.resource_type)
    if not isinstance(plugin, ReleasesWhileActive):
        return {}
    with cloud_errors_as_conflicts():
        return plugin.count_in_use(context.cloud, assignment, intact_spec(plugin, before))


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The resources that were taken away."""

    to_be_cleaned: Sequence[Allocation] = ()
    claim: Claim | None = None
    """Keeps reconcile passes from restoring them meanwhile; None if nothing was taken away."""


@contextmanager
def releasing(
    context: Context, lease: Lease, changes: Sequence[tuple[ReservationId, Holdings, Holdings]]
) -> Iterator[Released]:
    """Take away what active reservations lose; restore it if the change is not stored.

    Args:
        context: The context.
        lease: The lease as it was read.
        changes: For each reservation, its present and its new holdings.

    Yields:
        Allocations to store with the change; inside the block, the caller must also finish the claim.

    Raises:
        ConcurrentUpdate: The lease is being processed.
        CannotChange: The lessee uses some of them by now.
        CloudDisagrees, CloudUnavailable: They cannot be taken away now.
    """
    reservations = {each.id: each for each in lease.reservations}
    shrinking = [
        (reservations[key], before, after)
        for key, before, after in changes
        if is_active(reservations[key]) and _difference(before, after)
    ]
    if not shrinking:
        yield Released()
        return
    claim = _take_claim(context, lease)
    try:
        for reservation, before, after in shrinking:
            _release(context, lease, reservation, before, after)
        to_be_cleaned = [
            allocation
            for reservation, before, after in shrinking
            for allocation in _to_be_cleaned(context, lease, reservation.id, _difference(before, after))
        ]
        yield Released(to_be_cleaned=to_be_cleaned, claim=claim)
    except Exception:
        _hand_back(context, claim)
        raise


def _take_claim(context: Context, lease: Lease) -> Claim:
    """Claim a lease exclusively, because a reconcile pass would restore what is taken away."""
    now = context.clock.now()
    with context.store.begin() as transaction:
        transaction.leases.check(lease)
        claim = transaction.work.take(lease.id, _OWNER, now, now + _LONGEST_REQUEST)
        transaction.commit()
    if claim is None:
        raise ConcurrentUpdate(f"Lease {lease.id} is being processed")
    return claim


def _hand_back(context: Context, claim: Claim) -> None:
    """Schedule restoration of resources that were taken away."""
    now = context.clock.now()
    try:
        with context.store.begin() as transaction:
            try:
                transaction.work.finish(claim, now, claim.attempts)
            except ConcurrentUpdate:
                # The claim expired, and its next holder may have reconciled the lease too early.
                transaction.work.schedule([claim.key], now)
            transaction.commit()
    except BlazarError as error:
        _logger.warning("claim left to expire: key=%s reason=%s", claim.key, error)
    context.waker.wake()


def _release(
    context: Context, lease: Lease, reservation: Reservation, before: Holdings, after: Holdings
) -> None:
    with context.store.read() as transaction:
        states = transaction.resources.get_states(before.keys())
    window = Interval.at_least_an_instant(lease.start, lease.end)
    held = [
        Allocation(resource_id=key, reservation_id=reservation.id, window=window, share=share)
        for key, share in before.items()
    ]
    plugin = context.plugin_for(reservation.resource_type)
    with cloud_errors_as_conflicts():
        release(plugin, context.cloud, assign(context, lease, reservation, held, states), after)


def _difference(before: Holdings, after: Holdings) -> Holdings:
    """Return what is released: whole resources, and shares of shared resources."""
    released: dict[ResourceId, Share | None] = {}
    for key, share in before.items():
        kept = after.get(key)
        if share is None:
            if key not in after:
                released[key] = None
        elif (lost := _lost_part(share, kept)) is not None:
            released[key] = lost
    return released


def _lost_part(before: Share, after: Share | None) -> Share | None:
    """Return the part of a share that is no longer held; None if all of it still is."""
    if after is None:
        return before
    if after.demand == before.demand:
        slots = before.slots - after.slots
        return Share(slots=slots, demand=before.demand) if slots > 0 else None
    kept = dict(_amounts(after))
    lost = {name: amount - kept.get(name, 0) for name, amount in _amounts(before)}
    positive = {name: amount for name, amount in lost.items() if amount > 0}
    return Share(slots=1, demand=Demand.of(positive)) if positive else None


def _amounts(share: Share) -> Iterator[tuple[str, int]]:
    return ((name, amount * share.slots) for name, amount in share.demand.amounts)


def _to_be_cleaned(
    context: Context, lease: Lease, reservation_id: ReservationId, released: Holdings
) -> Sequence[Allocation]:
    now = context.clock.now()
    if not context.settings.leases.cleaning_time or not (has_started(lease) or lease.start < now):
        return []
    window = Interval.at_least_an_instant(lease.start, now)
    return [
        Allocation(
            resource_id=key,
            reservation_id=reservation_id,
            window=window,
            share=share,
            released_at=now,
        )
        for key, share in released.items()
    ]
