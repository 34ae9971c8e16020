"""The log of changes, from which in-memory indexes are updated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.tables import resource_changes
from blazar.domain.lease import ReservationId, ResourceId

_INSERT: Final = sa.insert(resource_changes)


def note_changes(
    connection: Connection, resource_ids: Collection[ResourceId], at: datetime, *, facts_changed: bool
) -> None:
    """Log that the bookings of these resources changed, and possibly their facts."""
    connection.later(
        _INSERT,
        [
            {"resource_id": each, "facts_changed": facts_changed, "changed_at": at}
            for each in sorted(resource_ids)
        ],
    )


def note_bookings(
    connection: Connection,
    changed: Collection[tuple[ResourceId, ReservationId]],
    generations: Mapping[ResourceId, int],
    at: datetime,
) -> None:
    """Log that bookings of these reservations changed, and nothing else about their resources.

    Args:
        connection: The connection of the transaction that changes the bookings.
        changed: The resources and the reservations.
        generations: The new generation of each resource; one that is gone is missing.
        at: The time of the change.
    """
    rows = [
        {
            "resource_id": resource_id,
            "facts_changed": False,
            "changed_at": at,
            "generation": generations[resource_id],
            "reservation_id": reservation_id,
        }
        for resource_id, reservation_id in sorted(changed)
        if resource_id in generations
    ]
    connection.later(_INSERT, rows)
