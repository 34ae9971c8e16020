"""Leases that wait, listed and counted with one statement each."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.tables import allocations, events, leases, reservations, work
from blazar.domain.lease import EventStatus, LeaseId, LeaseStatus, ReservationId, ReservationStatus
from blazar.ports.work import WaitingLease, WaitingReservation

_UNSTABLE: Final = [each.value for each in LeaseStatus if not each.is_stable]
_LEASE_STATUSES: Final = {each.value: each for each in LeaseStatus}
_RESERVATION_STATUSES: Final = {each.value: each for each in ReservationStatus}

_CHANGED_AT: Final = sa.func.coalesce(
    leases.c.updated_at, leases.c.created_at, type_=leases.c.updated_at.type
)
_RESERVATION_CHANGED_AT: Final = sa.func.coalesce(
    reservations.c.updated_at, reservations.c.created_at, type_=leases.c.updated_at.type
)
_HAS_REASON: Final = sa.and_(
    reservations.c.lease_id == leases.c.id,
    reservations.c.status != ReservationStatus.DELETED.value,
    sa.or_(reservations.c.problem.is_not(None), reservations.c.missing_resources.is_(True)),
)
_BEFORE: Final = sa.bindparam("before", type_=work.c.due_at.type)
_WAITING: Final[sa.Select[Any]] = (
    sa.select(
        leases.c.id,
        leases.c.name,
        leases.c.project_id,
        leases.c.status,
        leases.c.is_deleting,
        leases.c.end_at,
        _CHANGED_AT.label("changed_at"),
        work.c.due_at,
        work.c.attempts,
        work.c.owner,
        work.c.claim_deadline,
        reservations.c.id.label("reservation_id"),
        reservations.c.resource_type,
        reservations.c.status.label("reservation_status"),
        reservations.c.problem,
        reservations.c.missing_resources,
        _RESERVATION_CHANGED_AT.label("since"),
    )
    .outerjoin(work, work.c.key == leases.c.id)
    .outerjoin(reservations, _HAS_REASON)
    .where(
        sa.or_(
            reservations.c.id.is_not(None),
            work.c.attempts > 0,
            work.c.due_at <= _BEFORE,
            sa.and_(leases.c.status.in_(_UNSTABLE), _CHANGED_AT <= _BEFORE),
        )
    )
    .order_by(leases.c.created_at, leases.c.id, reservations.c.position)
)


def list_waiting(connection: Connection, before: datetime) -> tuple[WaitingLease, ...]:
    """Return the leases that wait, oldest first; see :meth:`blazar.ports.work.WorkStore.list_waiting`."""
    found: dict[str, WaitingLease] = {}
    for row in connection.execute(_WAITING, {"before": before}):
        lease = found.setdefault(row.id, _lease(row))
        if row.reservation_id is not None:
            found[row.id] = replace(lease, reservations=(*lease.reservations, _reservation(row)))
    return tuple(found.values())


def waits_now(now: datetime) -> sa.Executable:
    """Return the statement that counts leases in transition that have a reason to wait, by status.

    Each row has the status, the number of leases (``all``), and ``since``: when the first of their events in
    progress was due or, for a deletion, when a reservation last changed. A problem that changes from try to
    try does not make a lease younger. Reservations whose resources are still booked after the end of the
    lease do not count: they are held for a time that was asked for.
    """
    due_at = (
        sa.select(sa.func.max(events.c.time_at))
        .where(
            events.c.lease_id == leases.c.id,
            events.c.status == EventStatus.IN_PROGRESS.value,
            events.c.time_at <= now,
        )
        .scalar_subquery()
    )
    is_booked = sa.exists().where(
        allocations.c.reservation_id == reservations.c.id,
        allocations.c.released_at.is_(None),
        allocations.c.end_at > now,
    )
    is_held = sa.and_(leases.c.end_at <= now, leases.c.is_deleting.is_(False), is_booked)
    waiting = (
        sa.select(
            leases.c.id,
            leases.c.status,
            due_at.label("due_at"),
            sa.func.min(_RESERVATION_CHANGED_AT).label("changed_at"),
        )
        .join(reservations, _HAS_REASON)
        .where(leases.c.status.in_(_UNSTABLE), sa.not_(is_held))
        .group_by(leases.c.id, leases.c.status)
        .subquery()
    )
    since = sa.func.min(sa.func.coalesce(waiting.c.due_at, waiting.c.changed_at, type_=events.c.time_at.type))
    return sa.select(
        waiting.c.status,
        sa.func.count().label("all"),
        sa.type_coerce(since, events.c.time_at.type).label("since"),
    ).group_by(waiting.c.status)


def _lease(row: sa.Row[Any]) -> WaitingLease:
    return WaitingLease(
        id=LeaseId(row.id),
        name=row.name,
        project_id=row.project_id,
        status=_LEASE_STATUSES.get(row.status, LeaseStatus.ERROR),
        is_deleting=row.is_deleting,
        end=row.end_at,
        changed_at=row.changed_at,
        due_at=row.due_at,
        attempts=row.attempts or 0,
        owner=row.owner,
        claim_deadline=row.claim_deadline,
    )


def _reservation(row: sa.Row[Any]) -> WaitingReservation:
    return WaitingReservation(
        id=ReservationId(row.reservation_id),
        resource_type=row.resource_type,
        status=_RESERVATION_STATUSES.get(row.reservation_status, ReservationStatus.ERROR),
        problem=row.problem,
        since=row.since,
    )
