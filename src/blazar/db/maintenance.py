"""Maintenances, and the resources that they book."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.collections import ALL_TABLES, NAME_COLUMNS
from blazar.db.connection import Connection
from blazar.db.shares import read_share
from blazar.db.tables import (
    allocations,
    maintenance_resources,
    maintenances,
    reservations,
    resources,
)
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, LeaseId, ReservationId, ResourceId
from blazar.domain.maintenance import Maintenance
from blazar.domain.portions import in_portions
from blazar.ports.maintenance import AffectedAllocation

_AT_ONCE: Final = 10_000
"""The most values in one statement; databases allow at least 32,000."""
_NAME: Final = sa.func.coalesce(*NAME_COLUMNS, resources.c.id).label("name")


class SqlMaintenances:
    """Implements :class:`blazar.ports.maintenance.MaintenanceStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, maintenance_id: str) -> Maintenance | None:
        """Return a maintenance, or None."""
        return next(iter(self._read(maintenances.c.id == maintenance_id)), None)

    def list(self, *, ending_after: datetime | None = None) -> Sequence[Maintenance]:
        """Return the maintenances that end after an instant, or all, by their starts."""
        return self._read(sa.true() if ending_after is None else maintenances.c.end_at > ending_after)

    def insert(self, maintenance: Maintenance) -> None:
        """Add a maintenance with its bookings."""
        row = {
            "id": maintenance.id,
            "resource_type": maintenance.resource_type,
            "reason": maintenance.reason,
            "start_at": maintenance.start,
            "end_at": maintenance.end,
            "leaves_pool": maintenance.leaves_pool,
            "user_id": maintenance.user_id,
            "created_at": maintenance.created_at,
        }
        self._connection.execute(sa.insert(maintenances), [row])
        rows = [
            {
                "maintenance_id": maintenance.id,
                "resource_id": each,
                "start_at": maintenance.start,
                "end_at": maintenance.end,
            }
            for each in maintenance.resource_ids
        ]
        if rows:
            self._connection.execute(sa.insert(maintenance_resources), rows)

    def replace(self, before: Maintenance, after: Maintenance) -> None:
        """Replace a maintenance; raise ConcurrentUpdate if it was changed or deleted meanwhile."""
        own = maintenances.c.id == before.id
        # With the lock, the maintenance and its resources stay as they are read next.
        locked = self._connection.scalar(sa.select(maintenances.c.id).where(own).with_for_update())
        if locked is None or self.find(before.id) != before:
            raise ConcurrentUpdate("The maintenance was changed or deleted concurrently")
        self.delete(before)
        self.insert(after)

    def delete(self, maintenance: Maintenance) -> None:
        """Delete a maintenance with its bookings."""
        self._connection.execute(sa.delete(maintenances).where(maintenances.c.id == maintenance.id))

    def list_ended(self, before: datetime) -> Sequence[Maintenance]:
        """Return the maintenances that ended before an instant."""
        return self._read(maintenances.c.end_at < before)

    def allocations_within(
        self, resource_ids: Collection[ResourceId], window: Interval
    ) -> Sequence[AffectedAllocation]:
        """Return the unreleased allocations of these resources that overlap a window."""
        return [
            AffectedAllocation(
                lease_id=LeaseId(row.lease_id),
                allocation=Allocation(
                    resource_id=ResourceId(row.resource_id),
                    reservation_id=ReservationId(row.reservation_id),
                    window=Interval(row.start_at, row.end_at),
                    share=read_share(row.slots, row.demand),
                ),
            )
            for some in in_portions(sorted(resource_ids), _AT_ONCE)
            for row in self._connection.execute(_within(some, window))
        ]

    def find_names(self, collection: str, names: Collection[str]) -> Mapping[str, ResourceId]:
        """Return the resources of a collection that have one of these names or ids."""
        wanted = set(names)
        query = _names().where(resources.c.collection == collection)
        found: dict[str, ResourceId] = {}
        for row in self._connection.execute(query):
            found.update({each: ResourceId(row.id) for each in (row.id, row.name) if each in wanted})
        return found

    def names_of(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, str]:
        """Return the names by which operators know these resources."""
        return {
            ResourceId(row.id): str(row.name)
            for some in in_portions(sorted(resource_ids), _AT_ONCE)
            for row in self._connection.execute(_names().where(resources.c.id.in_(some)))
        }

    def _read(self, which: sa.ColumnElement[bool]) -> Sequence[Maintenance]:
        order = (maintenances.c.start_at, maintenances.c.id)
        rows = self._connection.execute(sa.select(maintenances).where(which).order_by(*order)).all()
        booked: dict[str, list[ResourceId]] = defaultdict(list)
        for maintenance_id, resource_id in self._booked(which) if rows else ():
            booked[maintenance_id].append(resource_id)
        return [
            Maintenance(
                id=row.id,
                resource_type=row.resource_type,
                resource_ids=tuple(booked[row.id]),
                reason=row.reason,
                start=row.start_at,
                end=row.end_at,
                leaves_pool=row.leaves_pool,
                user_id=row.user_id,
                created_at=row.created_at,
            )
            for row in rows
        ]

    def _booked(self, which: sa.ColumnElement[bool]) -> Iterator[tuple[str, ResourceId]]:
        query = (
            sa.select(maintenance_resources.c.maintenance_id, maintenance_resources.c.resource_id)
            .select_from(maintenance_resources.join(maintenances))
            .where(which)
            .order_by(maintenance_resources.c.id)
        )
        for row in self._connection.execute(query):
            yield row.maintenance_id, ResourceId(row.resource_id)


def _within(resource_ids: Sequence[ResourceId], window: Interval) -> sa.Select[Any]:
    return (
        sa.select(allocations, reservations.c.lease_id)
        .select_from(allocations.join(reservations))
        .where(
            allocations.c.resource_id.in_(resource_ids),
            allocations.c.start_at < window.end,
            allocations.c.end_at > window.start,
            allocations.c.released_at.is_(None),
        )
        .order_by(allocations.c.start_at, allocations.c.id)
    )


def _names() -> sa.Select[Any]:
    query = sa.select(resources.c.id, _NAME)
    for table in ALL_TABLES:
        query = query.outerjoin(table, table.c.id == resources.c.id)
    return query.order_by(_NAME)
