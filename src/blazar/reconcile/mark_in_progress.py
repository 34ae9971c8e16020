"""Marking a lease as in progress before anything is changed in the cloud."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from typing import Final

from blazar.booking.context import Context
from blazar.booking.enforcement import tell_end
from blazar.booking.transitions import record_changes
from blazar.domain.errors import BlazarError
from blazar.domain.lease import EventStatus, EventType, Lease
from blazar.domain.lifecycle import (
    Phase,
    begun,
    is_notice_due,
    phase_of,
    reservation_phase,
    with_before_end,
)
from blazar.ports.store import Transaction
from blazar.reconcile.measuring import measure

AT_ONCE: Final = 50
"""Maximum number of leases locked and written in one transaction."""

_logger = logging.getLogger(__name__)


def in_progress(lease: Lease, phase: Phase, now: datetime) -> Lease:
    """Return the lease in the form it has while the work of a phase is in progress.

    The before-end notice is recorded at the same time, regardless of the result of the action.
    """
    result = begun(lease, phase)
    if is_notice_due(result, phase, now):
        result = with_before_end(result, EventStatus.IN_PROGRESS)
    if phase not in (Phase.PREPARING, Phase.RUNNING):
        return result
    # Items may exist in the cloud as soon as the first step is tried, whatever its result.
    reservations = tuple(
        replace(each, is_deployed=True)
        if reservation_phase(each, phase) is phase and not each.is_deployed
        else each
        for each in result.reservations
    )
    return replace(result, reservations=reservations)


def store_in_progress(
    context: Context, transaction: Transaction, before: Lease, after: Lease, actor: str, now: datetime
) -> Lease:
    """Store and announce the lease returned by :func:`in_progress`; return it as stored.

    Raises:
        ConcurrentUpdate: The lease was changed concurrently.
    """
    after = transaction.leases.replace(before, after, now)
    if _ends(before, after):
        tell_end(context, transaction, after)
    record_changes(context, transaction, before, after, actor, now)
    return after


def mark_due_leases(context: Context, actor: str) -> int:
    """Mark unclaimed due leases as in progress, up to :data:`AT_ONCE`; return their number.

    Many leases may be due at the same instant, for example at the full hour. They are all marked STARTING or
    TERMINATING at once, although they are processed later. Nothing depends on this: if it fails, no lease is
    marked, and the next claim holder marks the lease first.
    """
    now = context.clock.now()
    try:
        written = _store_all_in_progress(context, actor, now)
    except BlazarError as error:
        _logger.debug("waiting leases are not marked as in progress: reason=%s", error)
        return 0
    except Exception:
        _logger.exception("cannot mark waiting leases as in progress")
        return 0
    for before, after in written:
        measure(context.meter, before, after, now)
    return len(written)


def _store_all_in_progress(context: Context, actor: str, now: datetime) -> list[tuple[Lease, Lease]]:
    """Return the leases that were marked, each before and after."""
    written: list[tuple[Lease, Lease]] = []
    with context.store.begin() as transaction:
        keys = transaction.work.lock_due_unclaimed(now, AT_ONCE)
        for lease in transaction.leases.get_many(keys) if keys else ():
            phase = phase_of(lease, now, context.settings.leases.prepare_lead)
            after = in_progress(lease, phase, now)
            if after != lease:
                with context.log_context.working_on(lease_id=lease.id):
                    written.append((lease, store_in_progress(context, transaction, lease, after, actor, now)))
        if written:
            transaction.commit()
    return written


def _ends(before: Lease, after: Lease) -> bool:
    """Return whether the end has just begun; if the lease was deleted, filters were notified earlier."""
    undone, begun_now = EventStatus.UNDONE, EventStatus.IN_PROGRESS
    return (
        not before.is_deleting
        and before.get_event_status(EventType.END) is undone
        and after.get_event_status(EventType.END) is begun_now
    )
