"""Records written with every change of a lease: the journal and notifications, in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.booking.notices import before_end_reasons, reasons_for_lessee, store_notice
from blazar.booking.past_uses import record_uses
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.views import JsonObject, lease_view
from blazar.domain.feeds import DeletedLease
from blazar.domain.lease import (
    BEFORE_END_PROBLEM,
    EventStatus,
    EventType,
    Lease,
    LeaseId,
    LeaseStatus,
    ReservationId,
)
from blazar.domain.lifecycle import has_started
from blazar.ports.journal import JournalEntry
from blazar.ports.manager import Caller
from blazar.ports.outbox import Message
from blazar.ports.store import Transaction

_NOTIFIED = {
    EventType.START: event_types.STARTED,
    EventType.END: event_types.ENDED,
}
_FINISHED = (EventStatus.DONE, EventStatus.ERROR)
_OVER = (LeaseStatus.TERMINATING, LeaseStatus.TERMINATED, LeaseStatus.DELETING)


def record_request(
    context: Context, transaction: Transaction, lease: Lease, event: str, caller: Caller, reason: str = ""
) -> None:
    """Record that *caller* requested *event* (``create``, ``update``, ``rename``, ``delete``).

    If the same request has been executed for this lease, the transaction raises AlreadyExecuted.
    """
    entry = request_entry(context, lease.id, event, caller, reason)
    transaction.journal.append([replace(entry, executed_request_id=entry.request_id)])


def request_entry(
    context: Context,
    lease_id: LeaseId,
    event: str,
    caller: Caller,
    reason: str = "",
    reservation_id: ReservationId | None = None,
) -> JournalEntry:
    """Return the entry for what a caller requested or reported about a lease, or one of its reservations."""
    return JournalEntry(
        at=context.clock.now(),
        lease_id=lease_id,
        reservation_id=reservation_id,
        event=event,
        reason=reason,
        actor=caller.user_id or "",
        request_id=caller.request_id or None,
    )


def announce(
    context: Context,
    transaction: Transaction,
    view: JsonObject,
    event_type: str,
    more: JsonObject | None = None,
    details: JsonObject | None = None,
) -> None:
    """Put a notification of a lease into the outbox, and store the notice to those who subscribed to it.

    The payload's trust id is null, and no token is sent with it.

    Args:
        context: The context.
        transaction: The transaction that stores both; they are sent after the commit.
        view: The lease as the notification shows it; see :func:`~blazar.booking.views.lease_view`.
        event_type: One of :mod:`blazar.booking.event_types`.
        more: Additional keys of the payload.
        details: Additional keys of the notice, in words for lessees; by default those of the payload.
    """
    payload: Mapping[str, object] = {
        "lease_id": view["id"],
        **{key: value for key, value in view.items() if key != "id"},
        **(more or {}),
    }
    message = Message(event_type=event_type, lease_id=LeaseId(str(view["id"])), payload=payload)
    transaction.outbox.append([message], context.clock.now())
    store_notice(context, transaction, view, event_type, (more if details is None else details) or {})


def record_changes(
    context: Context, transaction: Transaction, before: Lease, after: Lease, actor: str, now: datetime
) -> None:
    """Record the changes of a reconcile pass in the journal and in notifications."""
    transaction.journal.append(_entries(before, after, now, actor))
    events = (*_finished_events(before, after), *_turns(before, after))
    reasons = _before_end_failures(before, after)
    if not events and not reasons:
        return
    view = lease_view(after, context.plugins)
    for event_type in events:
        # A lease whose start finishes when it is over has not started.
        is_failure = event_type == event_types.FAILED or (
            event_type == event_types.STARTED and after.status in _OVER
        )
        details = reasons_for_lessee(context, after) if is_failure else None
        announce(context, transaction, view, event_type, details=details)
    if reasons:
        details = before_end_reasons(context, reasons)
        announce(context, transaction, view, event_types.BEFORE_END_FAILED, {"reasons": reasons}, details)


def erase_lease(context: Context, transaction: Transaction, stored: Lease, shown: Lease) -> None:
    """Delete a lease without items in the cloud, with its allocations, and announce the deletion.

    Args:
        context: The context.
        transaction: The transaction; the caller commits it.
        stored: The lease at the revision that was read.
        shown: The lease as the notification shows it.
    """
    now = context.clock.now()
    marked = transaction.leases.replace(stored, shown, now)
    reservation_ids = [each.id for each in stored.reservations]
    held = transaction.allocations.of_reservations(reservation_ids)
    if has_started(stored) or any(each.window.start <= now for each in held):
        for each in reservation_ids:
            if has_started(stored):
                record_uses(context, transaction, each, None, now)
            transaction.allocations.remove(each)
        transaction.allocations.touch({each.resource_id for each in held})
    else:
        # Before the start, nothing was released that is still being cleaned.
        transaction.allocations.remove_future(reservation_ids)
        transaction.allocations.touch_bookings({each.pair for each in held})
    transaction.leases.delete(marked)
    if shown.end > now:
        transaction.feeds.insert_deleted(_deleted(marked, now))
    reschedule_missing(context, transaction)
    announce(context, transaction, lease_view(shown, context.plugins), event_types.DELETED)


def _deleted(lease: Lease, now: datetime) -> DeletedLease:
    return DeletedLease(
        lease_id=lease.id,
        name=lease.name,
        user_id=lease.user_id,
        project_id=lease.project_id,
        start=lease.start,
        end=lease.end,
        revision=lease.revision,
        created_at=lease.created_at,
        deleted_at=now,
    )


def _entries(before: Lease, after: Lease, at: datetime, actor: str) -> list[JournalEntry]:
    """Return an entry for each changed status or flag, and for each new reason to wait."""
    entries = []
    if before.status is not after.status:
        entries.append(
            JournalEntry(
                at=at,
                lease_id=after.id,
                event="lease.status",
                reason=f"{before.status} -> {after.status}",
                actor=actor,
            )
        )
    for old, new in zip(before.reservations, after.reservations, strict=True):
        if old.status is not new.status:
            reason = f"{old.status} -> {new.status}" + (f": {new.problem}" if new.problem else "")
        elif new.problem and old.problem != new.problem:
            reason = new.problem
        else:
            continue
        entries.append(
            JournalEntry(
                at=at,
                lease_id=after.id,
                reservation_id=new.id,
                event="reservation.status" if old.status is not new.status else "reservation.waits",
                reason=reason,
                actor=actor,
            )
        )
    entries += _flag_entries(before, after, at, actor)
    for old_event, new_event in zip(before.events, after.events, strict=True):
        if old_event.status is not new_event.status:
            entries.append(
                JournalEntry(
                    at=at,
                    lease_id=after.id,
                    event="event.status",
                    reason=f"{new_event.event_type}: {old_event.status} -> {new_event.status}",
                    actor=actor,
                )
            )
    return entries


def _flag_entries(before: Lease, after: Lease, at: datetime, actor: str) -> list[JournalEntry]:
    return [
        JournalEntry(
            at=at,
            lease_id=after.id,
            reservation_id=new.id,
            event="reservation.flags",
            reason=f"{name}: {str(is_set).lower()}",
            actor=actor,
        )
        for old, new in zip(before.reservations, after.reservations, strict=True)
        for name, was_set, is_set in (
            ("missing_resources", old.missing_resources, new.missing_resources),
            ("resources_changed", old.resources_changed, new.resources_changed),
        )
        if was_set is not is_set
    ]


def _finished_events(before: Lease, after: Lease) -> Sequence[str]:
    # The notice is sent when it is due, regardless of the result of its action.
    undone = EventStatus.UNDONE
    is_noticed = (
        before.get_event_status(EventType.BEFORE_END) is undone
        and after.get_event_status(EventType.BEFORE_END) is not undone
    )
    return [event_types.BEFORE_END] * is_noticed + [
        name
        for event_type, name in _NOTIFIED.items()
        if after.get_event_status(event_type) in _FINISHED
        and before.get_event_status(event_type) not in _FINISHED
    ]


def _turns(before: Lease, after: Lease) -> Sequence[str]:
    """Return notifications that a lease degraded, failed or healed; none for a lease that is over."""
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


def _before_end_failures(before: Lease, after: Lease) -> Mapping[str, str]:
    """Return the reasons by reservation if the action failed between two states of a lease."""
    is_new = (
        after.get_event_status(EventType.BEFORE_END) is EventStatus.ERROR
        and before.get_event_status(EventType.BEFORE_END) is not EventStatus.ERROR
    )
    if not is_new:
        return {}
    found = {}
    for old, new in zip(before.reservations, after.reservations, strict=True):
        problem = next(
            (each for each in (new.problem, old.problem) if each and each.startswith(BEFORE_END_PROBLEM)),
            None,
        )
        if problem is not None:
            found[str(new.id)] = problem.removeprefix(BEFORE_END_PROBLEM)
    return found or {"": "not completed before the end"}
