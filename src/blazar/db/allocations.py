"""Allocations, and the generations that protect them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from blazar.db.changes import note_bookings, note_changes
from blazar.db.collections import ALL_TABLES, NAME_COLUMNS
from blazar.db.connection import Connection
from blazar.db.generations import claim, increment
from blazar.db.lease_pages import dates_within
from blazar.db.shares import read_share, share_columns
from blazar.db.tables import allocations, leases, offer_allocations, reservations, resources
from blazar.db.usage_records import record_held
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, LeaseId, ReservationId, ReservationStatus, ResourceId
from blazar.domain.offers import EXPIRY_GRACE
from blazar.ports.allocations import BookedWindow, DateRanges, EarlierHolder, HeldResource, Holder
from blazar.ports.clock import Clock

_UNRELEASED = allocations.c.released_at.is_(None)
# Built once: building a statement takes longer than executing it.
_INSERT: Final = sa.insert(allocations)
_OF_RESERVATIONS: Final = (
    sa.select(allocations)
    .where(allocations.c.reservation_id.in_(sa.bindparam("reservation_ids", expanding=True)), _UNRELEASED)
    .order_by(allocations.c.id)
)
_AT: Final = allocations.c.start_at.type
_WINDOW_END: Final = sa.bindparam("window_end", type_=_AT)
_MOVE: Final = (
    sa.update(allocations)
    .where(allocations.c.reservation_id == sa.bindparam("of_reservation"), _UNRELEASED)
    .values(
        start_at=sa.case(
            (
                sa.and_(
                    allocations.c.start_at > sa.bindparam("began", type_=_AT),
                    allocations.c.start_at < _WINDOW_END,
                ),
                allocations.c.start_at,
            ),
            else_=sa.bindparam("window_start", type_=_AT),
        ),
        end_at=_WINDOW_END,
    )
)
_REMOVE: Final = sa.delete(allocations).where(
    allocations.c.reservation_id == sa.bindparam("of_reservation"), _UNRELEASED
)
_REMOVE_ONE: Final = _REMOVE.where(allocations.c.resource_id == sa.bindparam("of_resource"))
_REMOVE_MANY: Final = _REMOVE.where(
    allocations.c.resource_id.in_(sa.bindparam("of_resources", expanding=True))
)
_FEW: Final = 10
"""A number of allocations that are deleted by a statement each, sent together with other statements."""


class SqlAllocations:
    """Implements :class:`blazar.ports.allocations.AllocationStore`."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    def of_reservations(self, reservation_ids: Collection[ReservationId]) -> tuple[Allocation, ...]:
        """Return the unreleased allocations of these reservations."""
        if not reservation_ids:
            return ()
        found = self._connection.execute(_OF_RESERVATIONS, {"reservation_ids": list(reservation_ids)})
        return tuple(
            Allocation(
                resource_id=row.resource_id,
                reservation_id=row.reservation_id,
                window=Interval(row.start_at, row.end_at),
                share=read_share(row.slots, row.demand),
            )
            for row in found
        )

    def holders_of(self, project_id: str) -> Mapping[ReservationId, str | None]:
        """Return the reservations of a project that have allocations, with the users of their leases."""
        query = (
            sa.select(reservations.c.id, leases.c.user_id)
            .select_from(leases.join(reservations).join(allocations))
            .where(leases.c.project_id == project_id)
            .distinct()
        )
        return {ReservationId(row.id): row.user_id for row in self._connection.execute(query)}

    def claim(
        self,
        expected: Mapping[ResourceId, int],
        changing: Collection[tuple[ResourceId, ReservationId]] = (),
    ) -> None:
        """Increment these generations; raise ConcurrentUpdate if one is not as expected."""
        if not expected:
            return
        claim(self._connection, expected)
        if changing:
            generations = {key: generation + 1 for key, generation in expected.items()}
            note_bookings(self._connection, changing, generations, self._clock.now())
        rest = expected.keys() - {resource_id for resource_id, _ in changing}
        if rest:
            note_changes(self._connection, rest, self._clock.now(), facts_changed=False)

    def touch(self, resource_ids: Collection[ResourceId]) -> None:
        """Increment the generations of these resources."""
        if not resource_ids:
            return
        increment(self._connection, resource_ids)
        note_changes(self._connection, resource_ids, self._clock.now(), facts_changed=False)

    def touch_bookings(self, changed: Collection[tuple[ResourceId, ReservationId]]) -> None:
        """Increment the generations of resources of which only these reservations' allocations change."""
        resource_ids = sorted({resource_id for resource_id, _ in changed})
        if not resource_ids:
            return
        increment(self._connection, resource_ids)
        query = sa.select(resources.c.id, resources.c.generation).where(resources.c.id.in_(resource_ids))
        generations = {row.id: row.generation for row in self._connection.execute(query)}
        note_bookings(self._connection, changed, generations, self._clock.now())

    def insert(self, new: Sequence[Allocation]) -> None:
        """Add allocations."""
        self._connection.later(
            _INSERT,
            [
                {
                    "resource_id": each.resource_id,
                    "reservation_id": each.reservation_id,
                    "start_at": each.window.start,
                    "end_at": each.window.end,
                    "exclusive_resource_id": each.resource_id if each.share is None else None,
                    **share_columns(each.share),
                    "released_at": each.released_at,
                }
                for each in new
            ],
        )

    def move(
        self, reservation_ids: Collection[ReservationId], window: Interval, *, began_at: datetime
    ) -> None:
        """Move the unreleased allocations of these reservations to another window."""
        times = {"window_start": window.start, "window_end": window.end, "began": began_at}
        self._connection.later(_MOVE, [{"of_reservation": each, **times} for each in reservation_ids])

    def remove(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId] | None = None
    ) -> None:
        """Delete unreleased allocations of a reservation; None: all of them."""
        if resource_ids is not None and not resource_ids:
            return
        record_held(self._connection, reservation_id, resource_ids, self._clock.now())
        of_reservation = {"of_reservation": reservation_id}
        if resource_ids is None:
            self._connection.later(_REMOVE, [of_reservation])
        elif len(resource_ids) <= _FEW:
            rows = [{**of_reservation, "of_resource": each} for each in resource_ids]
            self._connection.later(_REMOVE_ONE, rows)
        else:
            self._connection.execute(_REMOVE_MANY, {**of_reservation, "of_resources": list(resource_ids)})

    def remove_future(self, reservation_ids: Collection[ReservationId]) -> None:
        """Delete the allocations of reservations; all of them begin later, so that no use is recorded."""
        self._connection.later(_REMOVE, [{"of_reservation": each} for each in reservation_ids])

    def release(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId], at: datetime | None
    ) -> None:
        """Record that resources were observed free; without an instant, delete their allocations."""
        if not resource_ids:
            return
        if at is None:
            self.remove(reservation_id, resource_ids)
        else:
            record_held(self._connection, reservation_id, resource_ids, at)
            which = (
                allocations.c.reservation_id == reservation_id,
                allocations.c.resource_id.in_(resource_ids),
            )
            released = sa.update(allocations).where(*which, _UNRELEASED).values(released_at=at)
            self._connection.execute(released)
        self.touch(resource_ids)

    def purge_released(self, before: datetime) -> bool:
        """Delete allocations released before this instant; return whether there were any."""
        purged = allocations.c.released_at < before
        gone = list(self._connection.scalars(sa.select(allocations.c.resource_id).where(purged)))
        if gone:
            self._connection.execute(sa.delete(allocations).where(purged))
            self.touch(set(gone))
        return bool(gone)

    def held_before(
        self, reservation_ids: Collection[ReservationId], start: datetime
    ) -> Mapping[ResourceId, EarlierHolder]:
        """Return resources of these reservations that an earlier allocation still holds."""
        if not reservation_ids:
            return {}
        own = allocations.alias("own")
        is_over = allocations.c.end_at <= start
        is_whole = sa.or_(own.c.slots.is_(None), allocations.c.slots.is_(None))
        query = (
            sa.select(allocations.c.resource_id, allocations.c.reservation_id, allocations.c.end_at)
            .join(own, own.c.resource_id == allocations.c.resource_id)
            .where(
                own.c.reservation_id.in_(list(reservation_ids)),
                own.c.released_at.is_(None),
                allocations.c.reservation_id.not_in(list(reservation_ids)),
                allocations.c.start_at < start,
                _UNRELEASED,
                # Several reservations hold shares of one resource at the same time.
                sa.or_(is_whole, is_over),
            )
        )
        return {
            row.resource_id: EarlierHolder(reservation_id=row.reservation_id, end=row.end_at)
            for row in self._connection.execute(query)
        }

    def waiting_leases(self, resource_ids: Collection[ResourceId], now: datetime) -> tuple[LeaseId, ...]:
        """Return the leases whose start has passed and that may wait for one of these resources."""
        is_pending = reservations.c.status == ReservationStatus.PENDING.value
        query = (
            sa.select(reservations.c.lease_id)
            .join(allocations, allocations.c.reservation_id == reservations.c.id)
            .where(
                allocations.c.resource_id.in_(list(resource_ids)),
                allocations.c.start_at <= now,
                _UNRELEASED,
                # Many reservations hold shares of one host; those that have started do not wait.
                sa.or_(allocations.c.slots.is_(None), is_pending),
            )
            .distinct()
        )
        return tuple(LeaseId(each) for each in self._connection.scalars(query))

    def list_booked(
        self,
        *,
        now: datetime,
        resource_id: ResourceId | None = None,
        lease_id: str | None = None,
        reservation_id: str | None = None,
        resource_ids: Collection[ResourceId] | None = None,
        dates: DateRanges | None = None,
    ) -> tuple[BookedWindow, ...]:
        """Return current and future allocations; with a lease or reservation, all of that one."""
        query = (
            sa.select(
                allocations.c.resource_id,
                allocations.c.reservation_id,
                reservations.c.lease_id,
                leases.c.start_at,
                leases.c.end_at,
                allocations.c.slots,
            )
            .select_from(allocations)
            .join(reservations, reservations.c.id == allocations.c.reservation_id)
            .join(leases, leases.c.id == reservations.c.lease_id)
            .where(_UNRELEASED)
            .order_by(leases.c.start_at, allocations.c.id)
        )
        if resource_id is not None:
            query = query.where(allocations.c.resource_id == resource_id)
        if resource_ids is not None:
            query = query.where(allocations.c.resource_id.in_(list(resource_ids)))
        if dates is not None:
            query = query.where(*dates_within(dates))
        if lease_id:
            query = query.where(leases.c.id == lease_id)
        if reservation_id:
            query = query.where(reservations.c.id == reservation_id)
        if not lease_id and not reservation_id:
            query = query.where(leases.c.end_at >= now)
        return tuple(
            BookedWindow(
                resource_id=row.resource_id,
                reservation_id=row.reservation_id,
                lease_id=row.lease_id,
                start=row.start_at,
                end=row.end_at,
            )
            for row in self._connection.execute(query)
            for _ in range(row.slots or 1)
        )

    def list_holders(self, collection: str) -> Mapping[ResourceId, tuple[Holder, ...]]:
        """Return the holders of each resource of a collection, in one statement."""
        query = (
            sa.select(
                allocations.c.resource_id,
                allocations.c.reservation_id,
                allocations.c.start_at,
                leases.c.project_id,
            )
            .join(resources, resources.c.id == allocations.c.resource_id)
            .join(reservations, reservations.c.id == allocations.c.reservation_id)
            .join(leases, leases.c.id == reservations.c.lease_id)
            .where(resources.c.collection == collection, _UNRELEASED)
            .order_by(allocations.c.start_at, allocations.c.id)
        )
        found: dict[ResourceId, list[Holder]] = defaultdict(list)
        for row in self._connection.execute(query):
            holder = Holder(
                reservation_id=ReservationId(row.reservation_id),
                project_id=row.project_id,
                start=row.start_at,
            )
            found[ResourceId(row.resource_id)].append(holder)
        return {key: tuple(holders) for key, holders in found.items()}

    def list_held(self, lease_id: LeaseId) -> tuple[HeldResource, ...]:
        """Return the resources that a lease's reservations hold, by resource name, in one statement."""
        name = sa.func.coalesce(*NAME_COLUMNS, allocations.c.resource_id).label("name")
        query = sa.select(allocations, name).join(
            reservations, reservations.c.id == allocations.c.reservation_id
        )
        for table in ALL_TABLES:
            query = query.outerjoin(table, table.c.id == allocations.c.resource_id)
        query = query.where(reservations.c.lease_id == lease_id, _UNRELEASED)
        query = query.order_by(name, allocations.c.id)
        return tuple(
            HeldResource(
                reservation_id=row.reservation_id,
                resource_id=row.resource_id,
                name=row.name,
                slots=row.slots,
                window=Interval(row.start_at, row.end_at),
            )
            for row in self._connection.execute(query)
        )

    def count_held(self, lease_ids: Collection[LeaseId]) -> Mapping[LeaseId, Mapping[ReservationId, int]]:
        """Return the number of resources and slots that each reservation of these leases holds."""
        if not lease_ids:
            return {}
        held: dict[LeaseId, dict[ReservationId, int]] = defaultdict(dict)
        amount = sa.func.sum(sa.func.coalesce(allocations.c.slots, 1))
        query = (
            sa.select(reservations.c.lease_id, allocations.c.reservation_id, amount)
            .join(reservations, reservations.c.id == allocations.c.reservation_id)
            .where(reservations.c.lease_id.in_(list(lease_ids)), _UNRELEASED)
            .group_by(reservations.c.lease_id, allocations.c.reservation_id)
        )
        for lease_id, reservation_id, count in self._connection.execute(query):
            held[LeaseId(lease_id)][ReservationId(reservation_id)] = int(count)
        return dict(held)

    def list_overlaps(self, limit: int) -> tuple[tuple[ResourceId, LeaseId, LeaseId], ...]:
        """Return resources that two leases hold at the same time, one of them exclusively."""
        one, other = allocations.alias("one"), allocations.alias("other")
        first, second = reservations.alias("first"), reservations.alias("second")
        query = (
            sa.select(one.c.resource_id, first.c.lease_id, second.c.lease_id)
            .join(other, other.c.resource_id == one.c.resource_id)
            .join(first, first.c.id == one.c.reservation_id)
            .join(second, second.c.id == other.c.reservation_id)
            .where(
                one.c.id < other.c.id,
                one.c.start_at < other.c.end_at,
                other.c.start_at < one.c.end_at,
                one.c.released_at.is_(None),
                other.c.released_at.is_(None),
                sa.or_(one.c.slots.is_(None), other.c.slots.is_(None)),
            )
            .order_by(one.c.resource_id, one.c.id, other.c.id)
            .limit(limit)
        )
        return tuple(
            (ResourceId(row[0]), LeaseId(row[1]), LeaseId(row[2])) for row in self._connection.execute(query)
        )

    def count_on(self, resource_id: ResourceId) -> int:
        """Return the number of allocations of a resource, with those of offers that have not expired."""
        queries = (
            sa.select(sa.func.count()).where(allocations.c.resource_id == resource_id),
            sa.select(sa.func.count()).where(
                offer_allocations.c.resource_id == resource_id,
                offer_allocations.c.expires_at > self._clock.now() - EXPIRY_GRACE,
            ),
        )
        return sum(self._connection.scalars(query).one() for query in queries)
