"""Which resources are free when: a disposable read model, searched in memory.

One object holds the facts of all resources of one kind and the windows in which they are booked, as
arrays, so that a search among ten thousand hosts is a handful of vector operations. It may be stale;
whoever books checks the generation of what was chosen (ADR-0004).
"""

from __future__ import annotations

import random
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from blazar.domain.bookings import Booking, BookingColumns, Bookings, Mask, Rows, micros
from blazar.domain.capacity import Demand, Share
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.providers import HostProvider
from blazar.domain.requirements import Condition, Fact, Requirement
from blazar.domain.room import Room
from blazar.domain.supply import Supplies

_CACHED_REQUIREMENTS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What a search knows of one resource.

    ``facts`` are what requirements are compared with. ``size`` orders resources from small to large.
    """

    id: ResourceId
    generation: int
    is_reservable: bool
    facts: Mapping[str, Fact]
    size: tuple[int, ...] = ()
    providers: tuple[HostProvider, ...] = ()
    """What can be had of it in shares; empty if it is only ever given out whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffle:
    """How chance decides what is taken of all that can be had."""

    chance: random.Random
    equals_only: bool = False
    """Whether resources of another size come before or after, as without chance."""


class Availability:
    """The facts and bookings of all resources of one kind. Not safe for use by several threads.

    Resources are known by their positions in the masks that methods return and take.
    """

    def __init__(self, casefold_facts: Container[str] = frozenset()) -> None:
        """Begin with nothing; text of *casefold_facts* is equal whatever its case."""
        self._casefold_facts = casefold_facts
        self._resources: list[Resource | None] = []
        self._position_of: dict[ResourceId, int] = {}
        self._bookings = Bookings()
        self._matching: dict[Requirement, Mask] = {}
        self._preference: NDArray[np.intp] | None = None
        self._size_ranks: NDArray[np.intp] | None = None
        self._reservable: Mask | None = None
        self._known_facts: frozenset[str] | None = None
        self._supplies: Supplies | None = None

    def __len__(self) -> int:
        """Return the number of resources."""
        return len(self._position_of)

    def load(self, resources: Iterable[Resource], bookings: Iterable[BookingColumns]) -> None:
        """Fill an empty object with bookings that come in parts; those of other resources are left out."""
        for resource in resources:
            self.put(resource, ())
        self._bookings.load((part, self._positions_of(part.resource_ids)) for part in bookings)

    def put(self, resource: Resource, bookings: Iterable[Booking]) -> None:
        """Replace all that is known of a resource."""
        position = self._position_of.get(resource.id)
        if position is None:
            position = len(self._resources)
            self._resources.append(None)
            self._position_of[resource.id] = position
        before = self._resources[position]
        self._resources[position] = resource
        if before is None or not _same_facts(before, resource):
            self._forget_facts()
        self._bookings.replace(position, bookings)

    def put_bookings(self, resource_id: ResourceId, generation: int, bookings: Iterable[Booking]) -> bool:
        """Replace the bookings of a resource whose facts are as before.

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
        """Replace what some reservations have booked of a known resource, which is as before else."""
        position = self._position_of[resource_id]
        self._resources[position] = replace(self.resource_at(position), generation=generation)
        for reservation_id, own in bookings.items():
            self._bookings.replace_of(position, reservation_id, own)

    def drop(self, resource_id: ResourceId) -> None:
        """Forget a resource; an unknown one is fine."""
        position = self._position_of.pop(resource_id, None)
        if position is None:
            return
        self._resources[position] = None
        self._bookings.bury(position)
        self._forget_facts()

    def get(self, resource_id: ResourceId) -> Resource | None:
        """Return what is known of a resource, or None."""
        position = self._position_of.get(resource_id)
        return None if position is None else self._resources[position]

    def generation_of(self, resource_id: ResourceId) -> int:
        """Return the generation at which a known resource was read."""
        resource = self.get(resource_id)
        if resource is None:
            raise KeyError(resource_id)
        return resource.generation

    def resource_at(self, position: int) -> Resource:
        """Return the resource at a position of a mask."""
        resource = self._resources[position]
        if resource is None:
            raise KeyError(position)
        return resource

    def position_of(self, resource_id: ResourceId) -> int | None:
        """Return the position of a resource, or None if it is not known."""
        return self._position_of.get(resource_id)

    def _positions_of(self, resource_ids: Sequence[ResourceId]) -> NDArray[np.int32]:
        find = self._position_of.get
        return np.fromiter((find(each, -1) for each in resource_ids), np.int32, len(resource_ids))

    def mask_of(self, resource_ids: Iterable[ResourceId]) -> Mask:
        """Return the mask of these resources; unknown ones are left out."""
        mask = np.zeros(len(self._resources), np.bool_)
        mask[[self._position_of[each] for each in resource_ids if each in self._position_of]] = True
        return mask

    def reservable(self) -> Mask:
        """Return which resources may be given out at all."""
        if self._reservable is None:
            self._reservable = np.fromiter(
                (each is not None and each.is_reservable for each in self._resources),
                np.bool_,
                len(self._resources),
            )
        return self._reservable

    def matching(self, requirement: Requirement) -> Mask:
        """Return which resources satisfy *requirement*; remembered until some fact changes."""
        mask = self._matching.get(requirement)
        if mask is None:
            mask = self._match(requirement)
            if len(self._matching) >= _CACHED_REQUIREMENTS:
                self._matching.clear()
            self._matching[requirement] = mask
        return mask

    def free(
        self,
        window: Interval,
        *,
        now: datetime,
        cleaning_time: timedelta,
        ignoring: Collection[ReservationId] = (),
        awaited: Collection[ResourceId] = (),
    ) -> Mask:
        """Return which resources nobody has booked, or a share of them, throughout *window*.

        A resource that should have been given back by now but was not is not free for a window that
        has begun.

        Args:
            window: When they are needed.
            now: The present.
            cleaning_time: Idle time owed before and after another booking.
            ignoring: Reservations whose own bookings do not count.
            awaited: Resources that were promised already: that they were not given back does not count.
        """
        free = np.ones(len(self._resources), np.bool_)
        free[self._in_the_way(window, now, cleaning_time, ignoring, awaited).positions] = False
        return free

    def room(  # noqa: PLR0913 — each says which bookings count
        self,
        demand: Demand,
        window: Interval,
        *,
        now: datetime,
        cleaning_time: timedelta,
        ignoring: Collection[ReservationId] = (),
        awaited: Collection[ResourceId] = (),
        beside: Mapping[ResourceId, Sequence[Share | None]] | None = None,
    ) -> Room:
        """Return how many slots the resources have free throughout *window*.

        Args:
            demand: What each slot needs.
            window: As for :meth:`free`.
            now: As for :meth:`free`.
            cleaning_time: As for :meth:`free`.
            ignoring: As for :meth:`free`.
            awaited: As for :meth:`free`.
            beside: What is promised throughout the window besides all bookings.
        """
        if self._supplies is None:
            self._supplies = Supplies([() if each is None else each.providers for each in self._resources])
        positions = self._position_of
        booked = self._in_the_way(window, now, cleaning_time, ignoring, awaited)
        return Room(
            demand,
            window.start,
            supplies=self._supplies,
            bookings=self._bookings,
            # What was given back and is clean by now is past, even if the window began before.
            overlapping=booked.take(booked.held | (booked.ends > micros(now))),
            beside={positions[key]: each for key, each in (beside or {}).items() if key in positions},
        )

    def in_order(self, mask: Mask, shuffle: Shuffle | None = None) -> Sequence[int]:
        """Return the positions that *mask* has, smallest resource first, or as chance has it."""
        if shuffle is not None:
            return self._shuffled(np.flatnonzero(mask), shuffle)
        if self._preference is None:
            self._preference = np.array(
                sorted(
                    self._position_of.values(),
                    key=lambda position: (
                        self.resource_at(position).size,
                        _natural(self.resource_at(position).id),
                    ),
                ),
                np.intp,
            )
        preferred = self._preference
        return preferred[mask[preferred]]  # type: ignore[return-value]

    def _shuffled(self, positions: NDArray[np.intp], shuffle: Shuffle) -> Sequence[int]:
        drawn = np.random.default_rng(shuffle.chance.getrandbits(64)).random(len(positions))
        if not shuffle.equals_only:
            return positions[np.argsort(drawn)]  # type: ignore[return-value]
        return positions[np.lexsort((drawn, self._ranks()[positions]))]  # type: ignore[return-value]

    def _ranks(self) -> NDArray[np.intp]:
        """Return by position how many sizes are smaller, until the facts change."""
        if self._size_ranks is None:
            sizes = [() if each is None else each.size for each in self._resources]
            ranks = {size: rank for rank, size in enumerate(sorted(set(sizes)))}
            self._size_ranks = np.array([ranks[each] for each in sizes], np.intp)
        return self._size_ranks

    def known_facts(self) -> frozenset[str]:
        """Return the names of all facts that at least one resource has."""
        if self._known_facts is None:
            living = (each for each in self._resources if each is not None)
            self._known_facts = frozenset(name for each in living for name in each.facts)
        return self._known_facts

    def _in_the_way(
        self,
        window: Interval,
        now: datetime,
        cleaning_time: timedelta,
        ignoring: Collection[ReservationId],
        awaited: Collection[ResourceId],
    ) -> Rows:
        return self._bookings.overlapping(
            window,
            cleaning_time=cleaning_time,
            present=now if window.start <= now else None,
            ignoring=ignoring,
            awaited=np.flatnonzero(self.mask_of(awaited)) if awaited else None,
        )

    def _match(self, requirement: Requirement) -> Mask:
        # Thousands of resources share a few values: each value is compared once.
        tests: list[tuple[Condition, bool, dict[tuple[type, Fact], bool]]] = [
            (condition, condition.key in self._casefold_facts, {}) for condition in requirement.conditions
        ]
        mask = np.zeros(len(self._resources), np.bool_)
        for position, resource in enumerate(self._resources):
            if resource is not None:
                mask[position] = all(
                    _holds(condition, resource.facts, ignore_case, known)
                    for condition, ignore_case, known in tests
                )
        return mask

    def _forget_facts(self) -> None:
        self._matching.clear()
        self._preference = None
        self._size_ranks = None
        self._reservable = None
        self._known_facts = None
        self._supplies = None


def _holds(
    condition: Condition,
    facts: Mapping[str, Fact],
    ignore_case: bool,
    known: dict[tuple[type, Fact], bool],
) -> bool:
    if condition.key not in facts:
        return False
    fact = facts[condition.key]
    key = (type(fact), fact)  # 1 and True are equal as keys, but do not compare alike
    if key not in known:
        known[key] = condition.holds(fact, ignore_case=ignore_case)
    return known[key]


def _same_facts(one: Resource, other: Resource) -> bool:
    return (
        one.facts == other.facts
        # 1, 1.0 and True are equal, but do not compare alike.
        and all(type(fact) is type(other.facts[name]) for name, fact in one.facts.items())
        and one.is_reservable == other.is_reservable
        and one.size == other.size
        and one.providers == other.providers
    )


def _natural(resource_id: str) -> tuple[int, str]:
    return (int(resource_id), "") if resource_id.isdecimal() else (2**63, resource_id)
