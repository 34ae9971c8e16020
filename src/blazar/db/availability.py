"""Reads for the in-memory index of bookings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from blazar.db.collections import OWN_TABLES
from blazar.db.connection import Connection
from blazar.db.plugin_resources import select_plugin_resources
from blazar.db.shares import read_demand, read_share
from blazar.db.tables import (
    Instant,
    allocations,
    maintenance_resources,
    offer_allocations,
    resource_changes,
    resources,
)
from blazar.domain.availability import Resource
from blazar.domain.bookings import Booking, BookingColumns
from blazar.domain.generations import GenerationSummary
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.ports.availability import Change

_ROWS_AT_ONCE: Final = 10_000
_BOOKING = (
    allocations.c.resource_id,
    allocations.c.reservation_id,
    allocations.c.start_at,
    allocations.c.end_at,
    allocations.c.released_at,
    allocations.c.slots,
    allocations.c.demand,
)
_OFFERED = (
    offer_allocations.c.resource_id,
    offer_allocations.c.reservation_id,
    offer_allocations.c.start_at,
    offer_allocations.c.end_at,
    offer_allocations.c.slots,
    offer_allocations.c.demand,
    offer_allocations.c.expires_at,
)
_MAINTAINED: tuple[sa.Column[Any], ...] = (
    maintenance_resources.c.resource_id,
    maintenance_resources.c.maintenance_id,
    maintenance_resources.c.start_at,
    maintenance_resources.c.end_at,
)
# A maintenance that was ended before its start books nothing.
_IS_BOOKED = maintenance_resources.c.start_at < maintenance_resources.c.end_at
_NUMBERS_AT_ONCE: Final = 1_000
_CHANGES: Final = (
    sa.select(
        resource_changes.c.sequence,
        resource_changes.c.resource_id,
        resource_changes.c.facts_changed,
        resource_changes.c.generation,
        resource_changes.c.reservation_id,
        resources.c.generation,
        *_BOOKING,
        *_OFFERED,
    )
    .outerjoin(
        resources,
        (resources.c.id == resource_changes.c.resource_id)
        & (resources.c.collection == sa.bindparam("collection")),
    )
    .outerjoin(
        allocations,
        (allocations.c.resource_id == resources.c.id)
        & (allocations.c.reservation_id == resource_changes.c.reservation_id),
    )
    .outerjoin(
        offer_allocations,
        (offer_allocations.c.resource_id == resources.c.id)
        & (offer_allocations.c.reservation_id == resource_changes.c.reservation_id),
    )
    .order_by(resource_changes.c.sequence)
)
"""Each change, once for each present booking of the resource by its reservation, and at least once.

If the reservation has allocations of the lease and of offers for it, each of these occurs several times."""
_IS_ABOVE: Final = resource_changes.c.sequence > sa.bindparam("above")
_CHANGES_ABOVE: Final = _CHANGES.where(_IS_ABOVE)
_CHANGES_OR_AMONG: Final = _CHANGES.where(
    sa.or_(_IS_ABOVE, resource_changes.c.sequence.in_(sa.bindparam("among", expanding=True)))
)
_SUMMARY: Final = sa.select(
    sa.func.count(), sa.func.coalesce(sa.func.sum(resources.c.generation % GenerationSummary.MODULUS), 0)
).where(resources.c.collection == sa.bindparam("collection"))


class SqlAvailability:
    """Implements :class:`blazar.ports.availability.AvailabilityReader`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def last_change(self) -> int:
        """Return the highest sequence number in the log; 0 if the log is empty."""
        return self._connection.scalar(sa.select(sa.func.max(resource_changes.c.sequence))) or 0

    def changes(self, collection: str, above: int, among: Collection[int] = ()) -> tuple[Change, ...]:
        """Return the log entries above a number, and the given ones, as seen from a collection."""
        if len(among) > _NUMBERS_AT_ONCE:
            above, among = min(among) - 1, ()
        values = {"collection": collection, "above": above}
        if among:
            rows = self._connection.execute(_CHANGES_OR_AMONG, {**values, "among": sorted(among)})
        else:
            rows = self._connection.execute(_CHANGES_ABOVE, values)
        return tuple(_change(list(group)) for _, group in groupby(rows, key=itemgetter(0)))

    def read(self, collection: str, resource_ids: Collection[ResourceId] | None) -> tuple[Resource, ...]:
        """Return these resources with their facts; for None, all resources of the collection."""
        own = OWN_TABLES.get(collection)
        if own is not None:
            return own.read(self._connection, resource_ids)
        discovered = select_plugin_resources(self._connection, collection, resource_ids)
        return tuple(each.as_resource() for each in discovered)

    def generations(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, int]:
        """Return the present generations; resources that are gone are omitted."""
        query = sa.select(resources.c.id, resources.c.generation).where(
            resources.c.id.in_(list(resource_ids))
        )
        return {ResourceId(row.id): row.generation for row in self._connection.execute(query)}

    def all_generations(self, collection: str) -> Mapping[ResourceId, int]:
        """Return the present generations of all resources of a collection."""
        query = sa.select(resources.c.id, resources.c.generation).where(resources.c.collection == collection)
        return {ResourceId(row.id): row.generation for row in self._connection.execute(query)}

    def generation_summary(self, collection: str) -> GenerationSummary:
        """Return the summary of all generations of a collection, computed by the database."""
        count, total = self._connection.execute(_SUMMARY, {"collection": collection}).one()
        return GenerationSummary(count, int(total))

    def bookings(self, resource_ids: Collection[ResourceId]) -> Iterable[Booking]:
        """Return the bookings of these resources."""
        query = sa.select(*_BOOKING).where(allocations.c.resource_id.in_(list(resource_ids)))
        for row in self._connection.execute(query):
            yield _booking(*row)
        offered = sa.select(*_OFFERED).where(offer_allocations.c.resource_id.in_(list(resource_ids)))
        for row in self._connection.execute(offered):
            yield _offered_booking(*row)
        maintained = sa.select(*_MAINTAINED).where(_IS_BOOKED)
        is_asked = maintenance_resources.c.resource_id.in_(list(resource_ids))
        for row in self._connection.execute(maintained.where(is_asked)):
            yield _maintenance_booking(row)

    def without_lease(self, collection: str) -> Iterable[Booking]:
        """Return all bookings of a collection's resources by offers and for maintenance."""
        is_ours = resources.c.collection == collection
        offered = sa.select(*_OFFERED).join(resources, resources.c.id == offer_allocations.c.resource_id)
        maintained = sa.select(*_MAINTAINED).where(_IS_BOOKED)
        maintained = maintained.join(resources, resources.c.id == maintenance_resources.c.resource_id)
        return [
            *(_offered_booking(*row) for row in self._connection.execute(offered.where(is_ours))),
            *(_maintenance_booking(row) for row in self._connection.execute(maintained.where(is_ours))),
        ]

    def all_bookings(self, collection: str, until: datetime | None = None) -> Iterator[BookingColumns]:
        """Yield the bookings of a collection's resources that start before *until*, part by part."""
        # Naive UTC, as stored: numpy converts it to numbers much faster than aware instants.
        columns = [
            sa.type_coerce(column, sa.DateTime) if isinstance(column.type, Instant) else column
            for column in _BOOKING
        ]
        own = sa.select(resources.c.id).where(resources.c.collection == collection)
        # The driver's objects for all rows together take many times the memory of the result.
        query = sa.select(*columns).where(allocations.c.resource_id.in_(own))
        if until is not None:
            query = query.where(allocations.c.start_at < until)
        found = self._connection.execute(query.execution_options(yield_per=_ROWS_AT_ONCE))
        for rows in found.partitions():
            yield _booking_columns(rows)

    def purge_changes(self, before: datetime) -> None:
        """Delete log entries older than *before*."""
        self._connection.execute(sa.delete(resource_changes).where(resource_changes.c.changed_at < before))


