"""Warning the owners of leases that are not used, and ending such leases."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.booking.holding import end_bookings
from blazar.booking.notices import moved_end
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.transitions import announce
from blazar.booking.views import lease_view
from blazar.domain.dates import before_end_for_changed, format_date, minute_of
from blazar.domain.formats import API
from blazar.domain.lease import Event, EventType, Lease
from blazar.ports.journal import JournalEntry
from blazar.ports.store import Transaction

WARNED: Final = "no-show.warned"
"""The journal's event; its reason is the date from which the lease may be ended."""
ENDED: Final = "no-show.ended"


def warn(context: Context, lease: Lease, ends_at: datetime, actor: str) -> None:
    """Notify the owner of a lease that it will be ended.

    Raises:
        ConcurrentUpdate: The lease was changed meanwhile; nothing was sent.
    """
    with context.store.begin() as transaction:
        transaction.leases.check(lease)
        _record(context, transaction, lease, WARNED, actor, f"{format_date(ends_at)} UTC")
        view = lease_view(lease, context.plugins)
        more = {"ends_at": API.date(ends_at)}
        announce(context, transaction, view, event_types.NO_SHOW, more)
        transaction.commit()
    context.waker.wake()


def end_now(context: Context, lease: Lease, actor: str) -> None:
    """End an active lease, as a request with the end date ``now`` does.

    Raises:
        ConcurrentUpdate: The lease was changed meanwhile; nothing was stored.
    """
    now = context.clock.now()
    ended = _ending(lease, max(lease.start, minute_of(now)))
    with context.store.begin() as transaction:
        ended = transaction.leases.replace(lease, ended, now)
        end_bookings(context, transaction, lease, ended.end)
        offers = transaction.offers.held_for(lease.id)
        if offers:
            transaction.allocations.touch(frozenset().union(*offers.values()))
            transaction.offers.outdate(lease.id, context.shared_now())
        transaction.work.schedule([lease.id], now)
        reschedule_missing(context, transaction)
        _record(context, transaction, lease, ENDED, actor)
        shown = {**lease_view(ended, context.plugins), "status": "UPDATING"}
        announce(context, transaction, shown, event_types.UPDATED, details=moved_end(lease, ended))
        transaction.commit()
    context.waker.wake()


def _ending(lease: Lease, end: datetime) -> Lease:
    """Return the lease with this end; its events move with it."""
    before_end = before_end_for_changed(None, lease, lease.start, end)
    times = {EventType.START: lease.start, EventType.END: end, EventType.BEFORE_END: before_end}

    def moved(event: Event) -> Event:
        return replace(event, time=times[event.event_type] or event.time)

    return replace(lease, end=end, events=tuple(map(moved, lease.events)))


def _record(
    context: Context, transaction: Transaction, lease: Lease, event: str, actor: str, reason: str = ""
) -> None:
    entry = JournalEntry(at=context.clock.now(), lease_id=lease.id, event=event, reason=reason, actor=actor)
    transaction.journal.append([entry])
