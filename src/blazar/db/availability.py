"""What the in-memory index of bookings reads, and the database's own last word on what is free."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

import numpy as np
import sqlalchemy as sa

from blazar.db.hosts import select_hosts
from blazar.db.tables import Instant, allocations, resource_changes, resources
from blazar.domain.availability import Booking, BookingColumns, Resource
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId

_BOOKING = (
    allocations.c.resource_id,
    allocations.c.reservation_id,
    allocations.c.start_at,
    allocations.c.end_at,
    allocations.c.released_at,
)


class SqlAvailability:
    """Implements :class:`blazar.ports.store.AvailabilityReader`."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def last_change(self) -> int:
        """Return the highest sequence number in the log, 0 for an empty one."""
        return self._connection.scalar(sa.select(sa.func.max(resource_changes.c.sequence))) or 0

    def changes_after(self, sequence: int) -> tuple[tuple[int, ResourceId, bool], ...]:
        """Return (sequence number, resource, whether facts changed), ascending."""
        query = (
            sa.select(
                resource_changes.c.sequence, resource_changes.c.resource_id, resource_changes.c.facts_changed
            )
            .where(resource_changes.c.sequence > sequence)
            .order_by(resource_changes.c.sequence)
        )
        return tuple((row[0], ResourceId(row[1]), row[2]) for row in self._connection.execute(query))

    def read(self, collection: str, resource_ids: Collection[ResourceId] | None) -> tuple[Resource, ...]:
        """Return these resources with their facts, or all of the collection."""
        if collection != "host":
            return ()
        return tuple(host.as_resource() for host in select_hosts(self._connection, resource_ids))

    def generations(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, int]:
        """Return the present generations; resources that are gone are missing."""
        query = sa.select(resources.c.id, resources.c.generation).where(
            resources.c.id.in_(list(resource_ids))
        )
        return {ResourceId(row.id): row.generation for row in self._connection.execute(query)}

    def bookings(self, resource_ids: Collection[ResourceId]) -> Iterable[Booking]:
        """Return the bookings of these resources."""
        query = sa.select(*_BOOKING).where(allocations.c.resource_id.in_(list(resource_ids)))
        for resource_id, reservation_id, start, end, released_at in self._connection.execute(query):
            yield Booking(
                resource_id=resource_id,
                reservation_id=reservation_id,
                window=Interval(start, end),
                released_at=released_at,
            )

    def all_bookings(self) -> BookingColumns:
        """Return all bookings there are."""
        # Naive UTC, as it is stored: numpy makes numbers of it much faster than aware instants.
        columns = [
            sa.type_coerce(column, sa.DateTime) if isinstance(column.type, Instant) else column
            for column in _BOOKING
        ]
        rows = self._connection.execute(sa.select(*columns)).all()
        resource_ids, reservation_ids, starts, ends, released = (
            zip(*rows, strict=True) if rows else ((), (), (), (), ())
        )
        released_at = np.array(released, "datetime64[us]")
        held = np.isnat(released_at)
        ends_at = np.array(ends, "datetime64[us]").astype(np.int64)
        return BookingColumns(
            resource_ids=resource_ids,
            reservation_ids=reservation_ids,
            starts=np.array(starts, "datetime64[us]").astype(np.int64),
            ends=np.where(held, ends_at, np.maximum(ends_at, released_at.astype(np.int64))),
            held=held,
        )

    def free(
        self, collection: str, window: Interval, now: datetime, ignoring: ReservationId | None
    ) -> Mapping[ResourceId, int]:
        """Return the resources nobody else has booked in *window*, with their generations."""
        given_back_later = allocations.c.released_at > window.start
        conflict = sa.and_(
            allocations.c.start_at < window.end,
            sa.or_(allocations.c.end_at > window.start, given_back_later),
        )
        if window.start <= now:
            overdue = sa.and_(allocations.c.released_at.is_(None), allocations.c.end_at <= now)
            conflict = sa.or_(conflict, overdue)
        booked = sa.select(sa.literal(1)).where(allocations.c.resource_id == resources.c.id, conflict)
        if ignoring is not None:
            booked = booked.where(allocations.c.reservation_id.is_distinct_from(ignoring))
        query = sa.select(resources.c.id, resources.c.generation).where(
            resources.c.collection == collection, ~booked.exists()
        )
        return {ResourceId(row.id): row.generation for row in self._connection.execute(query)}

    def purge_changes(self, before: datetime) -> None:
        """Forget entries of the log that are older than this."""
        self._connection.execute(sa.delete(resource_changes).where(resource_changes.c.changed_at < before))
