"""Statistics of the service for monitoring, with one statement per table."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from blazar.db.offers import is_open
from blazar.db.pools import free_of, pools_at, summed
from blazar.db.store import translated
from blazar.db.subscription_rows import may_be_tried
from blazar.db.tables import (
    allocations,
    deliveries,
    leases,
    maintenance_resources,
    maintenances,
    offers,
    outbox,
    reservations,
    subscriptions,
    work,
)
from blazar.db.waiting import waits_now
from blazar.domain.lease import ReservationStatus
from blazar.ports.stats import Stats, StatsReader, Wait

_LIVING = tuple(each.value for each in ReservationStatus if each is not ReservationStatus.DELETED)


class SqlStats:
    """Implements :class:`blazar.ports.stats.StatsReader`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def read(self, now: datetime) -> Stats:
        """Return the statistics, all as of one instant. Raises Unavailable."""
        with translated(writes=False), self._engine.connect() as connection:
            living = list(connection.execute(_RESERVATIONS))
            due, claimed, failing, oldest_due = connection.execute(_work(now)).one()
            messages, failed_messages, oldest_message = connection.execute(_OUTBOX).one()
            notices, failed_notices, oldest_notice, oldest_attempt = connection.execute(_notices(now)).one()
            pools = list(connection.execute(pools_at(now)))
            return Stats(
                leases={row.status: row.all for row in connection.execute(_LEASES)},
                waiting={
                    row.status: Wait(leases=row.all, longest=_since(row.since, now))
                    for row in connection.execute(waits_now(now))
                },
                reservations={(row.resource_type, row.status): row.all for row in living},
                missing_resources=sum(int(row.missing) for row in living),
                work_due=int(due or 0),
                work_claimed=int(claimed or 0),
                work_failing=int(failing or 0),
                work_overdue=_since(oldest_due, now),
                offers_open=connection.scalar(_open_offers(now)) or 0,
                outbox=int(messages or 0),
                outbox_failed=int(failed_messages or 0),
                outbox_age=_since(oldest_message, now),
                notices=int(notices or 0),
                notices_age=_since(oldest_notice, now),
                notices_overdue=_since(oldest_attempt, now),
                notices_failed=int(failed_notices or 0),
                resources={(row.collection, row.health): row.all for row in pools},
                reserved=summed((row.collection, row.reserved) for row in pools),
                free=free_of(pools),
                maintenances={row.status: row.all for row in connection.execute(_maintenances(now))},
                under_maintenance=summed((row.collection, row.maintained) for row in pools),
                maintenance_leases={
                    row.state: row.all for row in connection.execute(_maintenance_leases(now))
                },
            )


def _count_if(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((condition, 1), else_=0))


_LEASES = sa.select(leases.c.status, sa.func.count().label("all")).group_by(leases.c.status)
# Uses the index, which starts with the status: most reservations have ended.
_RESERVATIONS = (
    sa.select(
        reservations.c.resource_type,
        reservations.c.status,
        sa.func.count().label("all"),
        _count_if(reservations.c.missing_resources.is_(True)).label("missing"),
    )
    .where(reservations.c.status.in_(_LIVING))
    .group_by(reservations.c.resource_type, reservations.c.status)
)
_OUTBOX = sa.select(
    _count_if(outbox.c.failed_at.is_(None)),
    _count_if(outbox.c.failed_at.is_not(None)),
    sa.func.min(sa.case((outbox.c.failed_at.is_(None), outbox.c.created_at))),
)


def _work(now: datetime) -> sa.Executable:
    is_claimed = work.c.claim_deadline.is_not(None) & (work.c.claim_deadline > now)
    is_due = (work.c.due_at <= now) & ~is_claimed
    # If a claim has expired, the work is late since its expiry: until then, a manager had claimed the work.
    since = sa.case((work.c.claim_deadline.is_not(None), work.c.claim_deadline), else_=work.c.due_at)
    return sa.select(
        _count_if(is_due),
        _count_if(is_claimed),
        _count_if(work.c.attempts > 0),
        sa.func.min(sa.case((is_due, since))),
    )


def _notices(now: datetime) -> sa.Executable:
    is_waiting = deliveries.c.failed_at.is_(None) & subscriptions.c.is_enabled
    return sa.select(
        _count_if(is_waiting),
        _count_if(deliveries.c.failed_at.is_not(None)),
        sa.func.min(sa.case((is_waiting, deliveries.c.queued_at))),
        sa.func.min(sa.case((is_waiting & may_be_tried(now), deliveries.c.due_at))),
    ).select_from(deliveries.join(subscriptions))


def _open_offers(now: datetime) -> sa.Select[int]:
    return sa.select(sa.func.count()).select_from(offers).where(is_open(now))


def _maintenances(now: datetime) -> sa.Executable:
    status = sa.case((maintenances.c.start_at <= now, "active"), else_="planned").label("status")
    return sa.select(status, sa.func.count().label("all")).where(maintenances.c.end_at > now).group_by(status)


def _maintenance_leases(now: datetime) -> sa.Executable:
    booked = maintenance_resources
    overlaps = sa.and_(
        booked.c.resource_id == allocations.c.resource_id,
        allocations.c.start_at < booked.c.end_at,
        allocations.c.end_at > booked.c.start_at,
    )
    state = sa.case((allocations.c.start_at <= now, "active"), else_="ahead").label("state")
    return (
        sa.select(state, sa.func.count(sa.distinct(reservations.c.lease_id)).label("all"))
        .select_from(booked.join(allocations, overlaps).join(reservations))
        .where(booked.c.end_at > now, allocations.c.released_at.is_(None))
        .group_by(state)
    )


def _since(instant: datetime | None, now: datetime) -> timedelta:
    return timedelta(0) if instant is None else max(timedelta(0), now - instant)


if TYPE_CHECKING:

    def _witness(stats: SqlStats) -> StatsReader:
        return stats
