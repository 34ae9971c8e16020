"""Port: the allocations of resources to reservations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, LeaseId, ReservationId, ResourceId


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRanges:
    """Ranges of the dates of leases; None for an open end."""

    starts_after: datetime | None = None
    """The earliest start."""
    starts_before: datetime | None = None
    """The end of the range of starts, which is not part of it."""
    ends_after: datetime | None = None
    ends_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedWindow:
    """An allocation with its lease's dates, as ``/os-hosts/allocations`` shows it."""

    resource_id: ResourceId
    reservation_id: ReservationId
    lease_id: LeaseId
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A reservation that holds a resource now or later, with fields of its lease."""

    reservation_id: ReservationId
    project_id: str | None
    start: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldResource:
    """A resource that a reservation holds, its human-readable name, and the window."""

    reservation_id: ReservationId
    resource_id: ResourceId
    name: str
    slots: int | None
    """The number of slots held on the resource; None for the whole resource."""
    window: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierHolder:
    """A reservation that still holds a resource after its window, and the end of that window."""

    reservation_id: ReservationId
    end: datetime


class AllocationStore(Protocol):
    """Allocations: each reservation's resources and windows.

    Every change increments the generations of the affected resources. ``release`` and ``purge_released`` do
    so themselves; for the others, the caller also calls ``claim``, ``touch`` or ``touch_bookings``, before or
    after.
    """

    def holders_of(self, project_id: str) -> Mapping[ReservationId, str | None]:
        """Return the reservations of a project that have allocations, with the users of their leases."""

    def of_reservations(self, reservation_ids: Collection[ReservationId]) -> tuple[Allocation, ...]:
        """Return the unreleased allocations of these reservations."""

    def claim(
        self,
        expected: Mapping[ResourceId, int],
        changing: Collection[tuple[ResourceId, ReservationId]] = (),
    ) -> None:
        """Increment the generations of these resources.

        Args:
            expected: The present generation that each resource must have.
            changing: For resources of which nothing else changes, all reservations whose allocations the
                caller adds, moves or removes; see :meth:`touch_bookings`.

        Raises:
            ConcurrentUpdate: A resource is not at its expected generation, or is gone.
        """

    def touch(self, resource_ids: Collection[ResourceId]) -> None:
        """Increment the generations of these resources, whatever they are."""

    def touch_bookings(self, changed: Collection[tuple[ResourceId, ReservationId]]) -> None:
        """Do the same for resources of which only the allocations of these reservations change.

        Indexes then read only these allocations, instead of all bookings of the resources. A reservation that
        is deleted must not have released allocations of them: they are kept without a reservation while
        resources are cleaned.
        """

    def insert(self, allocations: Sequence[Allocation]) -> None:
        """Add allocations. Raises ConcurrentUpdate if the database detects a double booking."""

    def move(
        self, reservation_ids: Collection[ReservationId], window: Interval, *, began_at: datetime
    ) -> None:
        """Move the unreleased allocations of these reservations to another window.

        Allocations that were added after the lease began, at *began_at*, keep their own start.
        """

    def remove(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId] | None = None
    ) -> None:
        """Delete unreleased allocations of a reservation (None: all) that never took effect."""

    def remove_future(self, reservation_ids: Collection[ReservationId]) -> None:
        """Delete the allocations of reservations; all of them begin later, so that no use is recorded."""

    def release(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId], at: datetime | None
    ) -> None:
        """Record that resources were observed free at *at*; None deletes the allocations at once."""

    def purge_released(self, before: datetime) -> bool:
        """Delete allocations released before this instant; return whether there were any."""

    def held_before(
        self, reservation_ids: Collection[ReservationId], start: datetime
    ) -> Mapping[ResourceId, EarlierHolder]:
        """Return resources of these reservations that earlier reservations, from before *start*, still hold.

        If both hold shares, one waits for the other only if the other should be over by *start*.
        """

    def waiting_leases(self, resource_ids: Collection[ResourceId], now: datetime) -> tuple[LeaseId, ...]:
        """Return the leases whose start has passed and that may wait for one of these resources."""

    def list_booked(
        self,
        *,
        now: datetime,
        resource_id: ResourceId | None = None,
        lease_id: str | None = None,
        reservation_id: str | None = None,
        resource_ids: Collection[ResourceId] | None = None,
        dates: DateRanges | None = None,
    ) -> tuple[BookedWindow, ...]:
        """Return current and future allocations; with a lease or reservation, all of that one.

        A share is returned once for each of its slots.
        """

    def list_held(self, lease_id: LeaseId) -> tuple[HeldResource, ...]:
        """Return the resources that a lease's reservations hold, ordered by resource name."""

    def list_holders(self, collection: str) -> Mapping[ResourceId, tuple[Holder, ...]]:
        """Return the holders of each held resource of a collection, also late ones, by their starts."""

    def count_held(self, lease_ids: Collection[LeaseId]) -> Mapping[LeaseId, Mapping[ReservationId, int]]:
        """Return the number of resources and slots that each reservation of these leases holds.

        Leases and reservations that hold nothing are omitted.
        """

    def list_overlaps(self, limit: int) -> tuple[tuple[ResourceId, LeaseId, LeaseId], ...]:
        """Return resources that two leases hold at the same time, one exclusively; normally none."""

    def count_on(self, resource_id: ResourceId) -> int:
        """Return the number of allocations of a resource, also during cleaning, and by offers."""
