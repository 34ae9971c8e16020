"""Leases with their reservations and events: one statement a table, however many there are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.tables import events, leases, reservations
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import (
    Event,
    EventStatus,
    EventType,
    Lease,
    LeaseId,
    LeaseStatus,
    Reservation,
    ReservationId,
    ReservationStatus,
)

Row = Mapping[str, Any]
Rows = list[Row]

# Of each of thousands of rows: looked up in a fraction of the time that calling the class takes.
_LEASE_STATUSES: Final = {each.value: each for each in LeaseStatus}
_RESERVATION_STATUSES: Final = {each.value: each for each in ReservationStatus}
_EVENT_TYPES: Final = {each.value: each for each in EventType}
_EVENT_STATUSES: Final = {each.value: each for each in EventStatus}


@dataclass(frozen=True, slots=True)
class _Queries:
    """What is to be read of leases and of their children, in their order."""

    leases: sa.Select[Any]
    reservations: sa.Select[Any]
    events: sa.Select[Any]

    @classmethod
    def of(cls, which: sa.ColumnElement[bool], children_of: Callable[[Any], Any]) -> _Queries:
        """Return the queries for some leases, and for the rows of a table that are theirs."""
        return cls(
            sa.select(leases).where(which).order_by(leases.c.created_at, leases.c.id),
            sa.select(reservations).where(children_of(reservations)).order_by(reservations.c.position),
            # At one instant: start_lease, end_lease, before_end_lease.
            sa.select(events)
            .where(children_of(events))
            .order_by(events.c.time_at, events.c.event_type.desc()),
        )


# Made once: to put a statement together takes longer than to execute it.
_WANTED: Final[sa.BindParameter[str]] = sa.bindparam("wanted")
_ALL_WANTED: Final[sa.BindParameter[str]] = sa.bindparam("wanted", expanding=True)
_FIND: Final = _Queries.of(leases.c.id == _WANTED, lambda table: table.c.lease_id == _WANTED)
_GET_MANY: Final = _Queries.of(leases.c.id.in_(_ALL_WANTED), lambda table: table.c.lease_id.in_(_ALL_WANTED))
_LIST_ALL: Final = _Queries.of(sa.true(), lambda table: sa.true())
_LIST_OF_PROJECT: Final = _Queries.of(
    leases.c.project_id == _WANTED,
    lambda table: table.c.lease_id.in_(sa.select(leases.c.id).where(leases.c.project_id == _WANTED)),
)
_INSERT: Final = {table: sa.insert(table) for table in (leases, reservations, events)}
_REPLACE: Final = sa.update(leases).where(
    leases.c.id == sa.bindparam("lease_id"), leases.c.revision == sa.bindparam("known_revision")
)
_REPLACE_CHILD: Final = {
    table: sa.update(table).where(table.c.id == sa.bindparam("row_id")) for table in (reservations, events)
}


class SqlLeases:
    """Implements :class:`blazar.ports.store.LeaseStore`."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def find(self, lease_id: str) -> Lease | None:
        """Return a lease, or None."""
        found = self._load(_FIND, {"wanted": lease_id})
        return found[0] if found else None

    def list(self, project_id: str | None = None) -> tuple[Lease, ...]:
        """Return the leases of a project, or all, oldest first."""
        if project_id is None:
            return self._load(_LIST_ALL, {})
        return self._load(_LIST_OF_PROJECT, {"wanted": project_id})

    def list_revisions(self, project_id: str | None = None) -> Mapping[LeaseId, int]:
        """Return the revisions of the leases of a project, or of all, oldest lease first."""
        query = sa.select(leases.c.id, leases.c.revision).order_by(leases.c.created_at, leases.c.id)
        if project_id is not None:
            query = query.where(leases.c.project_id == project_id)
        return {LeaseId(lease_id): revision for lease_id, revision in self._connection.execute(query)}

    def get_many(self, lease_ids: Collection[str]) -> tuple[Lease, ...]:
        """Return these leases, oldest first; those that are gone are left out."""
        return self._load(_GET_MANY, {"wanted": list(lease_ids)})

    def insert(self, lease: Lease) -> None:
        """Add a lease with its children."""
        self.insert_many([lease])

    def insert_many(self, new: Sequence[Lease]) -> None:
        """Add many leases with their children, in three statements."""
        rows_of = {
            leases: [_lease_row(each) for each in new],
            reservations: [
                _reservation_row(each, place)
                for lease in new
                for place, each in enumerate(lease.reservations)
            ],
            events: [_event_row(each, lease.id) for lease in new for each in lease.events],
        }
        for table, rows in rows_of.items():
            if rows:
                self._connection.execute(_INSERT[table], rows)

    def replace(self, before: Lease, after: Lease, at: datetime) -> Lease:
        """Write what differs; raise ConcurrentUpdate if *before* is not what is stored any more."""
        after = _stamped(before, after, at)
        changed = self._connection.execute(
            _REPLACE,
            {
                "lease_id": before.id,
                "known_revision": before.revision,
                **_without(_lease_row(after), "id", "created_at"),
            },
        )
        if changed.rowcount != 1:
            raise ConcurrentUpdate(f"Lease {before.id} was changed by somebody else meanwhile")
        self._replace_reservations(before, after)
        self._replace_events(before, after)
        return after

    def delete(self, lease: Lease) -> None:
        """Delete a lease with its children; raise ConcurrentUpdate if it was changed meanwhile."""
        deleted = self._connection.execute(
            sa.delete(leases).where(leases.c.id == lease.id, leases.c.revision == lease.revision)
        )
        if deleted.rowcount != 1:
            raise ConcurrentUpdate(f"Lease {lease.id} was changed by somebody else meanwhile")

    def check(self, lease: Lease) -> None:
        """Lock the lease until the transaction ends; raise ConcurrentUpdate if it is not as read."""
        query = sa.select(leases.c.revision).where(leases.c.id == lease.id).with_for_update()
        if self._connection.scalar(query) != lease.revision:
            raise ConcurrentUpdate(f"Lease {lease.id} was changed by somebody else meanwhile")

    def deployed_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the ids that are reservations of which something may exist outside."""
        query = sa.select(reservations.c.id).where(
            reservations.c.id.in_(list(reservation_ids)), reservations.c.is_deployed.is_(True)
        )
        return frozenset(self._connection.scalars(query))

    def _load(self, queries: _Queries, values: Mapping[str, Any]) -> tuple[Lease, ...]:
        lease_rows = self._rows(queries.leases, values)
        if not lease_rows:
            return ()
        reservations_of, events_of = defaultdict(list), defaultdict(list)
        for row in self._rows(queries.reservations, values):
            reservations_of[row["lease_id"]].append(_reservation(row))
        for row in self._rows(queries.events, values):
            events_of[row["lease_id"]].append(_event(row))
        return tuple(
            _lease(row, tuple(reservations_of[row["id"]]), tuple(events_of[row["id"]])) for row in lease_rows
        )

    def _rows(self, query: sa.Select[Any], values: Mapping[str, Any]) -> Rows:
        found = self._connection.execute(query, values)
        names = tuple(found.keys())
        return [dict(zip(names, row, strict=True)) for row in found]

    def _replace_reservations(self, before: Lease, after: Lease) -> None:
        rows = [
            {"row_id": each.id, **_without(_reservation_row(each, place), "id", "lease_id", "created_at")}
            for place, each in enumerate(after.reservations)
            if each not in before.reservations
        ]
        if rows:
            self._connection.execute(_REPLACE_CHILD[reservations], rows)

    def _replace_events(self, before: Lease, after: Lease) -> None:
        known = {each.id for each in before.events}
        new = [_event_row(each, after.id) for each in after.events if each.id not in known]
        if new:
            self._connection.execute(_INSERT[events], new)
        rows = [
            {"row_id": each.id, **_without(_event_row(each, after.id), "id", "lease_id", "created_at")}
            for each in after.events
            if each.id in known and each not in before.events
        ]
        if rows:
            self._connection.execute(_REPLACE_CHILD[events], rows)


def _stamped(before: Lease, after: Lease, at: datetime) -> Lease:
    """Return *after* with its next revision and with times of update where something changed."""
    old_reservations = {each.id: each for each in before.reservations}
    old_events = {each.id: each for each in before.events}
    return replace(
        after,
        revision=before.revision + 1,
        updated_at=at,
        reservations=tuple(
            each if each == old_reservations.get(each.id) else replace(each, updated_at=at)
            for each in after.reservations
        ),
        events=tuple(
            each if each == old_events.get(each.id) else replace(each, updated_at=at) for each in after.events
        ),
    )


def _without(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}


def _lease_row(lease: Lease) -> dict[str, Any]:
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


def _reservation_row(reservation: Reservation, position: int) -> dict[str, Any]:
    lost = reservation.lost_resources
    return {
        "id": reservation.id,
        "lease_id": reservation.lease_id,
        "position": position,
        "resource_type": reservation.resource_type,
        "spec": json.dumps(dict(reservation.spec)),
        "status": reservation.status.value,
        "is_deployed": reservation.is_deployed,
        "problem": reservation.problem,
        "missing_resources": reservation.missing_resources,
        "lost_resources": json.dumps(sorted(lost)) if lost else None,
        "created_at": reservation.created_at,
        "updated_at": reservation.updated_at,
    }


def _event_row(event: Event, lease_id: LeaseId) -> dict[str, Any]:
    return {
        "id": event.id,
        "lease_id": lease_id,
        "event_type": event.event_type.value,
        "time_at": event.time,
        "status": event.status.value,
        "created_at": event.created_at,
        "updated_at": event.updated_at,
    }


def _lease(row: Row, own_reservations: tuple[Reservation, ...], own_events: tuple[Event, ...]) -> Lease:
    return Lease(
        id=LeaseId(row["id"]),
        name=row["name"],
        user_id=row["user_id"],
        project_id=row["project_id"],
        start=row["start_at"],
        end=row["end_at"],
        status=_LEASE_STATUSES[row["status"]],
        is_deleting=row["is_deleting"],
        revision=row["revision"],
        reservations=own_reservations,
        events=own_events,
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _reservation(row: Row) -> Reservation:
    return Reservation(
        id=ReservationId(row["id"]),
        lease_id=LeaseId(row["lease_id"]),
        resource_type=row["resource_type"],
        spec=json.loads(row["spec"]),
        status=_RESERVATION_STATUSES[row["status"]],
        is_deployed=row["is_deployed"],
        problem=row["problem"],
        missing_resources=row["missing_resources"],
        lost_resources=frozenset(json.loads(row["lost_resources"] or "[]")),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _event(row: Row) -> Event:
    return Event(
        id=row["id"],
        event_type=_EVENT_TYPES[row["event_type"]],
        time=row["time_at"],
        status=_EVENT_STATUSES[row["status"]],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
