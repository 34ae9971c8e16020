"""One reconcile pass over one lease: read everything, act on the cloud, record the result.

The only input is the claim on the lease's id. The lease is read at a revision; if it is changed
concurrently, recording fails, no result of this pass is stored, and the lease is reconciled again at once.
Changes already made in the cloud are seen by the next pass (ADR-0001).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from blazar.booking.context import Context, Plugin
from blazar.booking.past_uses import record_uses
from blazar.booking.results import record_results
from blazar.booking.search import has_room_now
from blazar.booking.specs import with_notes
from blazar.booking.transitions import erase_lease, record_changes
from blazar.domain.errors import ConcurrentUpdate, Unavailable
from blazar.domain.lease import (
    Allocation,
    Lease,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
)
from blazar.domain.lifecycle import (
    Phase,
    Progress,
    advanced,
    has_started,
    next_due,
    phase_of,
    reservation_phase,
)
from blazar.plugins.contract import Assignment, Outcome, Result, Unusable, Waiting
from blazar.ports.allocations import EarlierHolder
from blazar.ports.journal import JournalEntry
from blazar.ports.store import Transaction
from blazar.ports.work import Claim
from blazar.reconcile.before_end import BeforeEnd, act_before_end
from blazar.reconcile.claims import Interrupted
from blazar.reconcile.healing import heal, with_flags
from blazar.reconcile.lease_snapshot import LeaseSnapshot
from blazar.reconcile.mark_in_progress import in_progress, store_in_progress
from blazar.reconcile.measuring import measure
from blazar.reconcile.pause import Pause
from blazar.reconcile.replacing import Replacing
from blazar.reconcile.steps import Obstacles, Report, internal_error, take_steps

_MOST_ATTEMPTS_TO_FIND: Final = 8
"""Attempts to find a lease that is not recorded as deleted; with growing pauses they last some minutes."""
_RELEASED_BY_THEN = timedelta(seconds=30)
"""Fallback interval: releasing a resource wakes the leases that wait for it."""

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class _Pass(Pause):
    """The state of a reconcile pass."""

    lease: Lease
    phase: Phase
    snapshot: LeaseSnapshot
    reports: dict[ReservationId, Report] = field(default_factory=dict)
    has_failed: bool = False
    before_end: BeforeEnd = field(default_factory=BeforeEnd)
    has_replaced: bool = False
    """A reservation was given other resources, which have not been handed over yet."""


def reconcile_lease(context: Context, claim: Claim, actor: str, check_claim: Callable[[], None]) -> None:
    """Bring a lease as close to its desired state as possible now, and schedule the next pass.

    Args:
        context: The context.
        claim: The claim whose key is the id of the lease.
        actor: The actor recorded in the journal.
        check_claim: Called before every step on the cloud; an exception from it ends the pass.

    Raises:
        ConcurrentUpdate: The lease was changed concurrently, or the claim was taken over.
    """
    with context.store.read(of_one_instant=False) as transaction:
        lease = transaction.leases.find(claim.key)
        is_deleted = lease is None and transaction.journal.has_delete(claim.key)
    if lease is None:
        _drop_or_wait(context, claim, is_deleted)
        return
    phase = phase_of(lease, context.clock.now(), context.settings.leases.prepare_lead)
    lease = _mark(context, claim, actor, lease, phase)
    healing = heal(context, claim, actor, lease, phase, check_claim)
    current = _Pass(lease=healing.lease, phase=phase, snapshot=healing.snapshot)
    current.retry_within(healing.retry_after)
    if phase is Phase.OVER:
        current.before_end = act_before_end(context, healing.snapshot, healing.lease, phase, check_claim)
    for reservation in healing.lease.reservations:
        with context.log_context.working_on(reservation_id=reservation.id):
            report = _work_on(context, current, reservation, check_claim)
            if report is not None:
                if report.unusable:
                    _replace_unusable(context, claim, actor, current, reservation, report)
                _plan_retry(current, report)
                current.reports[reservation.id] = report
    after = advanced(current.lease, phase, [_progress(key, each) for key, each in current.reports.items()])
    after = with_flags(_with_notes(context, after, current.reports), healing)
    after = _act_before_end(context, current, after, check_claim)
    _record(context, claim, actor, current, after)


def _drop_or_wait(context: Context, claim: Claim, is_deleted: bool) -> None:
    """Drop the work for a missing lease if its deletion is recorded; otherwise reconcile it later.

    If a database server lags behind another one, the lease may not have arrived yet. After many attempts,
    the work is dropped; if the lease appears later, the check for leases without work finds it.
    """
    due_at, attempts = None, claim.attempts + 1
    if not is_deleted and attempts <= _MOST_ATTEMPTS_TO_FIND:
        due_at = context.clock.now() + context.settings.reconciler.backoff(claim.attempts)
    elif not is_deleted:
        _logger.warning("dropping work of a lease that does not exist: lease=%s", claim.key)
    with context.store.begin() as transaction:
        transaction.work.finish(claim, due_at, attempts)
        transaction.commit()


def _mark(context: Context, claim: Claim, actor: str, lease: Lease, phase: Phase) -> Lease:
    """Mark the work as in progress before anything is changed in the cloud."""
    now = context.clock.now()
    after = in_progress(lease, phase, now)
    if after == lease:
        return lease
    with context.store.begin() as transaction:
        after = store_in_progress(context, transaction, lease, after, actor, now)
        transaction.work.keep(claim)
        transaction.commit()
    measure(context.meter, lease, after, now)
    return after


def _work_on(
    context: Context, current: _Pass, reservation: Reservation, check_claim: Callable[[], None]
) -> Report | None:
    """Return the report of a reservation, or None if it has nothing to reconcile."""
    phase = reservation_phase(reservation, current.phase)
    if reservation.status is ReservationStatus.DELETED or reservation.id in current.before_end.kept:
        return None
    if phase is Phase.AHEAD and not reservation.is_deployed and not reservation.problem:
        return None
    if phase is Phase.OVER and not reservation.is_deployed:
        return Report(is_complete=True, is_deployed=False, occupied=frozenset())
    plugin = context.plugins.get(reservation.resource_type)
    if plugin is None:
        _logger.error(
            "no plugin for reservation: reservation_id=%s type=%s", reservation.id, reservation.resource_type
        )
        return Report(failure=f"no plugin is loaded for resource type {reservation.resource_type}")
    held = _held_by_others(context, current, reservation, plugin) if phase is Phase.RUNNING else {}
    try:
        assignment = _awaiting(current.snapshot.assign(context, current.lease, reservation), held)
        obstacles = Obstacles(held_by_others=held, failed=current.snapshot.failed(reservation).keys())
        report = take_steps(plugin, context.cloud, assignment, phase, obstacles, check_claim)
    except Interrupted:
        raise
    except Exception as error:
        # A faulty plugin must not stop the other reservations.
        _logger.exception("cannot reconcile a reservation: reservation_id=%s", reservation.id)
        report = Report(failure=internal_error(error))
    return report


def _awaiting(assignment: Assignment[Any], held_by_others: Mapping[str, Outcome]) -> Assignment[Any]:
    """Return the assignment with the resources marked that other reservations still hold."""
    resources = tuple(replace(each, is_awaited=each.id in held_by_others) for each in assignment.resources)
    return replace(assignment, resources=resources)


def _replace_unusable(
    context: Context, claim: Claim, actor: str, current: _Pass, reservation: Reservation, report: Report
) -> None:
    """Replace resources that cannot be handed over, if others are available."""
    held = current.snapshot.allocations[reservation.id]
    unusable = {
        key: report.unusable[key] for key in (each.resource_id for each in held) if key in report.unusable
    }
    for keys in _portions(list(unusable)):
        replacing = Replacing(
            context=context,
            lease=current.lease,
            reservation=reservation,
            held=held,
            reasons={key: unusable[key].reason for key in keys},
            avoided=frozenset(unusable),
        )
        try:
            found = replacing.find(claim.attempts)
        except (ConcurrentUpdate, Unavailable):
            raise
        except Exception as error:
            _logger.exception("plugin failed to find resources: reservation_id=%s", reservation.id)
            report.failure = internal_error(error)
            return
        if found is not None:
            current.lease = replacing.store(found, current.lease, claim, actor)
            current.has_replaced = True
            return
    if any(each.is_final for each in unusable.values()):
        report.refused = report.reason
    else:
        report.failure = report.reason


def _portions(keys: list[ResourceId]) -> list[list[ResourceId]]:
    """Return the sets to replace: all at once, or, if that is not possible, one by one."""
    return [keys, *([each] for each in keys if len(keys) > 1)]


def _held_by_others(
    context: Context, current: _Pass, reservation: Reservation, plugin: Plugin
) -> Mapping[str, Outcome]:
    # Also for an active reservation: resources that had failed at its start are handed over later.
    allocations = current.snapshot.allocations[reservation.id]
    if not allocations:
        return {}
    start = min(each.window.start for each in allocations)
    with context.store.read() as transaction:
        held = transaction.allocations.held_before([reservation.id], start)
    return {
        each.resource_id: _obstacle(context, each, held[each.resource_id])
        for each in allocations
        if each.resource_id in held and not has_room_now(context, plugin.collection, each)
    }


def _obstacle(context: Context, allocation: Allocation, holder: EarlierHolder) -> Outcome:
    """Return the outcome of handing over a resource that its earlier holder has not released.

    The reservation waits for it at first; after the release wait, another resource may replace it.
    """
    limit, late = context.settings.leases.release_wait, context.clock.now() - holder.end
    reason = f"resource {allocation.resource_id} was not released yet by reservation {holder.reservation_id}"
    if not limit:
        return Waiting(_RELEASED_BY_THEN, reason)
    return Unusable(reason) if late >= limit else Waiting(min(_RELEASED_BY_THEN, limit - late), reason)


def _plan_retry(current: _Pass, report: Report) -> None:
    if report.failure is not None:
        current.has_failed = True
    if report.refused is not None and not report.is_complete:
        current.has_failed = True
    for each in report.waiting:
        current.retry_within(each.retry_after)


def _progress(reservation_id: ReservationId, report: Report) -> Progress:
    return Progress(
        reservation_id=reservation_id,
        is_complete=report.is_complete,
        is_deployed=report.is_deployed,
        refused=report.refused,
        waiting_for=report.reason,
    )


def _with_notes(context: Context, lease: Lease, reports: Mapping[ReservationId, Report]) -> Lease:
    """Return the lease with the facts about its reservations that were read from the cloud."""
    reservations = tuple(
        with_notes(context.plugin_for(each.resource_type), each, reports[each.id].notes)
        if each.id in reports and reports[each.id].notes
        else each
        for each in lease.reservations
    )
    return replace(lease, reservations=reservations)


def _act_before_end(context: Context, current: _Pass, lease: Lease, check_claim: Callable[[], None]) -> Lease:
    """Return the lease with the result of its before-end action, taken now unless the lease is over."""
    if current.phase is not Phase.OVER:
        current.before_end = act_before_end(context, current.snapshot, lease, current.phase, check_claim)
    current.retry_within(current.before_end.retry_after)
    return current.before_end.applied_to(lease)


def _record(context: Context, claim: Claim, actor: str, current: _Pass, after: Lease) -> None:
    before, now = current.lease, context.clock.now()
    with context.store.begin() as transaction:
        record_results(context, transaction, before.id, _results(current), actor)
        if after == before:
            transaction.leases.check(before)
        else:
            after = transaction.leases.replace(before, after, now)
            record_changes(context, transaction, before, after, actor, now)
        if current.phase is Phase.OVER:
            _release(context, transaction, current, now)
        if after.is_deleting and not any(each.is_deployed for each in after.reservations):
            erase_lease(context, transaction, after, after)
            transaction.journal.append([_gone(after, now, actor)])
            transaction.work.finish(claim, None, 0)
        else:
            due_at, attempts = _next_pass(context, claim, current, after, now)
            transaction.work.finish(claim, due_at, attempts)
        transaction.commit()
    measure(context.meter, before, after, now)


def _results(current: _Pass) -> Mapping[ReservationId, Sequence[Result]]:
    """Return what became of objects of the lessee, by reservation, before the end and at the end."""
    found: dict[ReservationId, list[Result]] = {
        key: list(each) for key, each in current.before_end.results.items()
    }
    if current.phase is Phase.OVER:
        for key, report in current.reports.items():
            found.setdefault(key, []).extend(report.results)
    return found


def _gone(lease: Lease, now: datetime, actor: str) -> JournalEntry:
    return JournalEntry(
        at=now, lease_id=lease.id, event="lease.status", reason=f"{lease.status} -> gone", actor=actor
    )


def _release(context: Context, transaction: Transaction, current: _Pass, now: datetime) -> None:
    """Release each resource that was observed free; schedule its waiters."""
    released: set[ResourceId] = set()
    for reservation_id, report in current.reports.items():
        if report.occupied is None:
            continue
        held = current.snapshot.allocations[reservation_id]
        free = {each.resource_id for each in held if each.resource_id not in report.occupied}
        # Unused resources need no cleaning, and must not block the window that was released.
        was_started = has_started(current.lease)
        used = {each.resource_id for each in held if was_started or each.window.start < now}
        cleaned = free & used if context.settings.leases.cleaning_time else set()
        record_uses(context, transaction, reservation_id, free, now)
        transaction.allocations.release(reservation_id, cleaned, now)
        transaction.allocations.release(reservation_id, free - cleaned, None)
        released |= free
    if released:
        waiting = transaction.allocations.waiting_leases(released, now)
        transaction.work.schedule({*waiting, *transaction.resources.list_missing()}, now)


def _next_pass(
    context: Context, claim: Claim, current: _Pass, after: Lease, now: datetime
) -> tuple[datetime | None, int]:
    """Return when the lease is reconciled next, and the number of consecutive failed attempts."""
    settings = context.settings.reconciler
    due = next_due(after, now, context.settings.leases.prepare_lead)
    if phase_of(after, now, context.settings.leases.prepare_lead) is not current.phase:
        return now, 0
    if current.has_replaced and not claim.attempts:
        return now, 1
    if current.has_failed or current.has_replaced:
        # The replacement of an unusable resource may be unusable as well, without end.
        # Jitter keeps leases that failed together from being retried together.
        retry = now + settings.backoff(claim.attempts) * context.random.uniform(0.5, 1)
        if current.retry_after is not None:
            # A failing step must not delay those that wait for something else.
            retry = min(retry, now + current.retry_after)
        return min(due or retry, retry), claim.attempts + 1
    if current.retry_after is not None:
        retry = now + current.retry_after
        return min(due or retry, retry), 0
    needs_another_pass = any(
        reservation_phase(each, current.phase) is Phase.OVER and each.is_deployed
        for each in after.reservations
    )
    if needs_another_pass:
        return now, 0
    return due, 0
