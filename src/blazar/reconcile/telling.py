"""Telling what has changed of a lease: in the journal, and in notifications."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.app.records import announce
from blazar.domain.lease import EventStatus, EventType, Lease, LeaseStatus
from blazar.ports.store import Transaction
from blazar.reconcile.journaling import transitions

_NOTIFIED = {
    EventType.START: event_types.STARTED,
    EventType.BEFORE_END: event_types.BEFORE_END,
    EventType.END: event_types.ENDED,
}
_FINISHED = (EventStatus.DONE, EventStatus.ERROR)
_OVER = (LeaseStatus.TERMINATING, LeaseStatus.TERMINATED, LeaseStatus.DELETING)


def tell(
    context: Context, transaction: Transaction, before: Lease, after: Lease, actor: str, now: datetime
) -> None:
    """Write into the journal and the outbox what has changed."""
    transaction.journal.append(transitions(before, after, now, actor))
    for event_type in (*_finished_events(before, after), *_turns(before, after)):
        announce(context, transaction, after, event_type, now)


def _finished_events(before: Lease, after: Lease) -> Sequence[str]:
    return [
        name
        for event_type, name in _NOTIFIED.items()
        if after.get_event_status(event_type) in _FINISHED
        and before.get_event_status(event_type) not in _FINISHED
    ]


def _turns(before: Lease, after: Lease) -> Sequence[str]:
    """Return whether the lease took a turn for the worse or the better; one that is over does neither."""
    if after.status in _OVER:
        return []
    failed = [event_types.FAILED] if _fails(before, after) else []
    worse = [
        new
        for old, new in zip(before.reservations, after.reservations, strict=True)
        if (new.missing_resources and not old.missing_resources) or new.lost_resources - old.lost_resources
    ]
    if worse:
        return [*failed, event_types.DEGRADED]
    is_healed = before.is_degraded and not after.is_degraded
    return [*failed, event_types.HEALED] if is_healed else failed


def _fails(before: Lease, after: Lease) -> bool:
    return after.status is LeaseStatus.ERROR and before.status is not LeaseStatus.ERROR
