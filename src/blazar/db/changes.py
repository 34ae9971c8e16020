"""The log of changes that in-memory indexes are kept up to date by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from blazar.db.tables import resource_changes
from blazar.domain.lease import ReservationId, ResourceId

_INSERT: Final = sa.insert(resource_changes)


def note_changes(
    connection: sa.Connection, resource_ids: Collection[ResourceId], at: datetime, *, facts_changed: bool
) -> None:
    """Log that these resources changed: their bookings, and maybe their facts."""
    connection.execute(
        _INSERT,
        [
            {"resource_id": each, "facts_changed": facts_changed, "changed_at": at}
            for each in sorted(resource_ids)
        ],
    )


def note_additions(
    connection: sa.Connection,
    added: Collection[tuple[ResourceId, ReservationId]],
    generations: Mapping[ResourceId, int],
    at: datetime,
) -> None:
    """Log that nothing has changed of resources but that new reservations have booked something of them.

    Args:
        connection: On which that happens.
        added: Which reservations, of which resources; they had nothing of them before.
        generations: To which each of the resources has been moved.
        at: When.
    """
    connection.execute(
        _INSERT,
        [
            {
                "resource_id": resource_id,
                "facts_changed": False,
                "changed_at": at,
                "generation": generations[resource_id],
                "reservation_id": reservation_id,
            }
            for resource_id, reservation_id in sorted(added)
        ],
    )
