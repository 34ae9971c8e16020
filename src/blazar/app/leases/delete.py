"""Deleting a lease."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from blazar.app.leases.read import read_lease
from blazar.app.leases.waiting import wait_for_lease
from blazar.booking.context import Context
from blazar.booking.enforcement import tell_end
from blazar.booking.holding import end_bookings
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.transitions import erase_lease, record_request
from blazar.domain.lease import EventStatus, EventType, Lease, Owner
from blazar.domain.lifecycle import has_ended, has_started, with_status
from blazar.ports.journal import DELETE
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction


def delete_lease(context: Context, caller: Caller, lease_id: str, expected: Owner | None = None) -> None:
    """Delete a lease in any status, and wait for a bounded time until it is gone.

    If it was being deleted before, or if too many requests wait already, do not wait.

    Raises:
        LeaseNotFound: No such lease exists.
        OwnerMismatch: The lease does not belong to the *expected* owner; never raised if that is None.
        Unavailable: The clock of this manager is wrong.
    """
    first = read_lease(context, lease_id, expected)
    context.clock_guard.check()
    is_torn_down = retrying(
        context,
        lambda attempt: _delete_once(
            context, caller, read_lease(context, lease_id, expected) if attempt else first
        ),
    )
    if is_torn_down:
        context.waker.wake()
        deadline = context.clock.now() + context.settings.leases.delete_wait
        wait_for_lease(context, first, deadline, lambda lease: lease is None)


def _delete_once(context: Context, caller: Caller, lease: Lease) -> bool:
    """Record the deletion; return whether it begins a teardown, because the lease has items in the cloud."""
    if lease.is_deleting:
        return False
    now = context.clock.now()
    doomed = with_status(replace(lease, is_deleting=True))
    has_items = any(each.is_deployed for each in lease.reservations)
    with context.store.begin() as transaction:
        if lease.get_event_status(EventType.END) is EventStatus.UNDONE:
            tell_end(context, transaction, doomed)
        if has_items:
            transaction.leases.replace(lease, doomed, now)
            _end_allocations(context, transaction, lease, now)
            transaction.work.schedule([lease.id], now)
        else:
            erase_lease(context, transaction, lease, doomed)
            transaction.work.forget(lease.id)
        _delete_offers(context, transaction, lease)
        record_request(context, transaction, lease, DELETE, caller)
        transaction.commit()
    return has_items


def _delete_offers(context: Context, transaction: Transaction, lease: Lease) -> None:
    """Delete the offers for changes of a lease; what they held is free at once."""
    offers = transaction.offers.held_for(lease.id)
    if not offers:
        return
    held = frozenset().union(*offers.values())
    transaction.allocations.touch(held)
    transaction.offers.delete_for(lease.id)
    if held:
        reschedule_missing(context, transaction)


def _end_allocations(context: Context, transaction: Transaction, lease: Lease, now: datetime) -> None:
    """End the bookings of a lease that has begun as if it ended now."""
    if has_ended(lease) or not (has_started(lease) or lease.start < now):
        return
    end_bookings(context, transaction, lease, min(now, lease.end))
