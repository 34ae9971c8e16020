"""Reading the records of usage, and recording observations of use."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.collections import ALL_TABLES, NAME_COLUMNS, OWN_TABLES
from blazar.db.connection import Connection
from blazar.db.plugin_resources import select_plugin_resources
from blazar.db.refused_requests import list_refused, record_refused
from blazar.db.shares import read_share
from blazar.db.specs import SpecColumn
from blazar.db.tables import (
    allocations,
    failed_periods,
    held_periods,
    leases,
    observed_periods,
    past_facts,
    refused_requests,
    reservation_states,
    reservations,
    resources,
    usage_start,
    used_periods,
)
from blazar.db.usage_records import recorded_amounts, recorded_facts
from blazar.domain.availability import Resource
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, LeaseId, ReservationId, ReservationStatus, ResourceId
from blazar.domain.portions import in_portions
from blazar.domain.usage.records import Holding, ReservationState, ResourceFacts, UsageRecords, UsedUnits
from blazar.ports.usage import UsageFilter, UsedBy

_AT_ONCE: Final = 1_000
"""The most ids in one statement."""


class SqlUsage:
    """Implements :class:`blazar.ports.usage.UsageStore`."""

    def __init__(self, connection: Connection, specs: SpecColumn) -> None:
        self._connection = connection
        self._specs = specs

    def read(self, window: Interval, which: UsageFilter, now: datetime) -> UsageRecords:
        """Return the records about a window."""
        holdings = [*self._past(window, which), *self._present(window, which)]
        reservation_ids = sorted({each.reservation_id for each in holdings})
        resource_ids = sorted({each.resource_id for each in holdings})
        observed = self._observed(window)
        return UsageRecords(
            holdings=holdings,
            states=self._states(reservation_ids),
            failures=self._failures(resource_ids, now),
            used=self._used(reservation_ids),
            arrived=self.arrived(reservation_ids),
            observed=observed,
            facts=self._facts(resource_ids),
            complete_since=self.complete_since(),
        )

    def complete_since(self) -> datetime | None:
        """Return the instant before which leases that have ended may be missing; None if none is."""
        found: datetime | None = self._connection.scalar(sa.select(usage_start.c.at))
        return found

    def start_at(self, at: datetime) -> None:
        """Record that leases which ended before an instant may be missing; a later instant stays."""
        known = self.complete_since()
        if known is None:
            self._connection.execute(sa.insert(usage_start), [{"at": at}])
        elif known < at:
            self._connection.execute(sa.update(usage_start).values(at=at))

    def list_held(self, window: Interval) -> Sequence[Holding]:
        """Return what reservations held or hold in a window."""
        everything = UsageFilter()
        return [*self._past(window, everything), *self._present(window, everything)]

    def arrived(self, reservation_ids: Collection[ReservationId]) -> frozenset[ReservationId]:
        """Return the given reservations that were ever seen in use."""
        found = set(_rows(self._connection, used_periods, "reservation_id", sorted(reservation_ids)))
        return frozenset(ReservationId(row.reservation_id) for row in found)

    def _past(self, window: Interval, which: UsageFilter) -> Iterator[Holding]:
        past = held_periods.c
        query = sa.select(held_periods).where(past.end_at > window.start, past.start_at < window.end)
        if which.project_id is not None:
            query = query.where(past.project_id == which.project_id)
        if which.resource_type is not None:
            query = query.where(past.resource_type == which.resource_type)
        return (_holding(row) for row in self._connection.execute(query.order_by(past.id)))

    def _present(self, window: Interval, which: UsageFilter) -> Iterator[Holding]:
        held = allocations.c
        query = (
            sa.select(leases.c.project_id, leases.c.user_id, reservations.c.resource_type, allocations)
            .select_from(leases.join(reservations).join(allocations))
            .where(held.released_at.is_(None), held.end_at > window.start, held.start_at < window.end)
        )
        if which.project_id is not None:
            query = query.where(leases.c.project_id == which.project_id)
        if which.resource_type is not None:
            query = query.where(reservations.c.resource_type == which.resource_type)
        return (_holding(row) for row in self._connection.execute(query.order_by(held.id)))

    def _states(
        self, reservation_ids: Sequence[ReservationId]
    ) -> Mapping[ReservationId, Sequence[ReservationState]]:
        found: dict[ReservationId, list[ReservationState]] = defaultdict(list)
        for row in _rows(self._connection, reservation_states, "reservation_id", reservation_ids):
            state = ReservationState(
                since=row.since_at,
                status=ReservationStatus(row.status),
                is_missing=row.missing_resources,
            )
            found[row.reservation_id].append(state)
        return found

    def _failures(
        self, resource_ids: Sequence[ResourceId], now: datetime
    ) -> Mapping[ResourceId, Sequence[Interval]]:
        found: dict[ResourceId, list[Interval]] = defaultdict(list)
        for row in _rows(self._connection, failed_periods, "resource_id", resource_ids):
            end = row.end_at or now
            if row.start_at < end:
                found[row.resource_id].append(Interval(row.start_at, end))
        return found

    def _used(
        self, reservation_ids: Sequence[ReservationId]
    ) -> Mapping[tuple[ReservationId, ResourceId], Sequence[UsedUnits]]:
        found: dict[tuple[ReservationId, ResourceId], list[UsedUnits]] = defaultdict(list)
        # Without an end, a use lasts as long as it is observed; the observed periods tell how long that is.
        for row in _rows(self._connection, used_periods, "reservation_id", reservation_ids):
            used = Interval.at_least_an_instant(row.start_at, row.end_at or _FAR)
            found[row.reservation_id, row.resource_id].append(UsedUnits(window=used, units=row.units))
        return found

    def _observed(self, window: Interval) -> Mapping[str, Sequence[Interval]]:
        periods = observed_periods.c
        query = sa.select(observed_periods).where(
            periods.end_at > window.start, periods.start_at < window.end, periods.start_at < periods.end_at
        )
        found: dict[str, list[Interval]] = defaultdict(list)
        for row in self._connection.execute(query.order_by(periods.id)):
            found[row.resource_type].append(Interval(row.start_at, row.end_at))
        return found

    def _facts(self, resource_ids: Sequence[ResourceId]) -> Mapping[ResourceId, Sequence[ResourceFacts]]:
        found: dict[ResourceId, list[ResourceFacts]] = defaultdict(list)
        for row in _rows(self._connection, past_facts, "resource_id", resource_ids):
            past = ResourceFacts(
                until=row.until_at,
                name=row.name,
                values=json.loads(row.facts),
                amounts=json.loads(row.amounts),
            )
            found[row.resource_id].append(past)
        for some in in_portions(resource_ids, _AT_ONCE):
            names = self._names(some)
            for each in self._resources(some):
                present = ResourceFacts(
                    until=None,
                    name=names[each.id],
                    values=recorded_facts(each),
                    amounts=recorded_amounts(each),
                )
                found[each.id].append(present)
        return found

    def _resources(self, resource_ids: Sequence[ResourceId]) -> Iterator[Resource]:
        for own in OWN_TABLES.values():
            yield from own.read(self._connection, resource_ids)
        for each in select_plugin_resources(self._connection, resource_ids=resource_ids):
            yield each.as_resource()

    def _names(self, resource_ids: Sequence[ResourceId]) -> Mapping[ResourceId, str]:
        query = sa.select(resources.c.id, sa.func.coalesce(*NAME_COLUMNS, resources.c.id).label("name"))
        for table in ALL_TABLES:
            query = query.outerjoin(table, table.c.id == resources.c.id)
        found = self._connection.execute(query.where(resources.c.id.in_(resource_ids)))
        return {ResourceId(row.id): row.name for row in found}

    def list_active(self) -> tuple[LeaseId, ...]:
        """Return the leases that have active reservations."""
        is_active = reservations.c.status == ReservationStatus.ACTIVE.value
        query = sa.select(reservations.c.lease_id).where(is_active).distinct()
        return tuple(LeaseId(each) for each in self._connection.scalars(query))

    def observe(self, resource_type: str, used: UsedBy, now: datetime, most: timedelta) -> None:
        """Record what reservations of a type use now."""
        periods = observed_periods.c
        last = self._last_observed(resource_type)
        if last is not None and last.end_at <= now <= last.end_at + most:
            extended = sa.update(observed_periods).where(periods.id == last.id).values(end_at=now)
            self._connection.execute(extended)
        elif last is None or last.end_at < now:
            row = {"resource_type": resource_type, "start_at": now, "end_at": now}
            self._connection.execute(sa.insert(observed_periods), [row])
        self._replace_used(resource_type, {key: units for key, units in used.items() if units}, now)

    def _replace_used(self, resource_type: str, used: UsedBy, now: datetime) -> None:
        """Close the periods of numbers that changed, and open those of new ones."""
        open_now = {
            (ReservationId(row.reservation_id), ResourceId(row.resource_id)): row
            for row in self._connection.execute(
                sa.select(used_periods).where(
                    used_periods.c.end_at.is_(None), used_periods.c.resource_type == resource_type
                )
            )
        }
        changed = [row.id for key, row in open_now.items() if used.get(key) != row.units]
        for some in in_portions(changed, _AT_ONCE):
            closed = sa.update(used_periods).where(used_periods.c.id.in_(some)).values(end_at=now)
            self._connection.execute(closed)
        same = {key for key, row in open_now.items() if used.get(key) == row.units}
        rows = [
            {
                "reservation_id": reservation_id,
                "resource_type": resource_type,
                "resource_id": resource_id,
                "units": units,
                "start_at": now,
            }
            for (reservation_id, resource_id), units in sorted(used.items())
            if (reservation_id, resource_id) not in same
        ]
        if rows:
            self._connection.execute(sa.insert(used_periods), rows)

    def last_observed(self, resource_type: str) -> Interval | None:
        """Return the newest period of observations of a type; None before the second one."""
        last = self._last_observed(resource_type)
        return None if last is None or last.end_at <= last.start_at else Interval(last.start_at, last.end_at)

    def _last_observed(self, resource_type: str) -> Any:
        newest = sa.select(observed_periods).where(observed_periods.c.resource_type == resource_type)
        newest = newest.order_by(observed_periods.c.id.desc()).limit(1)
        return self._connection.execute(newest).first()

    def usable_since(self, reservation_ids: Collection[ReservationId]) -> Mapping[ReservationId, datetime]:
        """Return the instant from which each reservation has been active without missing resources."""
        found: dict[ReservationId, datetime] = {}
        for row in _rows(self._connection, reservation_states, "reservation_id", sorted(reservation_ids)):
            if row.status == ReservationStatus.ACTIVE.value and not row.missing_resources:
                found.setdefault(ReservationId(row.reservation_id), row.since_at)
            else:
                found.pop(ReservationId(row.reservation_id), None)
        return found

    def record_refused(self, lease: Lease, now: datetime) -> bool:
        """Record a refused request; return whether it was added."""
        return record_refused(self._connection, self._specs, lease, now)

    def list_refused(self, since: datetime) -> Sequence[Lease]:
        """Return the requests that were refused since an instant."""
        return list_refused(self._connection, self._specs, since)

    def delete_before(self, before: datetime) -> int:
        """Delete records of periods that ended before an instant."""
        held = held_periods.c
        gone = self._connection.execute(sa.delete(held_periods).where(held.end_at < before)).rowcount
        for table, column in (
            (failed_periods, failed_periods.c.end_at),
            (past_facts, past_facts.c.until_at),
            (observed_periods, observed_periods.c.end_at),
            (refused_requests, refused_requests.c.requested_at),
        ):
            gone += self._connection.execute(sa.delete(table).where(column < before)).rowcount
        # These are needed as long as anything about their reservation is recorded.
        for table, column in (
            (reservation_states, reservation_states.c.since_at),
            (used_periods, used_periods.c.end_at),
        ):
            kept = sa.or_(
                sa.exists().where(held.reservation_id == table.c.reservation_id),
                sa.exists().where(reservations.c.id == table.c.reservation_id),
            )
            gone += self._connection.execute(sa.delete(table).where(column < before, sa.not_(kept))).rowcount
        return gone


_FAR: Final = datetime.max.replace(tzinfo=UTC)


def _holding(row: Any) -> Holding:
    return Holding(
        project_id=row.project_id,
        user_id=row.user_id,
        reservation_id=ReservationId(row.reservation_id),
        resource_type=row.resource_type,
        resource_id=ResourceId(row.resource_id),
        window=Interval(row.start_at, row.end_at),
        share=read_share(row.slots, row.demand),
    )


def _rows(
    connection: Connection, table: sa.Table[Any], column: str, ids: Sequence[str]
) -> Iterator[sa.Row[Any]]:
    """Yield the rows of these ids; those of one id are in the order in which they were written."""
    for some in in_portions(ids, _AT_ONCE):
        query = sa.select(table).where(table.c[column].in_(some)).order_by(table.c.id)
        yield from connection.execute(query)
