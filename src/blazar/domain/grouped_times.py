"""The free units of a need with a grouping, for each possible start of a reservation.

All values of a fact are counted together: the changes of the units of all resources are sorted once, by value
and minute. So the work depends on the number of bookings, not on that of values: a fact such as the name of a
host has as many values as there are hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask, Numbers, Positions
from blazar.domain.grouped_units import Values, most_per_value
from blazar.domain.grouping import Grouping
from blazar.domain.need import Need
from blazar.domain.ranges import Marks, Ranges, merged
from blazar.domain.start_times import (
    Profile,
    SlotSegments,
    Starts,
    blocked_by,
    ends_of,
    levels_of,
    mark_releases,
    rows_of_others,
    slots_if_empty,
)

_AT_ONCE: Final = 2**20
"""Changes that are kept before those of the same value and minute are added up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """The values of the only fact of a grouping, or pairs of a value of ``same`` and one of ``spread``."""

    of: Positions
    """The group of each resource, by position; -1 for none."""
    count: int
    most: Numbers | None
    """The most units that count in each group; None for all."""
    same: Numbers | None
    """For pairs, the number of the value of ``same``, by group."""

    @classmethod
    def by(cls, availability: Availability, need: Need, grouping: Grouping) -> _Groups:
        """Return the groups of the resources that satisfy a need."""
        parts = [Values.of(availability, need, key) for key in grouping.keys]
        codes, count = parts[-1].codes, len(parts[-1])
        if grouping.spread is None:
            return cls(of=codes, count=count, most=None, same=None)
        if grouping.same is None:
            most = np.full(count, most_per_value(need.most, count), np.int64)
            return cls(of=codes, count=count, most=most, same=None)
        suitable = availability.matching(need.requirement) & availability.reservable()
        suitable &= (codes >= 0) & (parts[0].codes >= 0)
        pairs, numbers = np.unique((parts[0].codes * count + codes)[suitable], return_inverse=True)
        of = np.full(len(codes), -1, np.intp)
        of[suitable] = numbers
        same = pairs // max(count, 1)
        values = np.bincount(same, minlength=1)
        return cls(of=of, count=len(pairs), most=-(-need.most // values[same]), same=same)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedTimes:
    """Copies of bookings with the groups of their resources, which may be read while the bookings change."""

    need: Need
    starts: Starts
    empty: Numbers
    """The slots of each resource without any booking, by position; zero for resources that do not count."""
    groups: _Groups
    ranges: Sequence[Ranges]
    """For whole resources: the starts at which they are not free, which may overlap. Each element has all
    bookings of its resources."""
    segments: Sequence[SlotSegments]
    """For slots: how many of them are free. Each element has all bookings of its resources."""
    ends: Sequence[Marks]
    """More starts at which something is released."""

    @classmethod
    def read(cls, availability: Availability, need: Need, starts: Starts, grouping: Grouping) -> GroupedTimes:
        """Return the bookings of the resources that satisfy a need and have the facts of a grouping."""
        groups = _Groups.by(availability, need, grouping)
        wanted = availability.matching(need.requirement) & availability.reservable() & (groups.of >= 0)
        bookings, inventories = availability.bookings, availability.inventories()
        demand, rows = need.demand, availability.bookings.rows
        empty = wanted.astype(np.int64)
        if demand is not None:
            empty = np.where(wanted, slots_if_empty(inventories, demand), 0)
        ranges, segments, ends = list[Ranges](), list[SlotSegments](), list[Marks]()
        for which in rows_of_others(bookings, empty > 0, starts):
            if demand is None:
                ranges.append(Ranges(rows.positions[which], *blocked_by(rows, which, starts)))
                continue
            segments.append(SlotSegments(bookings, which, inventories, demand, starts))
            if starts.is_joint:
                ends.append(ends_of(rows, which, starts))
        return cls(
            need=need,
            starts=starts,
            empty=empty,
            groups=groups,
            ranges=ranges,
            segments=segments,
            ends=ends,
        )

    def profile(self) -> Profile:
        """Return how many units of the need are available with the grouping, for each start.

        For a range of units that are spread, the numbers are upper bounds: with fewer units, fewer may have
        the same value.
        """
        starts = self.starts
        releases = np.zeros(starts.count + 1, np.bool_)
        if self.need.demand is not None and self.groups.count:
            # What is overdue takes up a resource throughout a reservation that begins now, and none of later
            # ones.
            releases[starts.begun] = True
        for each in self.ends:
            releases[each] = True
        keys, units = self._units_of_groups(releases)
        changes, size = np.diff(units, prepend=0), starts.count + 1
        if self.groups.most is not None and self.groups.same is None:
            balance = np.zeros(size, np.int64)
            np.add.at(balance, keys % size, changes)
            return Profile(np.cumsum(balance)[: starts.count], releases[: starts.count])
        if self.groups.same is not None:
            keys, changes = _added_up(self.groups.same[keys // size] * size + keys % size, changes)
            units = np.cumsum(changes)
        return Profile(_highest(keys % size, units, starts.count), releases[: starts.count])

    def _units_of_groups(self, releases: Mask) -> tuple[Numbers, Numbers]:
        """Return the units in each group from a start on, with the group times ``count + 1`` plus the start.

        Those of each group end with zero, after the last start. Also note when something is released.
        """
        size, groups = self.starts.count + 1, self.groups
        begin = np.arange(groups.count) * size
        empty = np.zeros(groups.count, np.int64)
        levels = self._levels()
        for level, weight in levels.items():
            which = groups.of[self.empty >= level]
            empty += np.bincount(which[which >= 0], minlength=groups.count) * weight
        pending, kept = [(np.append(begin, begin + size - 1), np.append(empty, -empty))], 0
        for weight, blocked in self._blocked(levels):
            mark_releases(blocked, releases)
            first = groups.of[blocked.positions] * size
            change = np.full(len(first), weight, np.int64)
            pending += [(first + blocked.low, -change), (first + blocked.high, change)]
            kept += 2 * len(first)
            if kept > _AT_ONCE:
                pending, kept = [_added_up(*_joined(pending))], 0
        keys, changes = _added_up(*_joined(pending))
        units = np.cumsum(changes)
        if self.need.is_together:
            units = np.where(units > 0, self.need.most, 0)
        if groups.most is not None:
            units = np.minimum(units, groups.most[keys // size])
        return keys, units

    def _levels(self) -> dict[int, int]:
        """Return the numbers of slots on one resource that matter, with how many units each adds."""
        if self.need.demand is None:
            return {1: 1}
        return levels_of(self.need, int(self.empty.max(initial=0)))

    def _blocked(self, levels: dict[int, int]) -> Iterator[tuple[int, Ranges]]:
        """Yield the units that each level adds, with the ranges in which resources have fewer slots."""
        for each in self.ranges:
            yield 1, merged(each.positions, each.low, each.high)
        for segments in self.segments:
            most = self.empty[segments.positions]
            for level, weight in levels.items():
                yield weight, merged(*segments.below(level, most >= level))


def _joined(parts: Sequence[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    return np.concatenate([keys for keys, _ in parts]), np.concatenate([changes for _, changes in parts])


def _added_up(keys: Numbers, changes: Numbers) -> tuple[Numbers, Numbers]:
    """Return the different keys in order, each with the sum of its changes."""
    order = np.argsort(keys, kind="stable")
    keys, sums = keys[order], np.cumsum(changes[order])
    is_last = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_last[:-1])
    return keys[is_last], np.diff(sums[is_last], prepend=0)


def _highest(begins: Numbers, units: Numbers, count: int) -> Numbers:
    """Return, for each start, the most units of any group.

    Args:
        begins: The starts from which on a group has these units; those of each group end with zero units.
        units: The units.
        count: The number of starts.
    """
    ends = np.append(begins[1:], 0)
    which = units > 0
    low, high, units = begins[which], ends[which], units[which]
    # Each range is covered by two of the largest power of two that fits, and each of these by two halves.
    powers = np.frexp(high - low)[1] - 1
    found = np.zeros(count, np.int64)
    for power in range(int(powers.max(initial=0)), -1, -1):
        own, length = powers == power, 2**power
        np.maximum.at(found, low[own], units[own])
        np.maximum.at(found, high[own] - length, units[own])
        if half := length // 2:
            halved = found.copy()
            np.maximum(halved[half:], found[:-half], out=halved[half:])
            found = halved
    return found
