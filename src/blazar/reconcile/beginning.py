"""Writing that the work on a lease begins, before anything is done outside."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from typing import Final

from blazar.booking.context import Context
from blazar.booking.enforcement import tell_end
from blazar.domain.errors import BlazarError
from blazar.domain.lease import EventStatus, EventType, Lease
from blazar.domain.lifecycle import Phase, begun, phase_of, reservation_phase
from blazar.ports.store import Transaction
from blazar.reconcile.measuring import measure
from blazar.reconcile.telling import tell

AT_ONCE: Final = 50
"""How many leases are locked, and written, in one transaction."""

_logger = logging.getLogger(__name__)


def marked(lease: Lease, phase: Phase) -> Lease:
    """Return the lease as it is while the work of a phase is being done."""
    result = begun(lease, phase)
    if phase not in (Phase.PREPARING, Phase.RUNNING):
        return result
    # Something may be outside as soon as the first step is tried, whatever comes of it.
    reservations = tuple(
        replace(each, is_deployed=True)
        if reservation_phase(each, phase) is phase and not each.is_deployed
        else each
        for each in result.reservations
    )
    return replace(result, reservations=reservations)


def write_marked(
    context: Context, transaction: Transaction, before: Lease, after: Lease, actor: str, now: datetime
) -> Lease:
    """Store and tell what :func:`marked` has made of a lease; return it as it is stored.

    Raises:
        ConcurrentUpdate: The lease was changed meanwhile.
    """
    after = transaction.leases.replace(before, after, now)
    if _ends(before, after):
        tell_end(context, transaction, after)
    tell(context, transaction, before, after, actor, now)
    return after


def begin_waiting(context: Context, actor: str) -> int:
    """Mark leases whose start or end is due and that nobody is at, up to :data:`AT_ONCE`; return how many.

    Many may be due at the same instant, as at the full hour. Each is STARTING, or TERMINATING, then, though
    its turn comes later; whoever works on it finds that written. Nothing depends on it: if it cannot be
    done now, none of them is marked, and whoever works on one marks it first.
    """
    now = context.clock.now()
    try:
        written = _write_all_marked(context, actor, now)
    except BlazarError as error:
        _logger.debug("leases that wait are not marked: %s", error)
        return 0
    except Exception:
        _logger.exception("leases that wait could not be marked")
        return 0
    for before, after in written:
        measure(context.meter, before, after, now)
    return len(written)


def _write_all_marked(context: Context, actor: str, now: datetime) -> list[tuple[Lease, Lease]]:
    """Return the leases that were marked, as they were and as they are."""
    written: list[tuple[Lease, Lease]] = []
    with context.store.begin() as transaction:
        keys = transaction.work.lock_beginning(now, AT_ONCE)
        for lease in transaction.leases.get_many(keys) if keys else ():
            phase = phase_of(lease, now, context.settings.leases.prepare_lead)
            after = marked(lease, phase)
            if after != lease:
                with context.trail.working_on(lease_id=lease.id):
                    written.append((lease, write_marked(context, transaction, lease, after, actor, now)))
        if written:
            transaction.commit()
    return written


def _ends(before: Lease, after: Lease) -> bool:
    """Return whether the end has just begun; what was deleted before has been told already."""
    undone, begun_now = EventStatus.UNDONE, EventStatus.IN_PROGRESS
    return (
        not before.is_deleting
        and before.get_event_status(EventType.END) is undone
        and after.get_event_status(EventType.END) is begun_now
    )
