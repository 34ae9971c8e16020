"""The free units of a need, for each possible start of a reservation.

A search for a free time asks this for all starts at once, to the minute, which is the resolution of dates in
the API. For whole resources the numbers are exact. For slots they are upper bounds where a choice of provider
matters, so a search confirms each answer with the choice that a request would make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers, Positions, Rows
from blazar.domain.booking_table import are_few
from blazar.domain.bookings import Bookings
from blazar.domain.capacity import Demand
from blazar.domain.gaps import Gaps
from blazar.domain.instants import EPOCH, LAST_MINUTE, MICROS_PER_MINUTE, first_minutes, last_minutes, micros
from blazar.domain.interval import Interval
from blazar.domain.inventory_arrays import InventoryArrays
from blazar.domain.lease import ReservationId
from blazar.domain.need import Need
from blazar.domain.ranges import Marks, Ranges, merged

_MINUTE = timedelta(minutes=1)
_LEVELS = 64
"""The number of slots per resource up to which counts are exact; above, they are upper bounds."""
_TAKEN = 2**40
"""The amount that a booking of the whole resource uses: more of a resource class than exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """Possible starts of a reservation: every minute from the first one on.

    Args:
        first: In minutes since 1970.
        count: The number of starts.
        duration: The length of the reservation, in minutes.
        cleaning: The time that is kept free before and after other bookings, in minutes.
        now: The present; it is in the minute of the first start or before that.
        ignoring: Reservations whose bookings do not count: those of the lease that is to be moved.
        is_joint: Whether the request has several reservations of these resources. Together they may need what
            a release adds beyond the need of each.
    """

    first: int
    count: int
    duration: int
    cleaning: int
    now: datetime
    ignoring: frozenset[ReservationId] = frozenset()
    is_joint: bool = False

    @classmethod
    def within(
        cls, window: Interval, duration: timedelta, *, now: datetime, cleaning_time: timedelta
    ) -> Starts:
        """Return the starts with which a reservation of this length lies in the window; may be none."""
        first = -(-(window.start - EPOCH) // _MINUTE)
        last = (window.end - duration - EPOCH) // _MINUTE
        return cls(
            first=first,
            count=max(0, last - first + 1),
            duration=-(-duration // _MINUTE),
            cleaning=-(-cleaning_time // _MINUTE),
            now=now,
        )

    def at(self, index: int) -> datetime:
        """Return the start with this number."""
        return EPOCH + (self.first + index) * _MINUTE

    def window(self, index: int) -> Interval:
        """Return the window of the reservation with this start."""
        start = self.at(index)
        return Interval(start, start + self.duration * _MINUTE)

    @property
    def span(self) -> Interval:
        """Return the time in which bookings matter for one of the starts."""
        return Interval(self.at(0), self.window(self.count - 1).end).widened(self.cleaning * _MINUTE)

    @property
    def last_minute(self) -> int:
        """Return the minute until which resources must be free for the last start, since 1970."""
        return self.first + self.count + self.duration + self.cleaning

    @property
    def begun(self) -> int:
        """Return the number of starts that are not after the present."""
        return min(self.count, max(0, (self.now - EPOCH) // _MINUTE - self.first + 1))


@dataclass(frozen=True, slots=True)
class Profile:
    """Units by start, as a step function in minutes."""

    units: Numbers
    """For each start, the number of free units."""
    releases: Mask
    """For each start, whether something is freed that was not free one minute earlier."""


def count_free(bookings: Bookings, wanted: Mask, starts: Starts) -> Profile:
    """Return how many of the wanted resources are free throughout the reservation, for each start."""
    balance = np.zeros(starts.count + 1, np.int64)
    releases = np.zeros(starts.count + 1, np.bool_)
    units = np.count_nonzero(wanted)
    if not are_few(wanted) and starts.last_minute < LAST_MINUTE:
        # First, because it may compute gaps again, after which all resources are settled.
        gaps = bookings.gaps()
        settled = wanted & bookings.settled(len(wanted), present=starts.now, ignoring=starts.ignoring)
        units -= np.count_nonzero(settled[gaps.booked])
        _unblock(gaps, settled, starts, balance, releases)
        wanted &= ~settled
    for which in rows_of_others(bookings, wanted, starts):
        low, high = blocked_by(bookings.rows, which, starts)
        _block(bookings.rows.positions[which], low, high, balance, releases)
    return Profile(units - np.cumsum(balance[: starts.count]), releases[: starts.count])


def slots_if_empty(inventories: InventoryArrays, demand: Demand) -> NDArray[np.int64]:
    """Return, by position, at most how many slots each resource has without any booking."""
    found = np.full(len(inventories.trees), _TAKEN, np.int64)
    for (_, amount), capacity in zip(demand.amounts, inventories.bounds(demand), strict=True):
        found = np.minimum(found, np.maximum(capacity, 0) // amount)
    found[~inventories.usable(demand)] = 0
    return found


def count_slots(
    bookings: Bookings, inventories: InventoryArrays, wanted: Mask, need: Need, starts: Starts
) -> Profile:
    """Return, for each start, at most how many slots are free throughout the reservation."""
    assert need.demand is not None
    base = slots_if_empty(inventories, need.demand)
    levels = levels_of(need, int(base[wanted].max(initial=0)))
    units = np.zeros(starts.count, np.int64)
    balances = {level: np.zeros(starts.count + 1, np.int64) for level in levels}
    releases = np.zeros(starts.count + 1, np.bool_)
    for which in rows_of_others(bookings, wanted & (base > 0), starts):
        segments = SlotSegments(bookings, which, inventories, need.demand, starts)
        most = base[segments.positions]
        for level, balance in balances.items():
            # A resource that never has as many slots is not counted at this level: it is not blocked either.
            positions, low, high = segments.below(level, most >= level)
            _block(positions, low, high, balance, releases)
        if starts.is_joint:
            releases[ends_of(bookings.rows, which, starts)] = True
    # What is overdue takes up a resource throughout a reservation that begins now, and none of later ones.
    releases[starts.begun] = True
    for level, balance in balances.items():
        free = np.count_nonzero(wanted & (base >= level)) - np.cumsum(balance[: starts.count])
        units += free * levels[level]
    if need.is_together:
        units = np.where(units > 0, need.most, 0)
    return Profile(units, releases[: starts.count])


def rows_of_others(bookings: Bookings, wanted: Mask, starts: Starts) -> Iterator[Positions]:
    """Yield the row numbers of the bookings that count, as :meth:`Bookings.sorted_rows` does."""
    own = bookings.owner_codes(starts.ignoring)
    for which in bookings.sorted_rows(wanted, starts.span, present=starts.now):
        yield which[~np.isin(bookings.rows.owners[which], own)] if len(own) else which


def levels_of(need: Need, highest: int) -> dict[int, int]:
    """Return the levels to count: numbers of slots on one resource, with how many units each adds."""
    if need.is_apart:
        return {1: 1}
    if need.is_together:
        return {need.least: 1}
    top = min(need.most, highest)
    exact = min(top, _LEVELS)
    levels = dict.fromkeys(range(1, exact + 1), 1)
    if top > exact:
        levels[exact] += top - exact
    return levels


class SlotSegments:
    """The free slots of resources over time, as segments with constant numbers."""

    def __init__(
        self,
        bookings: Bookings,
        which: Positions,
        inventories: InventoryArrays,
        demand: Demand,
        starts: Starts,
    ) -> None:
        rows, cleaning = bookings.rows, starts.cleaning * MICROS_PER_MINUTE
        # What was released and cleaned by now is over, even if the first starts are earlier.
        which = which[rows.held[which] | (rows.ends[which] + cleaning > micros(starts.now))]
        begin, end = rows.starts[which], rows.ends[which] + cleaning
        overdue = rows.held[which] & (rows.ends[which] <= micros(starts.now))
        # It takes up its resource at every start that has come.
        end[overdue] = np.maximum(end[overdue], (starts.first + starts.begun) * MICROS_PER_MINUTE)
        positions = np.concatenate([rows.positions[which]] * 2)
        times = np.concatenate([begin, end])
        is_start = np.repeat(np.array([True, False]), len(which))
        order = np.lexsort((is_start, times, positions))
        self.positions, self._times = positions[order], times[order]
        signs = np.where(is_start, 1, -1)
        is_whole = rows.slots[which] == 0
        self.free = np.full(len(order), _TAKEN, np.int64)
        for (name, amount), own in zip(demand.amounts, inventories.bounds(demand), strict=True):
            # Bookings of whole resources have no demand: their code is -1.
            amounts = np.append(bookings.amounts(name), 0)
            used = np.where(is_whole, _TAKEN, amounts[rows.demands[which]] * rows.slots[which])
            level = np.cumsum((signs * np.concatenate([used, used]))[order])
            free = np.maximum(own[self.positions] - level, 0) // amount
            self.free = np.minimum(self.free, free)
        self._starts = starts

    def below(self, level: int, counted: Mask) -> tuple[NDArray[np.int32], Marks, Marks]:
        """Return positions, and the ranges of starts when fewer than *level* slots are free.

        Args:
            level: The number of slots.
            counted: The segments of the resources that count, by number.
        """
        is_low = counted[:-1] & (self.free[:-1] < level)
        is_low &= (self.positions[:-1] == self.positions[1:]) & (self._times[:-1] < self._times[1:])
        which = np.flatnonzero(is_low)
        begin, end, starts = self._times[which], self._times[which + 1], self._starts
        low = first_minutes(begin).astype(np.int64) - starts.duration - starts.cleaning + 1 - starts.first
        high = last_minutes(end).astype(np.int64) - starts.first
        return self.positions[which], *_clipped(low, high, starts)


def blocked_by(rows: Rows, which: Positions, starts: Starts) -> tuple[Marks, Marks]:
    """Return the ranges of starts with which a reservation would conflict with each booking."""
    reach = starts.duration + starts.cleaning
    low = _less(rows.start_minutes[which], reach - 1 + starts.first)
    high = _less(rows.end_minutes[which], starts.first - starts.cleaning)
    held = np.flatnonzero(rows.held[which])
    overdue = held[rows.ends[which[held]] <= micros(starts.now)]
    high[overdue] = np.maximum(high[overdue], starts.begun)
    return _clipped(low, high, starts)


def ends_of(rows: Rows, which: Positions, starts: Starts) -> Marks:
    """Return the starts at which bookings have ended, including the cleaning after them."""
    ends = _less(rows.end_minutes[which], starts.first - starts.cleaning)
    return ends[(ends > 0) & (ends < starts.count)]


def _less(minutes: NDArray[np.int32], amount: int) -> Marks:
    """Return minutes since 1970 minus an amount; uses more bytes only for dates after the year 6000."""
    return minutes - amount if 0 <= amount <= LAST_MINUTE else minutes.astype(np.int64) - amount


def _clipped(low: Marks, high: Marks, starts: Starts) -> tuple[Marks, Marks]:
    clipped_low: Marks = low.clip(0, starts.count)
    clipped_high: Marks = high.clip(0, starts.count)
    return clipped_low, clipped_high


def _unblock(gaps: Gaps, wanted: Mask, starts: Starts, balance: Numbers, releases: Mask) -> None:
    """Subtract the gaps in which a reservation fits from *balance*, as ranges of starts.

    A resource with bookings is blocked at all other starts. Where a range begins, something is released.
    """
    gaps = gaps.at_least(starts.duration + 2 * starts.cleaning)
    low, high = gaps.low, gaps.high
    if not wanted.all():
        chosen = wanted[gaps.positions]
        low, high = low[chosen], high[chosen]
    # A gap without any of the starts becomes an empty range, which adds nothing.
    low = (low + (starts.cleaning - starts.first)).clip(0, starts.count)
    high = (high - (starts.duration + starts.cleaning - 1 + starts.first)).clip(low, starts.count)
    begins = np.bincount(low, minlength=len(balance))
    balance -= begins
    balance += np.bincount(high, minlength=len(balance))
    releases |= begins > 0
    releases[0] = False


def _block(
    positions: NDArray[np.int32],
    low: Marks,
    high: Marks,
    balance: Numbers,
    releases: Mask,
) -> None:
    """Add the ranges to *balance*, each start of a resource once, and note where a resource is released.

    Args:
        positions: The resource of each range; ascending.
        low: The first start of each range; ascending for each resource.
        high: The start after the last one.
        balance: Changes of the number of blocked resources from one start to the next.
        releases: Starts at which a range ends and no other one of the resource begins.
    """
    blocked = merged(positions, low, high)
    balance += np.bincount(blocked.low, minlength=len(balance))
    balance -= np.bincount(blocked.high, minlength=len(balance))
    mark_releases(blocked, releases)


def mark_releases(blocked: Ranges, releases: Mask) -> None:
    """Note the starts at which a range ends and no other one of the resource begins."""
    is_release = np.ones(len(blocked.high), np.bool_)
    is_release[:-1] = (blocked.low[1:] != blocked.high[:-1]) | (
        blocked.positions[1:] != blocked.positions[:-1]
    )
    releases[blocked.high[is_release]] = True
