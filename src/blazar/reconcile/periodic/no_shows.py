"""Ending of leases that are not used, if the operator has set a grace period."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.booking.no_shows import WARNED, end_now, warn
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, ReservationId
from blazar.domain.usage.no_shows import NoShowRule, Verdict, judge, time_left
from blazar.ports.store import Transaction

_LEASES_AT_ONCE: Final = 1_000

_logger = logging.getLogger(__name__)


def end_no_shows(
    context: Context, actor: str, observed: Collection[str], check_claim: Callable[[], None]
) -> None:
    """Warn the owners of leases that are not used, and end those whose grace period is over.

    Called directly after an observation, so that a server that has just been created counts.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        observed: The types that have just been observed. A lease waits if another type of it has a grace
            period.
        check_claim: Called before each change; an exception from it ends the task.
    """
    settings = context.settings.usage
    rule = NoShowRule(
        grace=settings.no_show_grace,
        warning=settings.no_show_warning,
        exempt_projects=settings.no_show_exempt,
    )
    if not rule.grace:
        return
    with context.store.read() as transaction:
        periods = {
            each: period
            for each in rule.grace.keys() & observed
            if (period := transaction.usage.last_observed(each)) is not None
        }
        found = list(_judged(transaction, rule, periods, context.clock.now()))
    for lease, verdict in found:
        check_claim()
        try:
            if verdict is Verdict.WARN:
                warn(context, lease, context.clock.now() + rule.warning, actor)
            else:
                end_now(context, lease, actor)
        except ConcurrentUpdate:
            continue  # the next observation decides again
        _logger.info("lease is not used: lease_id=%s action=%s", lease.id, verdict.value)


def _judged(
    transaction: Transaction, rule: NoShowRule, periods: Mapping[str, Interval], now: datetime
) -> Iterator[tuple[Lease, Verdict]]:
    """Yield the leases for which something is to be done."""
    lease_ids = transaction.usage.list_active()
    for first in range(0, len(lease_ids), _LEASES_AT_ONCE):
        leases = [
            each
            for each in transaction.leases.get_many(lease_ids[first : first + _LEASES_AT_ONCE])
            if any(one.resource_type in periods for one in each.reservations)
        ]
        ids = [each.id for lease in leases for each in lease.reservations]
        arrived = transaction.usage.arrived(ids)
        since = transaction.usage.active_since(ids)
        for lease in leases:
            left = time_left(rule, lease, _unused(lease, periods, since), arrived)
            if left is None or left > rule.warning:
                continue
            warnings = [each.at for each in transaction.journal.list(lease.id) if each.event == WARNED]
            verdict = judge(rule, lease, left, min(warnings, default=None), now)
            if verdict is not Verdict.NONE:
                yield lease, verdict


def _unused(
    lease: Lease, periods: Mapping[str, Interval], since: Mapping[ReservationId, datetime]
) -> Mapping[ReservationId, timedelta]:
    """Return the time for which each reservation has been observed since it became active."""
    return {
        each.id: period.end - max(period.start, since[each.id])
        for each in lease.reservations
        if each.id in since and (period := periods.get(each.resource_type)) is not None
    }
