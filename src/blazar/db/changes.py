"""The log of changes that in-memory indexes are kept up to date by."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from blazar.db.tables import resource_changes
from blazar.domain.lease import ResourceId


def note_changes(
    connection: sa.Connection, resource_ids: Collection[ResourceId], at: datetime, *, facts_changed: bool
) -> None:
    """Log that these resources changed: their bookings, and maybe their facts."""
    connection.execute(
        sa.insert(resource_changes),
        [
            {"resource_id": each, "facts_changed": facts_changed, "changed_at": at}
            for each in sorted(resource_ids)
        ],
    )
