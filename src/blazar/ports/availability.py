"""Port: database reads that an in-memory index of all bookings needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from blazar.domain.availability import Resource
from blazar.domain.bookings import Booking, BookingColumns
from blazar.domain.generations import GenerationSummary
from blazar.domain.lease import ReservationId, ResourceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An entry of the change log: a resource changed; the other fields give its present state.

    If only bookings of certain reservations changed, the log has one entry for each of these reservations.
    """

    sequence: int
    resource_id: ResourceId
    facts_changed: bool
    generation: int | None = None
    """The generation to which this moved the resource; None for all other changes."""
    reservation_id: ReservationId | None = None
    """The reservation whose bookings of it changed; None for all other changes."""
    present: int | None = None
    """The resource's present generation; None if the resource is gone or belongs to another collection."""
    bookings: tuple[Booking, ...] = ()
    """The present bookings of the resource by ``reservation_id``."""


class AvailabilityReader(Protocol):
    """Reads from which an in-memory index of bookings is built and kept up to date."""

    def last_change(self) -> int:
        """Return the highest sequence number in the log; 0 if the log is empty."""

    def changes(self, collection: str, above: int, among: Collection[int] = ()) -> tuple[Change, ...]:
        """Return log entries in ascending order, as seen from a collection; uses one statement.

        Args:
            collection: The collection of interest; changes in other collections carry only their numbers.
            above: Return all entries with higher numbers,
            among: and also the existing entries with these numbers.
        """

    def read(self, collection: str, resource_ids: Collection[ResourceId] | None) -> tuple[Resource, ...]:
        """Return these resources with their facts; for None, all resources of the collection."""

    def generations(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, int]:
        """Return the present generations; resources that are gone are omitted."""

    def all_generations(self, collection: str) -> Mapping[ResourceId, int]:
        """Return the present generations of all resources of a collection."""

    def generation_summary(self, collection: str) -> GenerationSummary:
        """Return the summary of :meth:`all_generations`, computed by the database."""

    def bookings(self, resource_ids: Collection[ResourceId]) -> Iterable[Booking]:
        """Return the bookings of these resources, by leases and by offers, also by expired offers."""

    def all_bookings(self, collection: str, until: datetime | None = None) -> Iterator[BookingColumns]:
        """Yield the bookings of a collection's resources by leases, some thousands at a time.

        The transaction can read nothing else until the iterator is exhausted.

        Args:
            collection: The collection.
            until: Omit bookings that start at this time or later; None for all.
        """

    def without_lease(self, collection: str) -> Iterable[Booking]:
        """Return all bookings of a collection's resources by offers and for maintenance, also past ones."""

    def purge_changes(self, before: datetime) -> None:
        """Delete log entries older than *before*."""
