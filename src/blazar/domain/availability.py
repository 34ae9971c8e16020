"""Which resources are free when: a disposable read model, searched in memory.

One object holds the facts of all resources of one kind and the windows in which they are booked, as
arrays, so that a search among ten thousand hosts is a handful of vector operations. It may be stale;
whoever books checks the generation of what was chosen (ADR-0004).
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.requirements import Condition, Fact, Requirement

Mask = NDArray[np.bool_]
"""One truth value a position."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A window in which a resource is held. ``reservation_id`` is None for one that is only cleaned."""

    resource_id: ResourceId
    reservation_id: ReservationId | None
    window: Interval
    released_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookingColumns:
    """Many bookings as parallel columns, so that a million of them are loaded in seconds.

    ``starts`` and ``ends`` are microseconds since 1970, ``ends`` at the earliest when the resource was
    released; ``held`` says that it was not.
    """

    resource_ids: Sequence[ResourceId]
    reservation_ids: Sequence[ReservationId | None]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    held: Mask


@dataclass(slots=True)
class _Rows:
    """Bookings as parallel arrays; a row whose position is -1 is dead."""

    starts: NDArray[np.int64] = field(default_factory=lambda: np.empty(64, np.int64))
    ends: NDArray[np.int64] = field(default_factory=lambda: np.empty(64, np.int64))
    positions: NDArray[np.int32] = field(default_factory=lambda: np.empty(64, np.int32))
    owners: NDArray[np.int32] = field(default_factory=lambda: np.empty(64, np.int32))
    held: Mask = field(default_factory=lambda: np.empty(64, np.bool_))
    used: int = 0

    def append(self, start: int, end: int, position: int, owner: int, held: bool) -> int:
        if self.used == len(self.starts):
            self._resize(max(64, 2 * self.used))
        row = self.used
        self.starts[row], self.ends[row] = start, end
        self.positions[row], self.owners[row], self.held[row] = position, owner, held
        self.used += 1
        return row

    def _resize(self, length: int) -> None:
        self.starts = np.resize(self.starts, length)
        self.ends = np.resize(self.ends, length)
        self.positions = np.resize(self.positions, length)
        self.owners = np.resize(self.owners, length)
        self.held = np.resize(self.held, length)


