"""The meaning of a lease's dates and progress at a given instant.

This module only computes; the reconciler calls it and acts on the results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from blazar.domain.lease import (
    Event,
    EventStatus,
    EventType,
    Lease,
    LeaseStatus,
    Reservation,
    ReservationId,
    ReservationStatus,
)


class Phase(Enum):
    """The position of *now* in a lease's life."""

    AHEAD = "ahead"
    PREPARING = "preparing"
    """Shortly before the start: items that have no effect yet may be created."""
    RUNNING = "running"
    OVER = "over"
    """Ended, or marked for deletion."""


def has_started(lease: Lease) -> bool:
    """Return whether the start of a lease was recorded, so that the lessee may use its resources."""
    start = lease.find_event(EventType.START)
    return (start is not None and start.status is not EventStatus.UNDONE) or any(
        each.status is ReservationStatus.ACTIVE for each in lease.reservations
    )


def has_ended(lease: Lease) -> bool:
    """Return whether the end of a lease was recorded, so that its teardown may be in progress."""
    end = lease.find_event(EventType.END)
    return end is not None and end.status is not EventStatus.UNDONE


def phase_of(lease: Lease, now: datetime, prepare_lead: timedelta) -> Phase:
    """Return the phase of a lease; a lease marked for deletion is over.

    A recorded start or end remains valid even if *now* is before it: managers' clocks differ, and a clock may
    be set back.
    """
    if lease.is_deleting or has_ended(lease) or now >= lease.end:
        return Phase.OVER
    if has_started(lease) or now >= lease.start:
        return Phase.RUNNING
    return Phase.PREPARING if now >= lease.start - prepare_lead else Phase.AHEAD


def reservation_phase(reservation: Reservation, lease_phase: Phase) -> Phase:
    """Return the phase that applies to a reservation.

    A reservation that could not start is torn down at once, so that no lessee is left with half of it.
    """
    if reservation.status in (ReservationStatus.ERROR, ReservationStatus.DELETED):
        return Phase.OVER
    return lease_phase


def lease_status(
    *,
    is_deleting: bool,
    start: EventStatus,
    end: EventStatus,
    reservations: Collection[ReservationStatus],
) -> LeaseStatus:
    """Return the status that follows from the progress of a lease's events and reservations."""
    if is_deleting:
        return LeaseStatus.DELETING
    has_error = ReservationStatus.ERROR in reservations
    match end, start:
        case EventStatus.IN_PROGRESS, _:
            return LeaseStatus.TERMINATING
        case EventStatus.DONE, _:
            all_gone = all(status is ReservationStatus.DELETED for status in reservations)
            return LeaseStatus.TERMINATED if all_gone else LeaseStatus.ERROR
        case _, EventStatus.IN_PROGRESS:
            return LeaseStatus.STARTING
        case EventStatus.ERROR, _:
            return LeaseStatus.ERROR
        case _, EventStatus.ERROR:
            return LeaseStatus.ERROR
        case _, EventStatus.DONE:
            return LeaseStatus.ERROR if has_error else LeaseStatus.ACTIVE
    return LeaseStatus.ERROR if has_error else LeaseStatus.PENDING


