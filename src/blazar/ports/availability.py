"""What is wanted from the database by whoever keeps all bookings in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from blazar.domain.availability import Resource
from blazar.domain.bookings import Booking, BookingColumns
from blazar.domain.lease import ReservationId, ResourceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An entry of the log: something about a resource changed, and how that is now.

    Where new reservations have booked something of it, and nothing else has changed, there is an entry for
    each of them.
    """

    sequence: int
    resource_id: ResourceId
    facts_changed: bool
    generation: int | None = None
    """To which the new booking has moved the resource; None for all other changes."""
    reservation_id: ReservationId | None = None
    """Whose new booking it is; None for all other changes."""
    present: int | None = None
    """The resource's generation by now; None for one that is gone, or is of another collection."""
    bookings: tuple[Booking, ...] = ()
    """What ``reservation_id`` has booked of the resource by now."""


class AvailabilityReader(Protocol):
    """What an in-memory index of bookings is built from and kept up to date by."""

    def last_change(self) -> int:
        """Return the highest sequence number in the log, 0 for an empty one."""

    def changes(self, collection: str, above: int, among: Collection[int] = ()) -> tuple[Change, ...]:
        """Return what the log has, ascending, as seen from a collection; in one statement.

        Args:
            collection: Whose resources are wanted; of others' changes only the numbers matter.
            above: Return all with higher numbers,
            among: and those of these numbers that are there.
        """

    def read(self, collection: str, resource_ids: Collection[ResourceId] | None) -> tuple[Resource, ...]:
        """Return these resources with their facts, or all of the collection."""

    def generations(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, int]:
        """Return the present generations; resources that are gone are missing."""

    def all_generations(self, collection: str) -> Mapping[ResourceId, int]:
        """Return the present generations of all resources of a collection."""

    def bookings(self, resource_ids: Collection[ResourceId]) -> Iterable[Booking]:
        """Return the bookings of these resources."""

    def all_bookings(self, collection: str) -> Iterator[BookingColumns]:
        """Yield all bookings of a collection's resources, some thousands at a time.

        Nothing else can be read by the transaction before the last of them.
        """

    def purge_changes(self, before: datetime) -> None:
        """Forget old entries of the log."""
