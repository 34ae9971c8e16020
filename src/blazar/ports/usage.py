"""Port: the records of usage.

What ended is recorded by the stores of leases, allocations and resources, in the transaction that ends it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, LeaseId, ReservationId, ResourceId
from blazar.domain.usage.records import Holding, UsageRecords

UsedBy = Mapping[tuple[ReservationId, ResourceId], int]
"""The units of resources that reservations use; zero counts may be omitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFilter:
    """Conditions on the holdings of a question; None for no condition."""

    project_id: str | None = None
    resource_type: str | None = None


class UsageStore(Protocol):
    """The records from which usage is computed."""

    def read(self, window: Interval, which: UsageFilter, now: datetime) -> UsageRecords:
        """Return the records about a window, in a few statements for each thousand reservations.

        Periods that have not ended, end at *now*; a use ends with the last observation.
        """

    def complete_since(self) -> datetime | None:
        """Return the instant before which leases that have ended may be missing; None if none is."""

    def start_at(self, at: datetime) -> None:
        """Record that leases which ended before an instant may be missing; a later instant stays."""

    def list_held(self, window: Interval) -> Sequence[Holding]:
        """Return what reservations held or hold in a window, without other records, in two statements."""

    def list_active(self) -> tuple[LeaseId, ...]:
        """Return the leases that have active reservations."""

    def observe(self, resource_type: str, used: UsedBy, now: datetime, most: timedelta) -> None:
        """Record what reservations of a type use now. It counts until the next observation.

        Args:
            resource_type: The type.
            used: The units in use.
            now: The time of the observation.
            most: The longest time between two observations in which the first one still counts.
        """

    def arrived(self, reservation_ids: Collection[ReservationId]) -> frozenset[ReservationId]:
        """Return those of the reservations that were ever seen in use."""

    def last_observed(self, resource_type: str) -> Interval | None:
        """Return the newest period of observations of a type without a gap; None before the second one."""

    def usable_since(self, reservation_ids: Collection[ReservationId]) -> Mapping[ReservationId, datetime]:
        """Return from when on each reservation has been active without missing resources; omit all others."""

    def record_refused(self, lease: Lease, now: datetime) -> bool:
        """Record a request for a lease that was refused for lack of free resources.

        The same request of a project, with the same times and reservations, is recorded once, and the number
        of records of a project in 24 hours is limited.

        Returns:
            Whether the request was added.

        Raises:
            ConcurrentUpdate: A concurrent transaction has recorded the same request.
        """

    def list_refused(self, since: datetime) -> Sequence[Lease]:
        """Return the recorded requests that were refused since an instant, in their order.

        They are leases with the status ERROR and without events; ``created_at`` is the time of the request.
        """

    def delete_before(self, before: datetime) -> int:
        """Delete what was over before an instant; return the number of records.

        The state of a reservation, and that it was used, are kept as long as a record of it is.
        """
