"""Maintenance: resources that no lease gets for a period, because operators work on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from blazar.domain.errors import NotFound
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId

OPEN_END: Final = datetime(5000, 1, 1, tzinfo=UTC)
"""The end of a maintenance that lasts until an operator ends it; leases end within a hundred years."""


class MaintenanceStatus(StrEnum):
    """The statuses of a maintenance, which follow from the clock."""

    PLANNED = "PLANNED"
    ACTIVE = "ACTIVE"
    ENDED = "ENDED"


class MaintenanceNotFound(NotFound):
    """No maintenance has this id; those that ended are deleted after some time."""

    code = "maintenance-not-found"

    def __init__(self, maintenance_id: str) -> None:
        super().__init__(f"maintenance_id: there is no maintenance {maintenance_id}", id=maintenance_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """Resources of one type that are booked for work on them.

    Leases that hold one of them in this period keep it, except those that have not started and can be moved.
    """

    id: str
    resource_type: str
    resource_ids: tuple[ResourceId, ...]
    reason: str
    start: datetime
    end: datetime
    """:data:`OPEN_END` if an operator is to end it."""
    leaves_pool: bool = False
    """Whether resources that no lease holds leave their pool for this time."""
    created_at: datetime
    user_id: str | None = None

    @property
    def window(self) -> Interval:
        """Return the period; an instant if it was ended before its start."""
        return Interval.at_least_an_instant(self.start, self.end)

    @property
    def owner(self) -> ReservationId:
        """Return the owner of its bookings in indexes, in which every owner is a reservation."""
        return ReservationId(self.id)

    def status_at(self, now: datetime) -> MaintenanceStatus:
        """Return the status."""
        if self.end <= now:
            return MaintenanceStatus.ENDED
        return MaintenanceStatus.ACTIVE if self.start <= now else MaintenanceStatus.PLANNED


def outside_pool(maintenances: Iterable[Maintenance], now: datetime) -> frozenset[ResourceId]:
    """Return the resources that are out of their pool now because their maintenance asks for it."""
    return frozenset(
        key
        for each in maintenances
        if each.leaves_pool and each.status_at(now) is MaintenanceStatus.ACTIVE
        for key in each.resource_ids
    )


KEPT_FOR: Final = timedelta(days=90)
"""Time after its end for which a maintenance is listed."""
