"""Numbers about everything, for whoever watches the service: one statement a table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from blazar.db.store import translated
from blazar.db.tables import allocations, leases, outbox, reservations, resources, work
from blazar.domain.health import Health
from blazar.domain.lease import ReservationStatus
from blazar.ports.figures import Figures, FiguresReader

_LIVING = tuple(each.value for each in ReservationStatus if each is not ReservationStatus.DELETED)


class SqlFigures:
    """Implements :class:`blazar.ports.figures.FiguresReader`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def read(self, now: datetime) -> Figures:
        """Return the figures, all as of one instant. Raises Unavailable."""
        with translated(), self._engine.connect() as connection:
            living = list(connection.execute(_RESERVATIONS))
            due, claimed, failing, oldest_due = connection.execute(_work(now)).one()
            messages, oldest_message = connection.execute(_OUTBOX).one()
            pools = list(connection.execute(_resources(now)))
            return Figures(
                leases={row.status: row.all for row in connection.execute(_LEASES)},
                reservations={(row.resource_type, row.status): row.all for row in living},
                missing_resources=sum(int(row.missing) for row in living),
                work_due=int(due or 0),
                work_claimed=int(claimed or 0),
                work_failing=int(failing or 0),
                work_overdue=_since(oldest_due, now),
                outbox=messages,
                outbox_age=_since(oldest_message, now),
                resources={(row.collection, row.health): row.all for row in pools},
                promised=_summed((row.collection, row.promised) for row in pools),
                free=_summed(
                    (row.collection, row.all - row.promised if row.health == Health.SOUND.value else 0)
                    for row in pools
                ),
            )


def _count_if(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((condition, 1), else_=0))


_LEASES = sa.select(leases.c.status, sa.func.count().label("all")).group_by(leases.c.status)
# By way of the index, which begins with the status: most reservations are over.
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
_OUTBOX = sa.select(sa.func.count(), sa.func.min(outbox.c.created_at)).select_from(outbox)


def _work(now: datetime) -> sa.Executable:
    is_claimed = work.c.claim_deadline.is_not(None) & (work.c.claim_deadline > now)
    is_due = (work.c.due_at <= now) & ~is_claimed
    # Of a claim that ran out, since then: until then somebody was at it.
    since = sa.case((work.c.claim_deadline.is_not(None), work.c.claim_deadline), else_=work.c.due_at)
    return sa.select(
        _count_if(is_due),
        _count_if(is_claimed),
        _count_if(work.c.attempts > 0),
        sa.func.min(sa.case((is_due, since))),
    )


def _resources(now: datetime) -> sa.Executable:
    held = (
        sa.select(allocations.c.resource_id)
        .where(allocations.c.start_at <= now, allocations.c.released_at.is_(None))
        .distinct()
        .subquery()
    )
    return (
        sa.select(
            resources.c.collection,
            resources.c.health,
            sa.func.count().label("all"),
            sa.func.count(held.c.resource_id).label("promised"),
        )
        .select_from(resources.outerjoin(held, held.c.resource_id == resources.c.id))
        .group_by(resources.c.collection, resources.c.health)
    )


def _since(instant: datetime | None, now: datetime) -> timedelta:
    return timedelta(0) if instant is None else max(timedelta(0), now - instant)


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for key, count in counts:
        sums[key] = sums.get(key, 0) + count
    return sums


if TYPE_CHECKING:

    def _witness(figures: SqlFigures) -> FiguresReader:
        return figures
