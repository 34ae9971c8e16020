"""The before-end action of a lease: taken after the notice was given, and completed before teardown."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.domain.errors import CloudError, CloudRefused
from blazar.domain.lease import (
    BEFORE_END_PROBLEM,
    Event,
    EventStatus,
    EventType,
    Lease,
    Reservation,
    ReservationId,
    ReservationStatus,
)
from blazar.domain.lifecycle import Phase, is_before_end_due, with_before_end
from blazar.plugins.capabilities import ActsBeforeEnd
from blazar.plugins.contract import Done, Outcome, Refused, Result, Waiting
from blazar.reconcile.lease_snapshot import LeaseSnapshot
from blazar.reconcile.pause import Pause

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class BeforeEnd(Pause):
    """The result of the action in one reconcile pass; empty if the action was not due."""

    status: EventStatus | None = None
    """New status of the event; None for no change."""
    problems: dict[ReservationId, str] = field(default_factory=dict)
    results: dict[ReservationId, Sequence[Result]] = field(default_factory=dict)
    """What the action saved, also if it failed for other objects."""
    kept: set[ReservationId] = field(default_factory=set)
    """Reservations that must not be torn down yet."""

    def applied_to(self, lease: Lease) -> Lease:
        """Return the lease with the event's status and the problems."""
        if self.status is None:
            return lease
        reservations = tuple(
            replace(each, problem=self.problems[each.id])
            if each.id in self.problems and each.status is ReservationStatus.ACTIVE
            else each
            for each in lease.reservations
        )
        return with_before_end(replace(lease, reservations=reservations), self.status)


def act_before_end(
    context: Context, snapshot: LeaseSnapshot, lease: Lease, phase: Phase, check_claim: Callable[[], None]
) -> BeforeEnd:
    """Take the before-end action of a lease if it is due; its failure does not put a reservation in error.

    At the end of a lease, an unfinished action is retried, and its reservations are kept for a bounded time:
    while it waits and, if the operator configured it, after it failed. The deletion of a lease does not wait
    for the action.

    Args:
        context: The context.
        snapshot: The allocations of the reservations.
        lease: The lease.
        phase: Its phase.
        check_claim: Called before the action of each reservation; an exception from it ends the pass.
    """
    result, now = BeforeEnd(), context.clock.now()
    event = lease.find_event(EventType.BEFORE_END)
    left = _time_left(context, lease, phase, now)
    if event is None or not (is_before_end_due(lease, phase, now) or (left and _is_open(event))):
        return result
    result.status = EventStatus.DONE
    for reservation in lease.reservations:
        if reservation.status is not ReservationStatus.ACTIVE:
            continue
        check_claim()
        with context.log_context.working_on(reservation_id=reservation.id):
            outcome = _take_action(context, snapshot, lease, event, reservation)
            _note(context, result, lease, reservation, outcome, now if phase is Phase.OVER else None)
    if result.retry_after is not None and left:
        result.retry_after = min(result.retry_after, left)
    return result


def _is_open(event: Event) -> bool:
    return event.status is not EventStatus.DONE


def _time_left(context: Context, lease: Lease, phase: Phase, now: datetime) -> timedelta:
    """Return how long a lease that is over can still be kept; zero if it cannot."""
    if phase is not Phase.OVER or lease.is_deleting:
        return timedelta(0)
    settings = context.settings.leases
    longest = max(settings.before_end_wait, settings.before_end_grace)
    return max(timedelta(0), longest - (now - lease.end))


def _note(
    context: Context,
    result: BeforeEnd,
    lease: Lease,
    reservation: Reservation,
    outcome: Outcome,
    over_at: datetime | None,
) -> None:
    """Add the outcome of one reservation; *over_at* is the present time if its lease is over."""
    settings = context.settings.leases
    late = None if over_at is None else over_at - lease.end
    if isinstance(outcome, Waiting) and late is not None and late >= settings.before_end_wait:
        outcome = Refused(f"not completed in time: {outcome.reason}", outcome.results)
    if isinstance(outcome, Done | Refused) and outcome.results:
        result.results[reservation.id] = outcome.results
    match outcome:
        case Waiting(retry_after=retry_after, reason=reason):
            _logger.info("before-end action waits: lease=%s reason=%s", lease.id, reason)
            result.status = EventStatus.IN_PROGRESS
            result.retry_within(
                retry_after if late is None else min(retry_after, settings.before_end_wait - late)
            )
            is_kept = late is not None
        case Refused(reason=reason):
            _logger.warning("before-end action failed: lease=%s reason=%s", lease.id, reason)
            if result.status is EventStatus.DONE:
                result.status = EventStatus.ERROR
            # Record the first failure with its reason before anything is torn down.
            is_first = lease.get_event_status(EventType.BEFORE_END) is not EventStatus.ERROR
            is_kept = late is not None and (is_first or late < settings.before_end_grace)
            backoffs = context.settings.reconciler
            if is_kept:
                result.retry_within(backoffs.first_backoff if is_first else backoffs.longest_backoff)
        case _:
            return
    result.problems[reservation.id] = f"{BEFORE_END_PROBLEM}{reason}"
    if is_kept:
        result.kept.add(reservation.id)


def _take_action(
    context: Context, snapshot: LeaseSnapshot, lease: Lease, event: Event, reservation: Reservation
) -> Outcome:
    try:
        plugin = context.plugin_for(reservation.resource_type)
        if not isinstance(plugin, ActsBeforeEnd):
            return Done()
        assignment = snapshot.assign(context, lease, reservation)
        return plugin.before_end(context.cloud, assignment, event.time)
    except CloudRefused as error:
        return Refused(error.message)
    except CloudError as error:
        return Waiting(context.settings.reconciler.first_backoff, error.message)
    except Exception as error:
        _logger.exception("before-end action failed: reservation_id=%s", reservation.id)
        return Refused(f"internal error: {type(error).__name__}")
