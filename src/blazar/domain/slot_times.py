"""The number of free slots on resources in groups over time.

A slot counts as free at a minute if a reservation of that minute would get it. For resources with several
providers, the number is an upper bound, because only the choice for a reservation finds how slots fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers, Positions
from blazar.domain.bookings import Bookings
from blazar.domain.busy_times import Minutes, Steps, running_sums, sum_by_group
from blazar.domain.capacity import Demand
from blazar.domain.inventory_arrays import InventoryArrays
from blazar.domain.ranges import Ranges, merged
from blazar.domain.start_times import SlotSegments, Starts, slots_if_empty


@dataclass(frozen=True, slots=True)
class SlotTimes:
    """Copies of bookings, which may be read while the bookings change."""

    empty: NDArray[np.int64]
    """The slots of each resource without any booking, by position; zero for resources that do not count."""
    parts: Sequence[SlotSegments]
    """Each has all bookings of its resources."""
    minutes: Minutes

    @classmethod
    def read(
        cls, bookings: Bookings, inventories: InventoryArrays, wanted: Mask, demand: Demand, minutes: Minutes
    ) -> SlotTimes:
        """Return the bookings of the wanted resources that matter for the minutes."""
        empty = np.where(wanted, slots_if_empty(inventories, demand), 0)
        starts = Starts(
            first=minutes.first, count=minutes.count, duration=1, cleaning=minutes.cleaning, now=minutes.now
        )
        rows = bookings.sorted_rows(empty > 0, minutes.reach, present=minutes.now)
        parts = [SlotSegments(bookings, which, inventories, demand, starts) for which in rows]
        return cls(empty, parts, minutes)

    def totals(self, group_of: Positions, groups: int) -> list[int]:
        """Return the slots of each group without any booking."""
        return sum_by_group(self.empty, group_of, groups)

    def count_busy(self, group_of: Positions, groups: int) -> tuple[Steps, ...]:
        """Return, for each group, the number of slots that are not free over time.

        Args:
            group_of: The group of each resource, by position; -1 for none.
            groups: The number of groups.
        """
        if not groups:
            return ()
        size = self.minutes.count + 1
        keys: list[Numbers] = [np.arange(groups) * size]
        changes: list[NDArray[np.int64]] = [np.zeros(groups, np.int64)]
        for slots, blocked in self._blocked():
            group = group_of[blocked.positions]
            counted = group >= 0
            for ends, change in ((blocked.low, slots), (blocked.high, -slots)):
                keys.append(group[counted] * size + ends[counted])
                changes.append(np.full(len(keys[-1]), change, np.int64))
        return running_sums(np.concatenate(keys), np.concatenate(changes)[:, np.newaxis], groups, size)

    def _blocked(self) -> Iterator[tuple[int, Ranges]]:
        """Yield numbers of slots, with the ranges in which that many more slots of a resource are not free.

        A resource always has one of the numbers of free slots that occur, so only these are examined: each
        one stands for the slots by which it exceeds the next smaller one.
        """
        for each in self.parts:
            most = self.empty[each.positions]
            occurring = np.unique(np.concatenate([np.minimum(each.free, most), most]))
            smaller = 0
            for level in occurring[occurring > 0].tolist():
                yield level - smaller, merged(*each.below(level, most >= level))
                smaller = level
