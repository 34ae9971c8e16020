"""The minutes at which whole resources are busy, and their number in groups over time.

A minute counts as busy if a reservation of that minute would conflict with a booking, including the cleaning
time before and after it. So the numbers match what a request would be granted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers, Positions, Rows
from blazar.domain.bookings import Bookings
from blazar.domain.instants import EPOCH
from blazar.domain.interval import Interval
from blazar.domain.ranges import Ranges, merged

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Minutes:
    """Consecutive minutes.

    Args:
        first: In minutes since 1970.
        count: The number of minutes.
        begun: The number of minutes that are not after the present.
        cleaning: The time that is kept free before and after bookings, in minutes.
        now: The present; it is in the first minute or before it.
    """

    first: int
    count: int
    begun: int
    cleaning: int
    now: datetime

    @classmethod
    def of(cls, window: Interval, *, now: datetime, cleaning_time: timedelta) -> Minutes:
        """Return the minutes of a window that starts and ends with a full minute."""
        first, count = (window.start - EPOCH) // _MINUTE, window.duration // _MINUTE
        return cls(
            first=first,
            count=count,
            begun=min(count, max(0, (now - EPOCH) // _MINUTE - first + 1)),
            cleaning=-(-cleaning_time // _MINUTE),
            now=now,
        )

    @property
    def reach(self) -> Interval:
        """Return the time in which bookings matter for one of the minutes."""
        start = EPOCH + self.first * _MINUTE
        return Interval(start, start + self.count * _MINUTE).widened(self.cleaning * _MINUTE)


def all_minutes(which: Mask, minutes: Minutes) -> Ranges:
    """Return one range for each of the resources: all minutes."""
    positions = np.flatnonzero(which)
    low = np.zeros(len(positions), np.int64)
    return Ranges(positions, low, low + minutes.count)


def read_rows(bookings: Bookings, wanted: Mask, minutes: Minutes) -> Rows:
    """Return copies of the bookings of the wanted resources that matter for the minutes.

    They are sorted by resource and start.
    """
    parts = list(bookings.sorted_rows(wanted, minutes.reach, present=minutes.now))
    return bookings.rows.take(np.concatenate(parts) if parts else np.zeros(0, np.intp))


@dataclass(frozen=True, slots=True)
class BusyTimes:
    """Copies of bookings, sorted by resource and start, which may be read while the bookings change."""

    positions: Positions
    starts: Numbers
    """In minutes, relative to the first minute."""
    ends: Numbers
    owners: NDArray[np.int32]
    held: Mask
    minutes: Minutes

    @classmethod
    def read(cls, bookings: Bookings, wanted: Mask, minutes: Minutes) -> BusyTimes:
        """Return the bookings of the wanted resources that matter for the minutes."""
        return cls.of(read_rows(bookings, wanted, minutes), minutes)

    @classmethod
    def of(cls, rows: Rows, minutes: Minutes) -> BusyTimes:
        """Return the times of bookings that are sorted by resource and start, and not deleted."""
        return cls(
            rows.positions.astype(np.intp),
            rows.start_minutes.astype(np.int64) - minutes.first,
            rows.end_minutes.astype(np.int64) - minutes.first,
            rows.owners,
            rows.held,
            minutes,
        )

    def bounds(self, *, with_cleaning: bool) -> tuple[Numbers, Numbers]:
        """Return the first busy minute of each booking, and the minute after its last one.

        A resource that should have been released by now, and was not, is busy up to the present minute.

        Args:
            with_cleaning: Whether the cleaning time before and after bookings counts.
        """
        cleaning = self.minutes.cleaning if with_cleaning else 0
        low, high = self.starts - cleaning, self.ends + cleaning
        begun = self.minutes.begun
        late = self.held & (self.ends <= begun)
        high[late] = np.maximum(high[late], begun)
        return np.clip(low, 0, self.minutes.count), np.clip(high, 0, self.minutes.count)

    def ranges(
        self, *, with_cleaning: bool, owners: Numbers | None = None, without: Numbers | None = None
    ) -> Ranges:
        """Return when the resources are busy; see :meth:`bounds`.

        Args:
            with_cleaning: Whether the cleaning time before and after bookings counts.
            owners: Codes of reservations; None for all.
            without: Codes of owners whose bookings do not count.
        """
        low, high = self.bounds(with_cleaning=with_cleaning)
        positions = self.positions
        if owners is not None:
            chosen = np.isin(self.owners, owners)
            positions, low, high = positions[chosen], low[chosen], high[chosen]
        elif without is not None and len(without):
            chosen = ~np.isin(self.owners, without)
            positions, low, high = positions[chosen], low[chosen], high[chosen]
        return merged(positions, low, high)

    def totals(self, group_of: Positions, groups: int) -> list[int]:
        """Return the number of resources of each group."""
        found: list[int] = np.bincount(group_of[group_of >= 0], minlength=groups).tolist()
        return found

    def count_busy(self, group_of: Positions, groups: int) -> tuple[Steps, ...]:
        """Return, for each group, the number of resources that are not free over time."""
        return count_in_groups([self.ranges(with_cleaning=True)], group_of, groups, self.minutes)


@dataclass(frozen=True, slots=True)
class Steps:
    """Numbers of resources of one group over time: each column holds from its minute on."""

    minutes: Numbers
    numbers: NDArray[np.int64]
    """One row for each kind of ranges."""

    def coarsened(self, minutes: Minutes, resolution: int) -> Steps:
        """Return steps that begin at multiples of some minutes since 1970, except the first one.

        Each has the numbers of the earliest of its minutes in which the last number is largest. Consecutive
        steps differ in some number.
        """
        begins = np.maximum(np.arange(-(minutes.first % resolution), minutes.count, resolution), 0)
        times = np.union1d(self.minutes, begins)
        numbers = self.numbers[:, np.searchsorted(self.minutes, times, side="right") - 1]
        cells = np.searchsorted(begins, times, side="right") - 1
        order = np.lexsort((times, -numbers[-1], cells))
        numbers = numbers[:, order[np.searchsorted(cells[order], np.arange(len(begins)))]]
        differs = np.append(True, (numbers[:, 1:] != numbers[:, :-1]).any(axis=0))
        return Steps(begins[differs], numbers[:, differs])


def count_in_groups(
    kinds: Sequence[Ranges], group_of: Positions, groups: int, minutes: Minutes
) -> tuple[Steps, ...]:
    """Return, for each group, the number of resources in a range of each kind over time.

    Args:
        kinds: The ranges of each kind; those of one resource do not overlap within a kind.
        group_of: The group of each resource, by position; -1 for none.
        groups: The number of groups.
        minutes: The minutes.

    Returns:
        Steps that begin with the first minute; consecutive ones differ in some number.
    """
    if not groups:
        return ()
    size = minutes.count + 1
    keys, changes = [np.arange(groups) * size], [np.zeros((groups, len(kinds)), np.int64)]
    for number, each in enumerate(kinds):
        group = group_of[each.positions]
        counted = group >= 0
        for ends, sign in ((each.low, 1), (each.high, -1)):
            keys.append(group[counted] * size + ends[counted])
            change = np.zeros((len(keys[-1]), len(kinds)), np.int64)
            change[:, number] = sign
            changes.append(change)
    return running_sums(np.concatenate(keys), np.concatenate(changes), groups, size)


def sum_by_group(numbers: Numbers, group_of: Positions, groups: int) -> list[int]:
    """Return the sum of numbers by position in each group; -1 is the group of positions that do not count."""
    counted = group_of >= 0
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, group_of[counted], numbers[counted])
    found: list[int] = sums.tolist()
    return found


def running_sums(keys: Numbers, changes: NDArray[np.int64], groups: int, size: int) -> tuple[Steps, ...]:
    """Return the running sums of the changes by group; a key is the group times *size* plus the minute."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    # All changes of a group add up to zero, so the sum starts again with each group.
    sums = np.cumsum(changes[order], axis=0)
    is_last = np.append(keys[1:] != keys[:-1], True)
    keys, sums = keys[is_last], sums[is_last]
    begins = keys % size == 0
    differs = np.append(True, (sums[1:] != sums[:-1]).any(axis=1))
    kept = (begins | differs) & (keys % size < size - 1)
    keys, sums = keys[kept], sums[kept]
    bounds = np.searchsorted(keys, np.arange(groups + 1) * size)
    return tuple(
        Steps(keys[low:high] % size, sums[low:high].T)
        for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    )
