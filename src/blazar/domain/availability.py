"""In-memory index of resources, their facts and their bookings, for searches.

One object holds the facts of all resources of one kind and the windows in which they are booked, as
arrays, so that a search among ten thousand hosts is a few vector operations. The index may be stale;
the transaction that books checks the generations of the chosen resources (ADR-0004).
"""

from __future__ import annotations

import random
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Positions
from blazar.domain.bookings import Booking, BookingColumns, Bookings
from blazar.domain.capacity import Demand, Share
from blazar.domain.fact_columns import FactColumn, FactColumns, changed_keys
from blazar.domain.generations import GenerationSummary
from blazar.domain.headroom import Headroom
from blazar.domain.instants import micros
from blazar.domain.interval import Interval
from blazar.domain.inventory_arrays import InventoryArrays
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.need import Need
from blazar.domain.preference import Preference
from blazar.domain.providers import HostProvider
from blazar.domain.requirements import Fact, Requirement
from blazar.domain.start_times import Profile, Starts, count_free, count_slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource as a search sees it.

    Requirements are compared with ``facts``. ``size`` orders resources from small to large.
    """

    id: ResourceId
    generation: int
    is_reservable: bool
    facts: Mapping[str, Fact]
    size: tuple[int, ...] = ()
    properties: Mapping[str, Fact] = field(default_factory=dict)
    """The facts set by operators: resources with scarce ones are kept for requests that ask for them."""
    providers: tuple[HostProvider, ...] = ()
    """The providers whose capacity is reserved in shares; empty if the resource is only reserved whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffle:
    """Random choice among suitable resources."""

    chance: random.Random
    equals_only: bool = False
    """True if only resources of equal size are shuffled; smaller ones still come first."""


