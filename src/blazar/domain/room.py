"""How many slots of one demand every resource has free throughout a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from blazar.domain.bookings import Bookings, Mask, Numbers, Rows, micros
from blazar.domain.capacity import Demand, Share, count_slots
from blazar.domain.supply import Supplies

_MANY = 2**31
"""More slots than anybody can ask for."""

Shares = Sequence[Share | None]


class Room:
    """The answer to one question, as far as it was looked at.

    A bound is known of every resource at once; the peaks of what is booked inside the window are worked
    out only of those that somebody asks for, because that takes longer.
    """

    at_most: Numbers
    """By position: no more slots than that are free. 0 where somebody has all of the resource."""
    is_shared: Mask
    """By position: others hold shares of the resource in the window."""

    def __init__(
        self,
        demand: Demand,
        start: datetime,
        *,
        supplies: Supplies,
        bookings: Bookings,
        overlapping: Rows,
        beside: Mapping[int, Shares],
    ) -> None:
        """Look at all resources.

        Args:
            demand: What a slot needs.
            start: When the window begins.
            supplies: What every resource has.
            bookings: Knows the demands of the bookings.
            overlapping: The bookings that count.
            beside: What else counts throughout the window, by position.
        """
        self._demand = demand
        self._start = micros(start)
        self._supplies = supplies
        size = len(supplies.trees)
        self._bookings = bookings
        self._beside = beside
        self._rows = overlapping.take(overlapping.slots > 0)
        self._capacities = [supplies.capacity(name, amount) for name, amount in demand.amounts]
        self._intricate = supplies.intricate(demand)
        totals = [supplies.total(name) for name, _ in demand.amounts] if self._intricate.any() else []
        self.is_shared = np.zeros(size, np.bool_)
        self.is_shared[self._rows.positions] = True
        taken = np.zeros(size, np.bool_)
        taken[overlapping.positions[overlapping.slots == 0]] = True
        for position, shares in beside.items():
            taken[position] |= None in shares
            self.is_shared[position] |= any(each is not None for each in shares)
        self.at_most = self._bound(self._capacities)
        if totals:
            # All providers of a tree together: no choice of Placement gives more.
            self.at_most = np.where(self._intricate, self._bound(totals), self.at_most)
        self.at_most[taken | (~self._intricate & ~supplies.suitable(demand))] = 0

    def slots(self, positions: Sequence[int] | NDArray[np.intp]) -> Numbers:
        """Return how many slots are free throughout the window, one number for each position given."""
        asked = np.asarray(positions, np.intp)
        free = np.minimum(self._free_at_roots(asked), self.at_most[asked])
        for index in np.flatnonzero(self._intricate[asked] & (self.at_most[asked] > 0)):
            free[index] = self._free_in_tree(int(asked[index]))
        return np.maximum(free, 0)

    def _bound(self, capacities: Sequence[Numbers]) -> Numbers:
        """Return what is free, by what is booked when the window begins."""
        at_start = self._rows.take(self._rows.starts <= self._start)
        bound = np.full(len(self._supplies.trees), _MANY, np.int64)
        for (name, amount), capacity in zip(self._demand.amounts, capacities, strict=True):
            used = np.bincount(at_start.positions, self._used(at_start, name), len(self._supplies.trees))
            used = used.astype(np.int64) + self._used_beside(name)
            bound = np.minimum(bound, np.maximum(capacity - used, 0) // amount)
        return bound

    def _used(self, rows: Rows, resource_class: str) -> Numbers:
        return self._bookings.amounts(resource_class)[rows.demands] * rows.slots

    def _used_beside(self, resource_class: str) -> Numbers:
        used = np.zeros(len(self._supplies.trees), np.int64)
        for position, shares in self._beside.items():
            used[position] = sum(
                dict(each.demand.amounts).get(resource_class, 0) * each.slots for each in shares if each
            )
        return used

    def _free_at_roots(self, asked: NDArray[np.intp]) -> Numbers:
        wanted = np.zeros(len(self._supplies.trees), np.bool_)
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
        beside = [each for each in self._beside.get(position, ()) if each is not None]
        # Slots of one demand are alike, whosever they are; and most moments are like another.
        codes, kinds = np.unique(rows.demands, return_inverse=True)
        moments = set()
        for instant in {self._start, *rows.starts[rows.starts > self._start].tolist()}:
            present = (rows.starts <= instant) & (rows.ends > instant)
            slots = np.bincount(kinds[present], rows.slots[present], len(codes)).astype(np.int64)
            moments.add(tuple(slots.tolist()))
        demands = [self._bookings.demand(each) for each in codes.tolist()]
        return count_slots(
            self._supplies.trees[position],
            self._demand,
            [
                [
                    *beside,
                    *(Share(slots=n, demand=each) for n, each in zip(moment, demands, strict=True) if n),
                ]
                for moment in moments
            ],
        )


class _Peaks:
    """The highest sums of what bookings have at once, by position."""

    def __init__(self, rows: Rows, start: int) -> None:
        times = np.concatenate([np.maximum(rows.starts, start), rows.ends])
        positions = np.concatenate([rows.positions, rows.positions])
        # What ends makes room for what begins at the same instant.
        is_start = np.repeat(np.array([True, False]), len(rows.starts))
        self._order = np.lexsort((is_start, times, positions))
        self._signs = np.where(is_start, 1, -1)
        ordered = positions[self._order]
        self._firsts = np.flatnonzero(np.diff(ordered, prepend=-1))
        self._positions = ordered[self._firsts]

    def add_to(self, totals: Numbers, amounts: Numbers) -> None:
        """Add to *totals*, by position, the peaks of these amounts, one for each row."""
        if len(self._firsts):
            # Of each position, all that begins also ends, so every sum begins with nothing.
            sums = np.cumsum((self._signs * np.concatenate([amounts, amounts]))[self._order])
            totals[self._positions] += np.maximum.reduceat(sums, self._firsts)
