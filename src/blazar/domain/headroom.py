"""The number of free slots of one demand on every resource throughout a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers, Rows
from blazar.domain.bookings import Bookings
from blazar.domain.capacity import Demand, Share, count_slots
from blazar.domain.instants import micros
from blazar.domain.inventory_arrays import InventoryArrays

_MANY = 2**31
"""More slots than any request can ask for."""

Shares = Sequence[Share | None]


class Headroom:
    """The free slots for one demand and window, computed as far as needed.

    An upper bound is computed for all resources at once. The peaks of the bookings inside the window take
    longer, so they are computed only for the resources that the caller asks for.
    """

    at_most: Numbers
    """By position: an upper bound of the free slots; 0 if a booking takes the whole resource."""
    is_shared: Mask
    """By position: true if other reservations hold shares of the resource in the window."""

    def __init__(
        self,
        demand: Demand,
        start: datetime,
        *,
        inventories: InventoryArrays,
        bookings: Bookings,
        overlapping: Rows,
        beside: Mapping[int, Shares],
    ) -> None:
        """Compute the bounds of all resources.

        Args:
            demand: The needs of a slot.
            start: The start of the window.
            inventories: The inventories of every resource.
            bookings: The source of the bookings' demands.
            overlapping: The bookings that count.
            beside: Other shares that count throughout the window, by position.
        """
        self._demand = demand
        self._start = micros(start)
        self._inventories = inventories
        size = len(inventories.trees)
        self._bookings = bookings
        self._beside = _Beside(beside)
        self._rows = overlapping.take(overlapping.slots > 0)
        self._capacities = inventories.bounds(demand)
        self._intricate = inventories.intricate(demand)
        self.is_shared = np.zeros(size, np.bool_)
        self.is_shared[self._rows.positions] = True
        taken = np.zeros(size, np.bool_)
        taken[overlapping.positions[overlapping.slots == 0]] = True
        taken[self._beside.taken] = True
        self.is_shared[self._beside.positions] = True
        self.at_most = self._bound()
        self.at_most[taken | ~inventories.usable(demand)] = 0

    def slots(self, positions: Sequence[int] | NDArray[np.intp]) -> Numbers:
        """Return how many slots are free throughout the window, one number per given position."""
        asked = np.asarray(positions, np.intp)
        free = np.minimum(self._free_at_roots(asked), self.at_most[asked])
        for index in np.flatnonzero(self._intricate[asked] & (self.at_most[asked] > 0)):
            free[index] = self._free_in_tree(int(asked[index]))
        return np.maximum(free, 0)

    def _bound(self) -> Numbers:
        """Return the free slots according to the bookings at the start of the window."""
        at_start = self._rows.take(self._rows.starts <= self._start)
        bound = np.full(len(self._inventories.trees), _MANY, np.int64)
        for (name, amount), capacity in zip(self._demand.amounts, self._capacities, strict=True):
            used = np.bincount(at_start.positions, self._used(at_start, name), len(self._inventories.trees))
            used = used.astype(np.int64) + self._used_beside(name)
            bound = np.minimum(bound, np.maximum(capacity - used, 0) // amount)
        return bound

    def _used(self, rows: Rows, resource_class: str) -> Numbers:
        return self._bookings.amounts(resource_class)[rows.demands] * rows.slots

    def _used_beside(self, resource_class: str) -> Numbers:
        """Return by position the amount of a class in other shares; the caller may change the array."""
        return self._beside.used(resource_class, len(self._inventories.trees))

    def _free_at_roots(self, asked: NDArray[np.intp]) -> Numbers:
        wanted = np.zeros(len(self._inventories.trees), np.bool_)
        wanted[asked] = True
        rows = self._rows.take(wanted[self._rows.positions])
        free = np.full(len(asked), _MANY, np.int64)
        peaks = _Peaks(rows, self._start)
        for (name, amount), capacity in zip(self._demand.amounts, self._capacities, strict=True):
            used = self._used_beside(name)
            peaks.add_to(used, self._used(rows, name))
            free = np.minimum(free, (capacity[asked] - used[asked]) // amount)
        return free

    def _free_in_tree(self, position: int) -> int:
        rows = self._rows.take(self._rows.positions == position)
        beside = self._beside.at(position)
        # Slots of one demand are equal, whichever reservation holds them, and most moments are equal.
        codes, kinds = np.unique(rows.demands, return_inverse=True)
        moments = set()
        for instant in {self._start, *rows.starts[rows.starts > self._start].tolist()}:
            present = (rows.starts <= instant) & (rows.ends > instant)
            slots = np.bincount(kinds[present], rows.slots[present], len(codes)).astype(np.int64)
            moments.add(tuple(slots.tolist()))
        demands = [self._bookings.demand(each) for each in codes.tolist()]
        return count_slots(
            self._inventories.trees[position],
            self._demand,
            [
                [
                    *beside,
                    *(Share(slots=n, demand=each) for n, each in zip(moment, demands, strict=True) if n),
                ]
                for moment in moments
            ],
        )


class _Beside:
    """Shares that count throughout the window in addition to all bookings, as arrays.

    A request for many slots asks for free slots again for each of its reservations, in addition to all
    shares that were found so far.
    """

    def __init__(self, shares_of: Mapping[int, Shares]) -> None:
        """Store the shares by position; None among them takes the whole resource."""
        self._shares_of = shares_of
        found = [(position, each) for position, shares in shares_of.items() for each in shares]
        shares = [(position, each) for position, each in found if each is not None]
        self.taken = np.array([position for position, each in found if each is None], np.intp)
        self.positions = np.array([position for position, _ in shares], np.intp)
        self._slots = np.array([each.slots for _, each in shares], np.int64)
        # Identified by id(), because hashing a demand is slow. The shares keep the demands alive.
        demands = {id(each.demand): each.demand for _, each in shares}
        kinds = {key: kind for kind, key in enumerate(demands)}
        self._demands = list(demands.values())
        self._kinds = np.array([kinds[id(each.demand)] for _, each in shares], np.intp)

    def at(self, position: int) -> list[Share]:
        """Return the shares at a position."""
        return [each for each in self._shares_of.get(position, ()) if each is not None]

    def used(self, resource_class: str, size: int) -> Numbers:
        """Return the amount of a class that the shares use, for each of *size* positions."""
        used = np.zeros(size, np.int64)
        amounts = np.array([dict(each.amounts).get(resource_class, 0) for each in self._demands], np.int64)
        if len(amounts):
            np.add.at(used, self.positions, amounts[self._kinds] * self._slots)
        return used


class _Peaks:
    """The highest simultaneous sums over bookings, by position."""

    def __init__(self, rows: Rows, start: int) -> None:
        times = np.concatenate([np.maximum(rows.starts, start), rows.ends])
        positions = np.concatenate([rows.positions, rows.positions])
        # Bookings that end at an instant free their amounts before others begin at that instant.
        is_start = np.repeat(np.array([True, False]), len(rows.starts))
        self._order = np.lexsort((is_start, times, positions))
        self._signs = np.where(is_start, 1, -1)
        ordered = positions[self._order]
        self._firsts = np.flatnonzero(np.diff(ordered, prepend=-1))
        self._positions = ordered[self._firsts]

    def add_to(self, totals: Numbers, amounts: Numbers) -> None:
        """Add to *totals*, by position, the peaks of these amounts; *amounts* has one number per row."""
        if len(self._firsts):
            # At each position, everything that begins also ends, so every sum starts at zero.
            sums = np.cumsum((self._signs * np.concatenate([amounts, amounts]))[self._order])
            totals[self._positions] += np.maximum.reduceat(sums, self._firsts)
