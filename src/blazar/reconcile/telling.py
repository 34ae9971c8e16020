"""Telling what has changed of a lease: in the journal, and in notifications."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from blazar.app.context import Context
from blazar.app.records import announce
from blazar.domain.lease import EventStatus, EventType, Lease, LeaseStatus
from blazar.ports.store import Transaction
from blazar.reconcile.journaling import transitions

DEGRADED = "lease.degraded"
"""Resources of the lease have failed; its flags say whether others have taken their place."""
HEALED = "lease.healed"
"""Nothing is wrong with the lease's resources any more."""

_NOTIFIED = {
    EventType.START: "lease.event.start_lease",
    EventType.BEFORE_END: "lease.event.before_end_lease",
    EventType.END: "lease.event.end_lease",
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
    worse = [
        new
        for old, new in zip(before.reservations, after.reservations, strict=True)
        if (new.missing_resources and not old.missing_resources) or new.lost_resources - old.lost_resources
    ]
    if worse:
        return [DEGRADED]
    return [HEALED] if before.is_degraded and not after.is_degraded else []
