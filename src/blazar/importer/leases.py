"""The stage of a lease of the existing service, and its state after the import.

A lease that is stuck in the existing service is not stuck here: its window decides what should exist, and
managers do the missing work (ADR-0001). So the import only has to record what may exist in the cloud.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum

from blazar.domain.lease import (
    Event,
    EventStatus,
    EventType,
    LeaseId,
    LeaseStatus,
    Reservation,
    ReservationId,
    ReservationStatus,
    StoredSpec,
)
from blazar.importer.details import FLOATINGIPS, Wanted
from blazar.importer.ledger import Fate, Kind, Ledger, Table
from blazar.ports.old_service import OldEvent, OldLease, OldReservation

_NAMESPACE = uuid.UUID("c3a8b7de-52d5-5d0f-a2a6-6b1c3f5e7a21")
_STUCK = {
    LeaseStatus.CREATING: "its lessee never got its id: it is deleted",
    LeaseStatus.DELETING: "it is deleted",
}


class Stage(Enum):
    """The stage of a lease at the time of the import."""

    HISTORY = "history"
    """It has ended, and no work remains."""
    DOOMED = "doomed"
    """It was being deleted, or was never confirmed to its lessee: it is deleted."""
    OVER = "over"
    """Its end has passed; its remaining resources are torn down."""
    RUNNING = "running"
    AHEAD = "ahead"


_SETTLES = {
    Stage.OVER: "its end has passed: it ends",
    Stage.RUNNING: "its window is open: it is active",
    Stage.AHEAD: "it has not begun: it is pending",
}


def stage_of(old: OldLease, now: datetime) -> Stage:
    """Return the stage of a lease."""
    if old.status == LeaseStatus.TERMINATED:
        return Stage.HISTORY
    if old.status in (LeaseStatus.CREATING, LeaseStatus.DELETING):
        return Stage.DOOMED
    if old.end <= now:
        return Stage.OVER
    return Stage.RUNNING if old.start <= now else Stage.AHEAD


def note_status(old: OldLease, stage: Stage, ledger: Ledger) -> None:
    """Record a status that a lease would never have left, or that contradicts its window."""
    subject = f"lease {old.id}"
    if old.status not in {each.value for each in LeaseStatus}:
        ledger.find(Kind.NO_STATUS, subject, f"{old.status!r}: {_SETTLES[stage]}", lease_id=old.id)
        return
    status = LeaseStatus(old.status)
    is_early = status is LeaseStatus.ACTIVE and stage is Stage.AHEAD
    if status is LeaseStatus.ERROR or not status.is_stable or is_early:
        outcome = _STUCK.get(status) or _SETTLES[stage]
        ledger.find(Kind.STUCK, subject, f"{status}: {outcome}", lease_id=old.id)


def plan_events(
    old: OldLease, events: Iterable[OldEvent], now: datetime, ledger: Ledger
) -> tuple[Event, ...]:
    """Return a lease's events without invalid ones; a missing start or end event is added.

    Their statuses are decided by :func:`settled`.
    """
    wanted = {EventType.START: old.start, EventType.END: old.end}
    found: dict[EventType, Event] = {}
    # Of two events of one type, the one at the lease's own date is chosen.
    own_date_first = sorted(events, key=lambda each: (each.time not in wanted.values(), each.id))
    for each in own_date_first:
        kind = next((kind for kind in EventType if kind == each.event_type), None)
        subject = f"event {each.id}"
        if kind is None or each.time is None or kind in found:
            when = f"{each.time:%Y-%m-%d %H:%M}" if each.time else "no time"
            reason = f"{each.event_type} of lease {old.id} at {when}"
            ledger.leave_out(Table.EVENTS, Kind.ODD_EVENT, subject, reason)
            continue
        ledger.count(Table.EVENTS, Fate.IMPORTED)
        status = next((one for one in EventStatus if one == each.status), EventStatus.UNDONE)
        if each.time <= now and status in (EventStatus.UNDONE, EventStatus.IN_PROGRESS):
            reason = f"{kind} of lease {old.id} at {each.time:%Y-%m-%d %H:%M} is {each.status}"
            ledger.find(Kind.LATE_EVENT, subject, reason, lease_id=old.id)
        found[kind] = Event(
            id=each.id,
            event_type=kind,
            time=wanted.get(kind, each.time),
            status=status,
            created_at=each.created_at,
            updated_at=each.updated_at,
        )
    for kind, time in wanted.items():
        if kind not in found:
            ledger.find(Kind.NO_EVENT, f"lease {old.id}", f"has no {kind}", lease_id=old.id)
            event_id = str(uuid.uuid5(_NAMESPACE, f"{old.id} {kind}"))
            found[kind] = Event(id=event_id, event_type=kind, time=time)
    return tuple(sorted(found.values(), key=lambda each: (each.time, each.event_type)))


def plan_reservation(old: OldReservation, stage: Stage, start: EventStatus, wanted: Wanted) -> Reservation:
    """Return a reservation, with a record of what may exist of it in the cloud.

    Args:
        old: The reservation.
        stage: The stage of its lease.
        start: The status of its lease's start event.
        wanted: Its request.
    """
    status, problem = _reservation_status(old, stage, start), None
    if wanted.problem and status is not ReservationStatus.DELETED:
        status, problem = ReservationStatus.ERROR, f"imported: {wanted.problem}"
    is_deployed = status not in (ReservationStatus.DELETED, ReservationStatus.ERROR)
    if stage is Stage.AHEAD and old.resource_type == FLOATINGIPS:
        is_deployed = False  # for all other types, items were created in the cloud at creation
    return Reservation(
        id=ReservationId(old.id),
        lease_id=LeaseId(old.lease_id or ""),
        resource_type=old.resource_type or "unknown",
        spec=StoredSpec(wanted.spec),
        status=status,
        is_deployed=is_deployed,
        problem=problem,
        created_at=old.created_at,
        updated_at=old.updated_at,
    )


def _reservation_status(old: OldReservation, stage: Stage, start: EventStatus) -> ReservationStatus:
    if stage is Stage.HISTORY or old.status == ReservationStatus.DELETED:
        return ReservationStatus.DELETED
    if stage is Stage.AHEAD:
        return ReservationStatus.PENDING
    if old.status == ReservationStatus.ACTIVE:
        return ReservationStatus.ACTIVE
    # There, a failed before-end action puts a reservation into error although the lessee still uses it.
    was_started = old.status == ReservationStatus.ERROR and start is EventStatus.DONE
    return ReservationStatus.ACTIVE if was_started else ReservationStatus.PENDING


def settled(events: Sequence[Event], stage: Stage, reservations: Sequence[Reservation]) -> tuple[Event, ...]:
    """Return the events of a lease with the statuses that follow from its window."""
    changes = {
        EventType.START: _start_status,
        EventType.END: _end_status,
        EventType.BEFORE_END: _before_end_status,
    }
    return tuple(
        replace(each, status=changes[each.event_type](each.status, stage, reservations)) for each in events
    )


def _start_status(before: EventStatus, stage: Stage, reservations: Sequence[Reservation]) -> EventStatus:
    if stage is Stage.HISTORY:
        return EventStatus.DONE
    if stage is Stage.AHEAD:
        return EventStatus.UNDONE
    if stage is not Stage.RUNNING:
        return before
    if any(each.status is ReservationStatus.PENDING for each in reservations):
        return before if before is EventStatus.UNDONE else EventStatus.IN_PROGRESS
    if not reservations and before is EventStatus.UNDONE:
        return before
    return EventStatus.DONE


def _end_status(before: EventStatus, stage: Stage, reservations: Sequence[Reservation]) -> EventStatus:
    if stage is Stage.HISTORY:
        return EventStatus.DONE
    if stage in (Stage.AHEAD, Stage.RUNNING):
        return EventStatus.UNDONE
    # The existing service reported events in progress to the usage service; they are not reported again.
    return EventStatus.UNDONE if before is EventStatus.UNDONE else EventStatus.IN_PROGRESS


def _before_end_status(before: EventStatus, stage: Stage, reservations: Sequence[Reservation]) -> EventStatus:
    if stage is Stage.HISTORY:
        return before if before is EventStatus.ERROR else EventStatus.DONE
    if stage is Stage.AHEAD or before is EventStatus.IN_PROGRESS:
        return EventStatus.UNDONE
    return before
