"""Leases without scheduled work that still need it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from blazar.booking.context import Context
from blazar.domain.lease import EventStatus, EventType, Lease, LeaseId
from blazar.ports.metrics import UNPLANNED_LEASES

_logger = logging.getLogger(__name__)
_OVER = (EventStatus.DONE, EventStatus.ERROR)


def plan_leases(context: Context, actor: str, check_claim: Callable[[], None]) -> tuple[LeaseId, ...]:
    """Schedule work for leases that have none, and return their ids.

    Every change of a lease schedules work, so no lease lacks it unless something outside the service changed
    the database, such as a repair or a restored backup.

    Args:
        context: The context.
        actor: The manager, for the log.
        check_claim: Called before the database is changed; an exception from it ends the check.
    """
    with context.store.read() as transaction:
        found = transaction.leases.get_many(transaction.work.list_unplanned())
    unplanned = tuple(each.id for each in found if _needs_work(each))
    if not unplanned:
        return ()
    check_claim()
    with context.store.begin() as transaction:
        transaction.work.schedule(unplanned, context.clock.now())
        transaction.commit()
    context.waker.wake()
    for each in unplanned:
        context.meter.count(UNPLANNED_LEASES)
        _logger.warning("lease had no scheduled work: lease=%s planned_by=%s", each, actor)
    return unplanned


def _needs_work(lease: Lease) -> bool:
    """Return whether a lease must be reconciled at some time."""
    return (
        lease.is_deleting
        or lease.get_event_status(EventType.END) not in _OVER
        or any(each.is_deployed for each in lease.reservations)
    )
