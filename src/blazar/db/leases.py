"""Leases with their reservations and events; many are read with one statement per table, one with a join."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.damage import damaged_rows
from blazar.db.connection import Connection
from blazar.db.lease_pages import select_lease_page
from blazar.db.lease_rows import (
    Row,
    event_of,
    event_row,
    lease_of,
    lease_row,
    reservation_of,
    reservation_row,
)
from blazar.db.specs import SpecColumn
from blazar.db.tables import events, leases, reservations
from blazar.db.usage_records import changed_states, initial_states, record_states
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import (
    Lease,
    LeaseId,
)
from blazar.domain.paging import Page
from blazar.ports.store import LeaseFilter
from blazar.ports.work import is_periodic_task

Rows = list[Row]

_IN_ORDER: Final = (events.c.time_at, events.c.event_type.desc())
"""The order of events; at the same instant: start_lease, end_lease, before_end_lease."""


@dataclass(frozen=True, slots=True)
class _Queries:
    """Queries for leases and their children, in the order of their use."""

    leases: sa.Select[Any]
    reservations: sa.Select[Any]
    events: sa.Select[Any]

    @classmethod
    def of(cls, which: sa.ColumnElement[bool], children_of: Callable[[Any], Any]) -> _Queries:
        """Return the queries for some leases, and for the rows of other tables that belong to them."""
        return cls(
            sa.select(leases).where(which).order_by(leases.c.created_at, leases.c.id),
            sa.select(reservations).where(children_of(reservations)).order_by(reservations.c.position),
            sa.select(events).where(children_of(events)).order_by(*_IN_ORDER),
        )


# Built once: building a statement takes longer than executing it.
_WANTED: Final[sa.BindParameter[str]] = sa.bindparam("wanted")
_ALL_WANTED: Final[sa.BindParameter[str]] = sa.bindparam("wanted", expanding=True)
_FIND: Final = (
    sa.select(leases, reservations, events)
    .select_from(
        leases.outerjoin(reservations, reservations.c.lease_id == leases.c.id).outerjoin(
            events, events.c.lease_id == leases.c.id
        )
    )
    .where(leases.c.id == _WANTED)
    .order_by(reservations.c.position, *_IN_ORDER)
    .set_label_style(sa.LABEL_STYLE_TABLENAME_PLUS_COL)
)
"""A row for each event of each reservation; a lease has few of both."""
_COLUMNS: Final = [*leases.c, *reservations.c, *events.c]
_PLACES: Final = {
    table: [(each.name, place) for place, each in enumerate(_COLUMNS) if each.table is table]
    for table in (leases, reservations, events)
}
"""The columns of each table in such a row, by name and place."""
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
_DELETE: Final = sa.delete(leases).where(
    leases.c.id == sa.bindparam("lease_id"), leases.c.revision == sa.bindparam("known_revision")
)
_REPLACE_CHILD: Final = {
    table: sa.update(table).where(table.c.id == sa.bindparam("row_id")) for table in (reservations, events)
}


class SqlLeases:
    """Implements :class:`blazar.ports.store.LeaseStore`."""

    def __init__(self, connection: Connection, specs: SpecColumn) -> None:
        self._connection = connection
        self._specs = specs

    def find(self, lease_id: str) -> Lease | None:
        """Return a lease, or None."""
        rows = self._connection.execute(_FIND, {"wanted": lease_id}).all()
        found = self._built(*(_distinct(rows, table) for table in (leases, reservations, events)))
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

    def list_page(self, which: LeaseFilter, page: Page) -> Mapping[LeaseId, int]:
        """Return the revisions of a page, in its order. Raises InvalidParameter if the marker is unknown."""
        return select_lease_page(self._connection, which, page)

    def get_many(self, lease_ids: Collection[str]) -> tuple[Lease, ...]:
        """Return these leases, oldest first; those that are gone are omitted."""
        return self._load(_GET_MANY, {"wanted": list(lease_ids)})

    def insert(self, lease: Lease) -> None:
        """Add a lease with its children."""
        self.insert_many([lease])

    def insert_many(self, new: Sequence[Lease]) -> None:
        """Add many leases with their children, in three statements."""
        reserved = [each.id for each in new if is_periodic_task(each.id)]
        if reserved:
            raise ValueError(f"a lease id must not be the key of a periodic task: {', '.join(reserved)}")
        rows_of = {
            leases: [lease_row(each) for each in new],
            reservations: [
                {**reservation_row(each, place), "spec": self._specs.encode(each)}
                for lease in new
                for place, each in enumerate(lease.reservations)
            ],
            events: [event_row(each, lease.id) for lease in new for each in lease.events],
        }
        for table, rows in rows_of.items():
            self._connection.later(_INSERT[table], rows)
        record_states(self._connection, (row for each in new for row in initial_states(each)))

    def replace(self, before: Lease, after: Lease, at: datetime) -> Lease:
        """Write the differences; raise ConcurrentUpdate if *before* is no longer the stored revision."""
        after = _stamped(before, after, at)
        changed = self._connection.execute(
            _REPLACE,
            {
                "lease_id": before.id,
                "known_revision": before.revision,
                **_without(lease_row(after), "id", "created_at"),
            },
        )
        if changed.rowcount != 1:
            raise ConcurrentUpdate(f"Another transaction changed lease {before.id} concurrently")
        self._replace_reservations(before, after)
        record_states(self._connection, changed_states(before, after, at))
        self._replace_events(before, after)
        return after

    def delete_reservations(self, before: Lease, after: Lease) -> None:
        """Delete the reservations that *after* no longer has."""
        gone = {each.id for each in before.reservations} - {each.id for each in after.reservations}
        if gone:
            self._connection.execute(sa.delete(reservations).where(reservations.c.id.in_(sorted(gone))))

    def delete(self, lease: Lease) -> None:
        """Delete a lease with its children, at this revision, which the transaction has just written."""
        self._connection.later(_DELETE, [{"lease_id": lease.id, "known_revision": lease.revision}])

    def check(self, lease: Lease) -> None:
        """Lock the lease until the transaction ends; raise ConcurrentUpdate if it changed since read.

        The update changes the row, so that another cluster node, which does not see the lock, detects it.
        """
        locked = self._connection.execute(
            sa.update(leases)
            .where(leases.c.id == lease.id, leases.c.revision == lease.revision)
            .values(touches=leases.c.touches + 1)
        )
        if locked.rowcount != 1:
            raise ConcurrentUpdate(f"Another transaction changed lease {lease.id} concurrently")

    def deployed_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return the given ids that name reservations which may have resources in the cloud."""
        query = sa.select(reservations.c.id).where(
            reservations.c.id.in_(list(reservation_ids)), reservations.c.is_deployed.is_(True)
        )
        return frozenset(self._connection.scalars(query))

    def _load(self, queries: _Queries, values: Mapping[str, Any]) -> tuple[Lease, ...]:
        lease_rows = self._rows(queries.leases, values)
        if not lease_rows:
            return ()
        return self._built(
            lease_rows, self._rows(queries.reservations, values), self._rows(queries.events, values)
        )

    def _built(self, lease_rows: Rows, reservation_rows: Rows, event_rows: Rows) -> tuple[Lease, ...]:
        """Return the leases of these rows, in their order, with the children in the order of theirs."""
        reservations_of, events_of = defaultdict(list), defaultdict(list)
        damaged_events: dict[str, str] = {}
        for row in reservation_rows:
            reservations_of[row["lease_id"]].append(reservation_of(row, self._specs))
        for row in event_rows:
            event, column = event_of(row)
            if column is not None:
                damaged_rows.note("events", column, row["id"])
                damaged_events[row["lease_id"]] = f"the {column} of its event {row['id']} is damaged"
            if event is not None:
                events_of[row["lease_id"]].append(event)
        return tuple(
            lease_of(
                row,
                tuple(reservations_of[row["id"]]),
                tuple(events_of[row["id"]]),
                damaged_events.get(row["id"]),
            )
            for row in lease_rows
        )

    def _rows(self, query: sa.Select[Any], values: Mapping[str, Any]) -> Rows:
        found = self._connection.execute(query, values)
        names = tuple(found.keys())
        return [dict(zip(names, row, strict=True)) for row in found]

    def _replace_reservations(self, before: Lease, after: Lease) -> None:
        known = {each.id: (each, place) for place, each in enumerate(before.reservations)}
        new, others, revised = Rows(), Rows(), Rows()
        for place, each in enumerate(after.reservations):
            old, old_place = known.get(each.id, (None, place))
            if old is None:
                new.append({**reservation_row(each, place), "spec": self._specs.encode(each)})
                continue
            row = _without(reservation_row(each, place), "id", "lease_id", "created_at")
            row["row_id"] = each.id
            # A spec that did not change keeps its text, even if it is damaged or has an old format.
            if old.spec != each.spec:
                revised.append({**row, "spec": self._specs.encode(each)})
            elif old != each or old_place != place:
                others.append(row)
        self._connection.later(_INSERT[reservations], new)
        for rows in (others, revised):
            self._connection.later(_REPLACE_CHILD[reservations], rows)

    def _replace_events(self, before: Lease, after: Lease) -> None:
        known = {each.id for each in before.events}
        new = [event_row(each, after.id) for each in after.events if each.id not in known]
        self._connection.later(_INSERT[events], new)
        rows = [
            {"row_id": each.id, **_without(event_row(each, after.id), "id", "lease_id", "created_at")}
            for each in after.events
            if each.id in known and each not in before.events
        ]
        self._connection.later(_REPLACE_CHILD[events], rows)


def _distinct(rows: Iterable[sa.Row[*tuple[Any, ...]]], table: sa.Table[Any]) -> Rows:
    """Return the rows of one table in those of a join, each once; without a row of its own, it has nulls."""
    parts = ({name: row[place] for name, place in _PLACES[table]} for row in rows)
    return list({each["id"]: each for each in parts if each["id"] is not None}.values())


def _stamped(before: Lease, after: Lease, at: datetime) -> Lease:
    """Return *after* with its next revision, and with update times where something changed."""
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
