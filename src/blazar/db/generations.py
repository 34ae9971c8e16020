"""Generations of resources, which protect their bookings: a claim is refused if another one was faster."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.tables import resources
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import ResourceId

# Built once: building a statement takes longer than executing it.
_CLAIM_ONE: Final = sa.update(resources).where(
    resources.c.id == sa.bindparam("resource_id"), resources.c.generation == sa.bindparam("known_generation")
)
_INCREMENT_ONE: Final = (
    sa.update(resources)
    .where(resources.c.id == sa.bindparam("resource_id"))
    .values(generation=resources.c.generation + 1)
)
_TOO_LATE: Final = "Another transaction claimed a resource concurrently"


def claim(connection: Connection, expected: Mapping[ResourceId, int]) -> None:
    """Increment these generations; raise ConcurrentUpdate, with the stale ones, if one is not as expected."""
    if len(expected) == 1:
        _claim_one(connection, *next(iter(expected.items())))
        return
    # The rows are locked in a fixed order, so that two claims wait for each other instead of deadlocking.
    query = (
        sa.select(resources.c.id, resources.c.generation)
        .where(resources.c.id.in_(list(expected)))
        .order_by(resources.c.id)
        .with_for_update()
    )
    found = {row.id: row.generation for row in connection.execute(query)}
    stale = [key for key, generation in expected.items() if found.get(key) != generation]
    if stale:
        raise ConcurrentUpdate(_TOO_LATE, stale=stale)
    increment(connection, expected)


def increment(connection: Connection, resource_ids: Collection[ResourceId]) -> None:
    """Increment the generations of these resources, whatever they are."""
    if len(resource_ids) == 1:
        connection.later(_INCREMENT_ONE, [{"resource_id": each} for each in resource_ids])
        return
    connection.execute(
        sa.update(resources)
        .where(resources.c.id.in_(sorted(resource_ids)))
        .values(generation=resources.c.generation + 1)
    )


def _claim_one(connection: Connection, resource_id: ResourceId, expected: int) -> None:
    moved = connection.execute(
        _CLAIM_ONE,
        {"resource_id": resource_id, "known_generation": expected, "generation": expected + 1},
    )
    if moved.rowcount != 1:
        raise ConcurrentUpdate(_TOO_LATE, stale=[resource_id])