def _change(rows: Sequence[Sequence[Any]]) -> Change:
    """Return the change to which all these rows belong."""
    sequence, resource_id, facts_changed, generation, reservation_id, present, *_ = rows[0]
    return Change(
        sequence=sequence,
        resource_id=ResourceId(resource_id),
        facts_changed=facts_changed,
        generation=generation,
        reservation_id=reservation_id,
        present=present,
        bookings=(
            *dict.fromkeys(_booking(*row[6:13]) for row in rows if row[6] is not None),
            *dict.fromkeys(_offered_booking(*row[13:]) for row in rows if row[13] is not None),
        ),
    )


def _booking(  # noqa: PLR0913 — a row
    resource_id: str,
    reservation_id: str | None,
    start: datetime,
    end: datetime,
    released_at: datetime | None,
    slots: int | None,
    demand: str | None,
) -> Booking:
    return Booking(
        resource_id=ResourceId(resource_id),
        reservation_id=None if reservation_id is None else ReservationId(reservation_id),
        window=Interval(start, end),
        share=read_share(slots, demand),
        released_at=released_at,
    )


def _maintenance_booking(row: Any) -> Booking:
    """Return a booking that needs no release: it ends by itself."""
    return Booking(
        resource_id=ResourceId(row.resource_id),
        reservation_id=ReservationId(row.maintenance_id),
        window=Interval(row.start_at, row.end_at),
        released_at=row.end_at,
    )


def _offered_booking(  # noqa: PLR0913 — a row
    resource_id: str,
    reservation_id: str,
    start: datetime,
    end: datetime,
    slots: int | None,
    demand: str | None,
    expires_at: datetime,
) -> Booking:
    held = _booking(resource_id, reservation_id, start, end, None, slots, demand)
    return replace(held, expires_at=expires_at)


def _booking_columns(rows: Sequence[sa.Row[Any]]) -> BookingColumns:
    """Return selected bookings as columns."""
    resource_ids, reservation_ids, starts, ends, released, slots, demands = zip(*rows, strict=True)
    released_at = np.array(released, "datetime64[us]")
    held = np.isnat(released_at)
    ends_at = np.array(ends, "datetime64[us]").astype(np.int64)
    needed = [None if each is None else read_demand(each) for each in demands]
    return BookingColumns(
        resource_ids=resource_ids,
        reservation_ids=reservation_ids,
        starts=np.array(starts, "datetime64[us]").astype(np.int64),
        ends=np.where(held, ends_at, np.maximum(ends_at, released_at.astype(np.int64))),
        held=held,
        # A booking without a readable demand takes the whole resource.
        slots=np.array(
            [0 if demand is None else each or 0 for each, demand in zip(slots, needed, strict=True)], np.int32
        ),
        demands=needed,
    )
