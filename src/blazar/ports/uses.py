"""Port: the uses of projects, for usage rules that count them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.rules.uses import Use


class UseStore(Protocol):
    """Uses of resources by leases and open offers; those that were recorded, also after their leases."""

    def of_project(self, project_id: str, now: datetime, since: datetime) -> Sequence[Use]:
        """Return the uses of a project that end after *since*, including this transaction's writes.

        Args:
            project_id: The project.
            now: The present, by which offers expire.
            since: The earliest end.
        """

    def record(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId] | None, now: datetime
    ) -> None:
        """Record what a reservation has used up to *now* of resources that it is about to release.

        Resources that it was to use only later are not recorded. None stands for all of its resources.
        """

    def delete_before(self, before: datetime) -> int:
        """Delete the records of uses that ended before an instant; return their number."""