def with_status(lease: Lease) -> Lease:
    """Return the lease with the status that follows from its events and reservations."""
    status = lease_status(
        is_deleting=lease.is_deleting,
        start=lease.get_event_status(EventType.START),
        end=lease.get_event_status(EventType.END),
        reservations=[each.status for each in lease.reservations],
    )
    return lease if status is lease.status else replace(lease, status=status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The result of a reconcile pass over one reservation.

    ``is_complete``: the observed state equals the wanted state. ``refused``: why it never will.
    ``waiting_for``: what the next step waits for. ``is_deployed``: the reservation has items in the cloud.
    """

    reservation_id: ReservationId
    is_complete: bool
    is_deployed: bool
    refused: str | None = None
    waiting_for: str | None = None


def begun(lease: Lease, phase: Phase) -> Lease:
    """Return the lease with the work of its present phase marked as in progress.

    If the whole window of a lease passed without a reconcile pass, its start counts as done: nothing was
    handed over, and nothing remains to be handed over.
    """
    start = lease.get_event_status(EventType.START)
    end = lease.get_event_status(EventType.END)
    events = lease.events
    if phase is Phase.RUNNING and start is EventStatus.UNDONE:
        events = _marked(events, EventType.START, EventStatus.IN_PROGRESS)
    if phase is Phase.OVER and not lease.is_deleting and end is not EventStatus.DONE:
        events = _marked(events, EventType.END, EventStatus.IN_PROGRESS)
        if start is EventStatus.UNDONE:
            events = _marked(events, EventType.START, EventStatus.DONE)
        if start is EventStatus.IN_PROGRESS:
            events = _marked(events, EventType.START, EventStatus.ERROR)
    return with_status(replace(lease, events=events))


def advanced(lease: Lease, phase: Phase, progress: Iterable[Progress]) -> Lease:
    """Return the lease after a pass in *phase*, with new statuses of reservations, events and the lease.

    Args:
        lease: As :func:`begun` returned it.
        phase: The phase of the pass.
        progress: The result for each reservation of the pass.
    """
    by_id = {each.reservation_id: each for each in progress}
    reservations = tuple(
        _advanced_reservation(each, phase, by_id[each.id]) if each.id in by_id else each
        for each in lease.reservations
    )
    statuses = {each.status for each in reservations}
    events = lease.events
    if phase is Phase.RUNNING and ReservationStatus.PENDING not in statuses:
        outcome = EventStatus.ERROR if ReservationStatus.ERROR in statuses else EventStatus.DONE
        if lease.get_event_status(EventType.START) is EventStatus.IN_PROGRESS:
            events = _marked(events, EventType.START, outcome)
    if phase is Phase.OVER and not lease.is_deleting and statuses <= {ReservationStatus.DELETED}:
        events = _marked(events, EventType.END, EventStatus.DONE)
        before_end = lease.get_event_status(EventType.BEFORE_END)
        if before_end is EventStatus.UNDONE:
            events = _marked(events, EventType.BEFORE_END, EventStatus.DONE)
        if before_end is EventStatus.IN_PROGRESS:
            events = _marked(events, EventType.BEFORE_END, EventStatus.ERROR)
    return with_status(replace(lease, reservations=reservations, events=events))


def with_before_end(lease: Lease, status: EventStatus) -> Lease:
    """Return the lease with this status of its ``before_end_lease`` event."""
    return replace(lease, events=_marked(lease.events, EventType.BEFORE_END, status))


def is_notice_due(lease: Lease, phase: Phase, now: datetime) -> bool:
    """Return whether the before-end notice is due now.

    It does not wait for a slow start, unless it is due at the start itself.
    """
    event = lease.find_event(EventType.BEFORE_END)
    if phase is not Phase.RUNNING or event is None or event.status is not EventStatus.UNDONE:
        return False
    is_started = lease.get_event_status(EventType.START) in (EventStatus.DONE, EventStatus.ERROR)
    return event.time <= now and (is_started or event.time > lease.start)


def is_before_end_due(lease: Lease, phase: Phase, now: datetime) -> bool:
    """Return whether before-end actions are due now: after the start, once the event is due, only once."""
    event = lease.find_event(EventType.BEFORE_END)
    return (
        phase is Phase.RUNNING
        and event is not None
        and event.status in (EventStatus.UNDONE, EventStatus.IN_PROGRESS)
        and event.time <= now
        and lease.get_event_status(EventType.START) in (EventStatus.DONE, EventStatus.ERROR)
    )


def next_due(lease: Lease, now: datetime, prepare_lead: timedelta) -> datetime | None:
    """Return the next instant after *now* at which a lease changes without a request.

    None means never.
    """
    instants = []
    if not has_ended(lease):
        instants.append(lease.end)
        if not has_started(lease):
            instants += [lease.start - prepare_lead, lease.start]
    before_end = lease.find_event(EventType.BEFORE_END)
    if before_end is not None and before_end.status is EventStatus.UNDONE:
        instants.append(before_end.time)
    return min((instant for instant in instants if instant > now), default=None)


def preparation_due(lease: Lease, now: datetime, prepare_lead: timedelta) -> datetime:
    """Return when a lease without items in the cloud is first reconciled; *now* if that time has passed."""
    return max(now, lease.start - prepare_lead)


def next_pass(lease: Lease, now: datetime, prepare_lead: timedelta) -> datetime:
    """Return when a changed lease is reconciled next: now, unless it is healthy and has no items yet.

    A reservation with a problem may have items: a call that failed may have taken effect since.
    """
    if lease.is_degraded or any(each.is_deployed or each.problem for each in lease.reservations):
        return now
    return preparation_due(lease, now, prepare_lead)


def _marked(events: tuple[Event, ...], event_type: EventType, status: EventStatus) -> tuple[Event, ...]:
    return tuple(
        replace(event, status=status) if event.event_type is event_type else event for event in events
    )


def _advanced_reservation(reservation: Reservation, phase: Phase, progress: Progress) -> Reservation:
    status, problem = reservation.status, progress.waiting_for
    if status is ReservationStatus.ERROR:
        problem = reservation.problem
    if phase is Phase.RUNNING and status is ReservationStatus.PENDING:
        if progress.refused is not None:
            status, problem = ReservationStatus.ERROR, progress.refused
        elif progress.is_complete:
            status = ReservationStatus.ACTIVE
    elif phase is Phase.RUNNING and progress.refused is not None:
        problem = progress.refused
    if phase is Phase.OVER:
        problem = progress.refused or problem
        if progress.is_complete:
            status, problem = ReservationStatus.DELETED, None
    return replace(reservation, status=status, problem=problem, is_deployed=progress.is_deployed)
