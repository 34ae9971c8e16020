"""Leases, reservations and events as rows of their tables, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from blazar.damage import damaged_rows
from blazar.db.columns import read_list, read_object
from blazar.db.specs import SpecColumn
from blazar.domain.grouping import Grouping
from blazar.domain.lease import (
    DAMAGED,
    Event,
    EventStatus,
    EventType,
    Lease,
    LeaseId,
    LeaseStatus,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
    StoredSpec,
)

Row = Mapping[str, Any]

# For thousands of rows: a lookup takes a fraction of the time of calling the enum class.
_LEASE_STATUSES: Final = {each.value: each for each in LeaseStatus}
_RESERVATION_STATUSES: Final = {each.value: each for each in ReservationStatus}
_EVENT_TYPES: Final = {each.value: each for each in EventType}
_EVENT_STATUSES: Final = {each.value: each for each in EventStatus}


def lease_row(lease: Lease) -> dict[str, Any]:
    """Return the columns of a lease."""
    return {
        "id": lease.id,
        "name": lease.name,
        "user_id": lease.user_id,
        "project_id": lease.project_id,
        "start_at": lease.start,
        "end_at": lease.end,
        "status": lease.status.value,
        "is_deleting": lease.is_deleting,
        "revision": lease.revision,
        "created_at": lease.created_at,
        "updated_at": lease.updated_at,
    }


def reservation_row(reservation: Reservation, position: int) -> dict[str, Any]:
    """Return the columns of a reservation, except for its spec."""
    lost, grouping = reservation.lost_resources, reservation.grouping
    return {
        "id": reservation.id,
        "lease_id": reservation.lease_id,
        "position": position,
        "resource_type": reservation.resource_type,
        "status": reservation.status.value,
        "is_deployed": reservation.is_deployed,
        "problem": reservation.problem,
        "missing_resources": reservation.missing_resources,
        "lost_resources": json.dumps(sorted(lost)) if lost else None,
        "same_by": None if grouping is None else grouping.same,
        "spread_by": None if grouping is None else grouping.spread,
        "created_at": reservation.created_at,
        "updated_at": reservation.updated_at,
    }


def event_row(event: Event, lease_id: LeaseId) -> dict[str, Any]:
    """Return the columns of an event."""
    return {
        "id": event.id,
        "lease_id": lease_id,
        "event_type": event.event_type.value,
        "time_at": event.time,
        "status": event.status.value,
        "created_at": event.created_at,
        "updated_at": event.updated_at,
    }


def lease_of(
    row: Row,
    own_reservations: tuple[Reservation, ...],
    own_events: tuple[Event, ...],
    damage: str | None,
) -> Lease:
    """Return a lease; *damage* says which part of it could not be read, if any."""
    if row["status"] not in _LEASE_STATUSES:
        damaged_rows.note("leases", "status", row["id"])
        damage = "its stored status is damaged"
    return Lease(
        id=LeaseId(row["id"]),
        name=row["name"],
        user_id=row["user_id"],
        project_id=row["project_id"],
        start=row["start_at"],
        end=row["end_at"],
        status=_lease_status(row, own_reservations),
        is_deleting=row["is_deleting"],
        revision=row["revision"],
        reservations=own_reservations,
        events=own_events,
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        damage=damage,
    )


def _lease_status(row: Row, own_reservations: tuple[Reservation, ...]) -> LeaseStatus:
    """Return the status of a lease; ERROR if it is unknown or a reservation is damaged."""
    status = _LEASE_STATUSES.get(row["status"])
    is_damaged = any(each.is_damaged for each in own_reservations)
    if is_damaged and status not in (LeaseStatus.DELETING, LeaseStatus.TERMINATED):
        return LeaseStatus.ERROR
    return LeaseStatus.ERROR if status is None else status


def reservation_of(row: Row, specs: SpecColumn) -> Reservation:
    """Return a reservation; a damaged one has the status ERROR, and a problem that says so."""
    content, problem = read_object(row["spec"]), row["problem"]
    status = _RESERVATION_STATUSES.get(row["status"])
    if content is None or status is None:
        damaged = "spec" if content is None else "status"
        problem = f"{DAMAGED} {damaged} is damaged: the reservation can only be deleted"
        damaged_rows.note("reservations", damaged, row["id"])
    lost = read_list(row["lost_resources"] or "[]")
    if lost is None:
        damaged_rows.note("reservations", "lost_resources", row["id"])
    if content is None or status is None:
        status = status if status is ReservationStatus.DELETED else ReservationStatus.ERROR
    return Reservation(
        id=ReservationId(row["id"]),
        lease_id=LeaseId(row["lease_id"]),
        resource_type=row["resource_type"],
        spec=StoredSpec({}) if content is None else specs.decode(content, row["resource_type"], row["id"]),
        status=status,
        is_deployed=row["is_deployed"],
        problem=problem,
        missing_resources=row["missing_resources"],
        lost_resources=frozenset(ResourceId(each) for each in lost or () if isinstance(each, str)),
        grouping=_grouping_of(row),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _grouping_of(row: Row) -> Grouping | None:
    same, spread = row["same_by"], row["spread_by"]
    return None if same is None and spread is None else Grouping(same=same, spread=spread)


def event_of(row: Row) -> tuple[Event | None, str | None]:
    """Return an event, and the name of its damaged column, if any.

    An event of an unknown type is None; an event of an unknown status gets the status ERROR.
    """
    event_type, status = _EVENT_TYPES.get(row["event_type"]), _EVENT_STATUSES.get(row["status"])
    if event_type is None:
        return None, "event_type"
    event = Event(
        id=row["id"],
        event_type=event_type,
        time=row["time_at"],
        status=EventStatus.ERROR if status is None else status,
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
    return event, "status" if status is None else None