class Availability:
    """The facts and bookings of all resources of one kind. Not safe for use by several threads.

    Methods take and return masks, in which each resource has a position.
    """

    def __init__(self, casefold_facts: Container[str] = frozenset()) -> None:
        """Create an empty index; texts of *casefold_facts* are compared without regard to case."""
        self._casefold_facts = casefold_facts
        self._resources: list[Resource | None] = []
        self._position_of: dict[ResourceId, int] = {}
        self._bookings = Bookings()
        self._columns: FactColumns | None = None
        self._kept_columns: Mapping[str, FactColumn] = {}
        """Columns that are still valid, kept while ``_columns`` is None."""
        self._preference: Preference | None = None
        self._reservable: Mask | None = None
        self._known_facts: frozenset[str] | None = None
        self._inventories: InventoryArrays | None = None

    def __len__(self) -> int:
        """Return the number of resources."""
        return len(self._position_of)

    def load(
        self, resources: Iterable[Resource], parts: Iterable[BookingColumns], more: Iterable[Booking] = ()
    ) -> None:
        """Fill an empty object with bookings, in parts and single; those of unknown resources are ignored."""
        for resource in resources:
            self.put(resource, ())
        self._bookings.load((part, self._positions_of(part.resource_ids)) for part in parts)
        for each in more:
            if each.resource_id in self._position_of:
                self._bookings.add(self._position_of[each.resource_id], [each])

    def put(self, resource: Resource, bookings: Iterable[Booking]) -> None:
        """Replace the facts and bookings of a resource."""
        position = self._position_of.get(resource.id)
        if position is None:
            position = len(self._resources)
            self._resources.append(None)
            self._position_of[resource.id] = position
        before = self._resources[position]
        self._resources[position] = resource
        if before is None or not _same_facts(before, resource):
            self._forget_facts(None if before is None else changed_keys(before.facts, resource.facts))
        self._bookings.replace(position, bookings)

    def put_bookings(self, resource_id: ResourceId, generation: int, bookings: Iterable[Booking]) -> bool:
        """Replace the bookings of a resource whose facts are unchanged.

        Returns:
            Whether the resource is known.
        """
        position = self._position_of.get(resource_id)
        if position is None:
            return False
        self._resources[position] = replace(self.resource_at(position), generation=generation)
        self._bookings.replace(position, bookings)
        return True

    def put_bookings_of(
        self,
        resource_id: ResourceId,
        generation: int,
        bookings: Mapping[ReservationId, Iterable[Booking]],
    ) -> None:
        """Replace the bookings of these reservations of a known resource that is otherwise unchanged."""
        position = self._position_of[resource_id]
        self._resources[position] = replace(self.resource_at(position), generation=generation)
        for reservation_id, own in bookings.items():
            self._bookings.replace_of(position, reservation_id, own)

    def drop(self, resource_id: ResourceId) -> None:
        """Remove a resource; does nothing if it is unknown."""
        position = self._position_of.pop(resource_id, None)
        if position is None:
            return
        self._resources[position] = None
        self._bookings.bury(position)
        self._forget_facts()

    def get(self, resource_id: ResourceId) -> Resource | None:
        """Return a resource, or None."""
        position = self._position_of.get(resource_id)
        return None if position is None else self._resources[position]

    def resources(self) -> Sequence[Resource]:
        """Return all resources."""
        return [each for each in self._resources if each is not None]

    def generation_of(self, resource_id: ResourceId) -> int:
        """Return the generation at which a known resource was read."""
        return self.resource_at(self._position_of[resource_id]).generation

    def generations(self) -> Mapping[ResourceId, int]:
        """Return the generations at which all resources were read."""
        return {each.id: each.generation for each in self._resources if each is not None}

    def summary(self) -> GenerationSummary:
        """Return the summary of the generations at which all resources were read."""
        modulus = GenerationSummary.MODULUS
        total = sum(each.generation % modulus for each in self._resources if each is not None)
        return GenerationSummary(len(self), total)

    def resource_at(self, position: int) -> Resource:
        """Return the resource at a position of a mask."""
        if (resource := self._resources[position]) is None:
            raise KeyError(position)
        return resource

    def position_of(self, resource_id: ResourceId) -> int | None:
        """Return the position of a resource, or None if it is not known."""
        return self._position_of.get(resource_id)

    def _positions_of(self, resource_ids: Sequence[ResourceId]) -> NDArray[np.int32]:
        find = self._position_of.get
        return np.fromiter((find(each, -1) for each in resource_ids), np.int32, len(resource_ids))

    def mask_of(self, resource_ids: Iterable[ResourceId]) -> Mask:
        """Return the mask of these resources; unknown ones are ignored."""
        mask = np.zeros(len(self._resources), np.bool_)
        mask[[self._position_of[each] for each in resource_ids if each in self._position_of]] = True
        return mask

    def reservable(self) -> Mask:
        """Return which resources can be reserved at all."""
        if self._reservable is None:
            reservable = (each is not None and each.is_reservable for each in self._resources)
            self._reservable = np.fromiter(reservable, np.bool_, len(self._resources))
        return self._reservable

    @property
    def bookings(self) -> Bookings:
        """Return the bookings, by position."""
        return self._bookings

    def matching(self, requirement: Requirement) -> Mask:
        """Return which resources satisfy *requirement*; cached until a fact changes."""
        return self.columns().matching(requirement)

    def columns(self) -> FactColumns:
        """Return the present facts; other threads may use them while this object changes."""
        if self._columns is None:
            facts = [None if each is None else each.facts for each in self._resources]
            self._columns = FactColumns(facts, self._casefold_facts, self._kept_columns)
            self._kept_columns = {}
        return self._columns

    def free(
        self,
        window: Interval,
        *,
        now: datetime,
        cleaning_time: timedelta,
        ignoring: Collection[ReservationId] = (),
        awaited: Collection[ResourceId] = (),
        among: Mask | None = None,
    ) -> Mask:
        """Return which resources have no booking, not even of a share, throughout *window*.

        A resource that should have been released by now but was not is not free for a window that
        has begun.

        Args:
            window: The requested window.
            now: The present.
            cleaning_time: Idle time required before and after another booking.
            ignoring: Reservations whose own bookings do not count.
            awaited: Resources that are already reserved for the window, for which a late release does not
                count.
            among: The resources that are asked about, None for all; only these are returned.
        """
        blocked = self._bookings.overlapping_positions(
            window,
            cleaning_time=cleaning_time,
            present=now if window.start <= now else None,
            ignoring=ignoring,
            awaited=self._awaited(awaited),
            among=among,
        )
        free = np.ones(len(self._resources), np.bool_) if among is None else among.copy()
        free[blocked] = False
        return free

    def headroom(  # noqa: PLR0913 — each says which bookings count
        self,
        demand: Demand,
        window: Interval,
        *,
        now: datetime,
        cleaning_time: timedelta,
        ignoring: Collection[ReservationId] = (),
        awaited: Collection[ResourceId] = (),
        beside: Mapping[ResourceId, Sequence[Share | None]] | None = None,
        among: Mask | None = None,
    ) -> Headroom:
        """Return the number of free slots of each resource throughout *window*.

        Args:
            demand: What each slot needs.
            window: As for :meth:`free`.
            now: As for :meth:`free`.
            cleaning_time: As for :meth:`free`.
            ignoring: As for :meth:`free`.
            awaited: As for :meth:`free`.
            beside: Shares that count throughout the window in addition to all bookings.
            among: The resources that are asked about, None for all; for others, too much may be free.
        """
        positions = self._position_of
        booked = self._bookings.overlapping(
            window,
            cleaning_time=cleaning_time,
            present=now if window.start <= now else None,
            ignoring=ignoring,
            awaited=self._awaited(awaited),
            among=among,
        )
        return Headroom(
            demand,
            window.start,
            inventories=self.inventories(),
            bookings=self._bookings,
            # A booking that was released and cleaned by now is over, even if the window began before.
            overlapping=booked.take(booked.held | (booked.ends > micros(now))),
            beside={positions[key]: each for key, each in (beside or {}).items() if key in positions},
        )

    def profile(self, need: Need, starts: Starts, *, excluded: Mask | None = None) -> Profile:
        """Return how many units of a need are free for each start; see :mod:`blazar.domain.start_times`.

        Args:
            need: The need of a new reservation.
            starts: The possible starts.
            excluded: Resources that must not be used.
        """
        wanted = self.matching(need.requirement) & self.reservable()
        if excluded is not None:
            wanted &= ~excluded
        if need.demand is None:
            return count_free(self._bookings, wanted, starts)
        return count_slots(self._bookings, self.inventories(), wanted, need, starts)

    def inventories(self) -> InventoryArrays:
        """Return the capacity of the resources, by position."""
        if self._inventories is None:
            trees = [() if each is None else each.providers for each in self._resources]
            self._inventories = InventoryArrays(trees)
        return self._inventories

    def in_order(self, mask: Mask, shuffle: Shuffle | None = None) -> Sequence[int]:
        """Return the positions in *mask*, smallest resource first, or shuffled."""
        return self._order().in_order(mask, shuffle)  # type: ignore[return-value]

    def best_first(
        self,
        mask: Mask,
        window: Interval,
        *,
        now: datetime,
        asked: Collection[str] = (),
        shuffle: Shuffle | None = None,
    ) -> Sequence[int]:
        """Return the positions in *mask*, most preferable first, for reservations of whole resources.

        The order is: few scarce properties that were not requested, small size, long free time before and
        after the window, then the stable order.

        Args:
            mask: The candidates: resources that are free in the window.
            window: The requested window.
            now: The present.
            asked: Names of the requested properties.
            shuffle: Random choice among resources with equally many scarce properties.
        """
        positions, order = np.flatnonzero(mask), self._order()
        if shuffle is not None:
            return order.best_shuffled(positions, asked, shuffle)  # type: ignore[return-value]
        free = self._bookings.free_around(window, mask, now=now)
        return order.best_first(positions, asked, free)  # type: ignore[return-value]

    def common_first(self, positions: Sequence[int], asked: Collection[str]) -> Sequence[int]:
        """Return positions in their order, except that unrequested scarce properties come last."""
        return self._order().common_first(np.asarray(positions, np.intp), asked)  # type: ignore[return-value]

    def longest_free(
        self, mask: Mask, window: Interval, *, now: datetime, shuffle: Shuffle | None = None
    ) -> Sequence[int]:
        """Return the positions in *mask*, longest free time around the window first.

        Ties keep the order of :meth:`in_order`. With *shuffle*, the order is random instead.
        """
        positions = self._order().in_order(mask, shuffle)
        if shuffle is None:
            free = self._bookings.free_around(window, mask, now=now)
            positions = positions[np.argsort(-free[positions], kind="stable")]
        return positions  # type: ignore[return-value]

    def _order(self) -> Preference:
        if self._preference is None:
            self._preference = Preference(self._resources)
        return self._preference

    def known_facts(self) -> frozenset[str]:
        """Return the names of all facts that any resource has."""
        if self._known_facts is None:
            facts = (each.facts for each in self._resources if each is not None)
            self._known_facts = frozenset().union(*facts)
        return self._known_facts

    def _awaited(self, resource_ids: Collection[ResourceId]) -> Positions | None:
        return np.flatnonzero(self.mask_of(resource_ids)) if resource_ids else None

    def _forget_facts(self, changed: Collection[str] | None = None) -> None:
        """Forget what followed from the facts; *changed* are the keys that differ, None for a new set."""
        kept = self._kept_columns if self._columns is None else self._columns.made
        self._columns = None
        if changed is None:
            self._kept_columns = {}
        else:
            self._kept_columns = {key: each for key, each in kept.items() if key not in changed}
        self._preference = None
        self._reservable = None
        self._known_facts = None
        self._inventories = None


def _same_facts(one: Resource, other: Resource) -> bool:
    return (
        not changed_keys(one.facts, other.facts)
        and one.is_reservable == other.is_reservable
        and one.size == other.size
        and one.providers == other.providers
    )
