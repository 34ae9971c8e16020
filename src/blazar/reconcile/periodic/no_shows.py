"""Ending of leases that are not used, if the operator has set a grace period."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from blazar.booking.context import Context
from blazar.booking.no_shows import WARNED, end_now, warn
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, ReservationId
from blazar.domain.portions import in_portions
from blazar.domain.usage.no_shows import NoShowRule, Verdict, judge, time_left
from blazar.plugins.capabilities import ObservesUse
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
        observed: The types that have just been observed. A lease waits if it has another type whose use is
            usually observed, but was not this time.
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
        missed = {
            each
            for each, plugin in context.plugins.items()
            if isinstance(plugin, ObservesUse) and each not in observed
        }
        found = list(_judged(transaction, rule, Observed(periods, missed), context.clock.now()))
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


@dataclass(frozen=True, slots=True)
class Observed:
    """The observations from which verdicts follow."""

    periods: Mapping[str, Interval]
    """The time up to now that was observed without a gap, by type with a grace period."""
    missed: Collection[str]
    """The types whose use could not be observed this time."""

    def concerns(self, lease: Lease) -> bool:
        """Return whether a verdict about a lease is possible now."""
        types = {each.resource_type for each in lease.reservations}
        return not types.isdisjoint(self.periods) and types.isdisjoint(self.missed)

    def unused(
        self, lease: Lease, since: Mapping[ReservationId, datetime]
    ) -> Mapping[ReservationId, Interval]:
        """Return, for each observed reservation, the observed time since it became usable."""
        return {
            each.id: Interval(begin, period.end)
            for each in lease.reservations
            if each.id in since
            and (period := self.periods.get(each.resource_type)) is not None
            and (begin := max(period.start, since[each.id])) < period.end
        }


def _judged(
    transaction: Transaction, rule: NoShowRule, observed: Observed, now: datetime
) -> Iterator[tuple[Lease, Verdict]]:
    """Yield the leases that require an action."""
    for some in in_portions(transaction.usage.list_active(), _LEASES_AT_ONCE):
        leases = [each for each in transaction.leases.get_many(some) if observed.concerns(each)]
        ids = [each.id for lease in leases for each in lease.reservations]
        arrived = transaction.usage.arrived(ids)
        since = transaction.usage.usable_since(ids)
        for lease in leases:
            unused = observed.unused(lease, since)
            left = time_left(rule, lease, {key: each.duration for key, each in unused.items()}, arrived)
            if left is None or left > rule.warning:
                continue
            begin = max(each.start for each in unused.values())
            verdict = judge(rule, lease, left, _warned_at(transaction, lease, begin), now)
            if verdict is not Verdict.NONE:
                yield lease, verdict


def _warned_at(transaction: Transaction, lease: Lease, begin: datetime) -> datetime | None:
    """Return the time of the first warning since an instant.

    Earlier ones are no longer valid: after a failure, or a gap in the observations, the grace period starts
    again.
    """
    warnings = (each.at for each in transaction.journal.list_event(WARNED, [lease.id]))
    return min((each for each in warnings if each >= begin), default=None)