class Availability:
    """The facts and bookings of all resources of one kind. Not safe for use by several threads."""

    def __init__(self, casefold_facts: Container[str] = frozenset()) -> None:
        """Begin with nothing; text of *casefold_facts* is equal whatever its case."""
        self._casefold_facts = casefold_facts
        self._resources: list[Resource | None] = []
        self._position_of: dict[ResourceId, int] = {}
        self._rows = _Rows()
        self._rows_of: dict[int, list[int]] = {}
        self._dead_rows = 0
        self._owner_codes: dict[ReservationId, int] = {}
        self._next_owner_code = 0
        self._matching: dict[Requirement, Mask] = {}
        self._preference: NDArray[np.intp] | None = None
        self._reservable: Mask | None = None
        self._known_facts: frozenset[str] | None = None

    def __len__(self) -> int:
        """Return the number of resources."""
        return len(self._position_of)

    def load(self, resources: Iterable[Resource], bookings: BookingColumns) -> None:
        """Fill an empty object; bookings of other resources are left out."""
        for resource in resources:
            self.put(resource, ())
        find = self._position_of.get
        positions = np.fromiter((find(each, -1) for each in bookings.resource_ids), np.int32)
        owners = np.fromiter((self._owner_code(each) for each in bookings.reservation_ids), np.int32)
        known = positions >= 0
        self._rows = _Rows(
            starts=bookings.starts[known],
            ends=bookings.ends[known],
            positions=positions[known],
            owners=owners[known],
            held=bookings.held[known],
            used=int(known.sum()),
        )
        self._index_rows()

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
        self._replace_rows(position, bookings)

    def put_bookings(self, resource_id: ResourceId, generation: int, bookings: Iterable[Booking]) -> bool:
        """Replace the bookings of a resource whose facts are as before.

        Returns:
            Whether the resource is known.
        """
        position = self._position_of.get(resource_id)
        if position is None:
            return False
        self._resources[position] = replace(self.resource_at(position), generation=generation)
        self._replace_rows(position, bookings)
        return True

    def drop(self, resource_id: ResourceId) -> None:
        """Forget a resource; an unknown one is fine."""
        position = self._position_of.pop(resource_id, None)
        if position is None:
            return
        self._resources[position] = None
        self._bury_rows(position)
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
        ignoring: ReservationId | None = None,
    ) -> Mask:
        """Return which resources are free throughout *window*.

        A resource that should have been given back by now but was not is not free for a window that
        has begun.

        Args:
            window: When they are needed.
            now: The present.
            cleaning_time: Idle time owed before and after another booking.
            ignoring: The reservation whose own bookings do not count.
        """
        rows = self._rows
        used = slice(0, rows.used)
        wide = window.widened(cleaning_time)
        start, end, present = _micros(wide.start), _micros(wide.end), _micros(now)
        overlapping = (rows.starts[used] < end) & (rows.ends[used] > start)
        if window.start <= now:
            overlapping |= rows.held[used] & (rows.ends[used] <= present)
        if ignoring is not None:
            overlapping &= rows.owners[used] != self._owner_codes.get(ignoring, -2)
        positions = rows.positions[used][overlapping]
        free = np.ones(len(self._resources), np.bool_)
        free[positions[positions >= 0]] = False
        return free

    def in_order(self, mask: Mask, shuffle: random.Random | None = None) -> Sequence[int]:
        """Return the positions that *mask* has, smallest resource first, or in random order."""
        if shuffle is not None:
            positions = [int(each) for each in np.flatnonzero(mask)]
            shuffle.shuffle(positions)
            return positions
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

    def known_facts(self) -> frozenset[str]:
        """Return the names of all facts that at least one resource has."""
        if self._known_facts is None:
            living = (each for each in self._resources if each is not None)
            self._known_facts = frozenset(name for each in living for name in each.facts)
        return self._known_facts

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
        self._reservable = None
        self._known_facts = None

    def _replace_rows(self, position: int, bookings: Iterable[Booking]) -> None:
        self._bury_rows(position)
        rows = [self._add_row(position, booking) for booking in bookings]
        if rows:
            self._rows_of[position] = rows

    def _add_row(self, position: int, booking: Booking) -> int:
        end = booking.window.end
        if booking.released_at is not None:
            end = max(end, booking.released_at)
        return self._rows.append(
            _micros(booking.window.start),
            _micros(end),
            position,
            self._owner_code(booking.reservation_id),
            booking.released_at is None,
        )

    def _index_rows(self) -> None:
        """Find out which rows each position has."""
        positions = self._rows.positions[: self._rows.used]
        order = np.argsort(positions, kind="stable")
        firsts = np.flatnonzero(np.diff(positions[order], prepend=-1))
        self._rows_of = {
            int(positions[rows[0]]): rows.tolist() for rows in np.split(order, firsts[1:]) if len(rows)
        }

    def _owner_code(self, reservation_id: ReservationId | None) -> int:
        if reservation_id is None:
            return -1
        # Never given out twice: compaction forgets codes in between.
        code = self._owner_codes.get(reservation_id)
        if code is None:
            code = self._owner_codes[reservation_id] = self._next_owner_code
            self._next_owner_code += 1
        return code

    def _bury_rows(self, position: int) -> None:
        rows = self._rows_of.pop(position, ())
        for row in rows:
            self._rows.positions[row] = -1
        self._dead_rows += len(rows)
        if self._dead_rows > 1024 and self._dead_rows * 2 > self._rows.used:
            self._compact()

    def _compact(self) -> None:
        rows = self._rows
        alive = np.flatnonzero(rows.positions[: rows.used] >= 0)
        for name in ("starts", "ends", "positions", "owners", "held"):
            array = getattr(rows, name)
            array[: len(alive)] = array[alive]
        rows.used, self._dead_rows = len(alive), 0
        self._index_rows()
        living = set(rows.owners[: rows.used].tolist())
        self._owner_codes = {key: code for key, code in self._owner_codes.items() if code in living}


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
    )


def _micros(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND


def _natural(resource_id: str) -> tuple[int, str]:
    return (int(resource_id), "") if resource_id.isdecimal() else (2**63, resource_id)
