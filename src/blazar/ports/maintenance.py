"""Port: stored maintenance of resources.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, LeaseId, ResourceId
from blazar.domain.maintenance import Maintenance


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedAllocation:
    """An unreleased allocation, and the lease that holds it."""

    lease_id: LeaseId
    allocation: Allocation


class MaintenanceStore(Protocol):
    """Maintenances and the resources that they book.

    Their bookings count in searches like those of leases. A caller who changes them calls
    ``AllocationStore.touch`` for their resources.
    """

    def find(self, maintenance_id: str) -> Maintenance | None:
        """Return a maintenance, or None. Resources that were deleted are missing in it."""

    def list(self, *, ending_after: datetime | None = None) -> Sequence[Maintenance]:
        """Return those that end after an instant, or all, by their starts, in two statements."""

    def insert(self, maintenance: Maintenance) -> None:
        """Add a maintenance with its bookings."""

    def replace(self, before: Maintenance, after: Maintenance) -> None:
        """Replace a maintenance and its bookings.

        Raises:
            ConcurrentUpdate: It was changed or deleted since *before* was read.
        """

    def delete(self, maintenance: Maintenance) -> None:
        """Delete a maintenance with its bookings; do nothing if it is gone."""

    def list_ended(self, before: datetime) -> Sequence[Maintenance]:
        """Return those that ended before an instant."""

    def allocations_within(
        self, resource_ids: Collection[ResourceId], window: Interval
    ) -> Sequence[AffectedAllocation]:
        """Return the unreleased allocations of these resources that overlap a window, in a fixed order."""

    def find_names(self, collection: str, names: Collection[str]) -> Mapping[str, ResourceId]:
        """Return the resources of a collection that have one of these names or ids, by name or id."""

    def names_of(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, str]:
        """Return the names that operators know."""
