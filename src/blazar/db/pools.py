"""Numbers of resources by collection and health, and how many of them are reserved or under maintenance."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from blazar.db.tables import allocations, maintenance_resources, resources
from blazar.domain.health import Health


def pools_at(now: datetime) -> sa.Executable:
    """Return the query for these numbers."""
    held = (
        sa.select(allocations.c.resource_id)
        .where(allocations.c.start_at <= now, allocations.c.released_at.is_(None))
        .distinct()
        .subquery()
    )
    booked = maintenance_resources
    maintained = (
        sa.select(booked.c.resource_id)
        .where(booked.c.start_at <= now, booked.c.end_at > now)
        .distinct()
        .subquery()
    )
    is_taken = held.c.resource_id.is_not(None) | maintained.c.resource_id.is_not(None)
    return (
        sa.select(
            resources.c.collection,
            resources.c.health,
            sa.func.count().label("all"),
            sa.func.count(held.c.resource_id).label("reserved"),
            sa.func.count(maintained.c.resource_id).label("maintained"),
            sa.func.count(sa.case((is_taken, 1))).label("taken"),
        )
        .select_from(
            resources.outerjoin(held, held.c.resource_id == resources.c.id).outerjoin(
                maintained, maintained.c.resource_id == resources.c.id
            )
        )
        .group_by(resources.c.collection, resources.c.health)
    )


def free_of(pools: Iterable[sa.Row[Any]]) -> dict[str, int]:
    """Return the numbers of healthy resources that are not in use, by collection, from rows of the query."""
    return summed(
        (row.collection, row.all - row.taken if row.health == Health.HEALTHY.value else 0) for row in pools
    )


def summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the sums of the numbers with the same key."""
    sums: dict[str, int] = {}
    for key, count in counts:
        sums[key] = sums.get(key, 0) + count
    return sums
