"""What is written beside every change of a lease: the journal and the outbox."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from blazar.booking.context import Context
from blazar.booking.views import lease_view
from blazar.domain.lease import Lease
from blazar.domain.shown import shown_lease
from blazar.ports.manager import Caller
from blazar.ports.store import JournalEntry, Message, Transaction


def record_request(
    context: Context, transaction: Transaction, lease: Lease, event: str, caller: Caller, reason: str = ""
) -> None:
    """Write that *caller* brought *event* (``create``, ``update``, ``rename``, ``delete``) about."""
    transaction.journal.append(
        [
            JournalEntry(
                at=context.clock.now(),
                lease_id=lease.id,
                event=event,
                reason=reason,
                actor=caller.user_id or "",
                request_id=caller.request_id or None,
            )
        ]
    )


def announce(context: Context, transaction: Transaction, lease: Lease, event_type: str, at: datetime) -> None:
    """Put a notification of a lease into the outbox (behaviour 2.7).

    Unlike the reference's, its payload holds no trust id, and no token travels with it.

    Args:
        context: The context.
        transaction: With which the notification is stored, to leave once that is committed.
        lease: As it is to be shown.
        event_type: One of :mod:`blazar.booking.event_types`.
        at: When.
    """
    view = dict(shown_lease(lease_view(lease, context.plugins)))
    payload: Mapping[str, object] = {
        "lease_id": view.pop("id"),
        **{key: value for key, value in view.items() if key != "trust_id"},
    }
    transaction.outbox.append([Message(event_type=event_type, lease_id=lease.id, payload=payload)], at)
