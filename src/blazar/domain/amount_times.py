"""The free amounts of resource classes on resources in groups over time.

Bookings count up to the capacity of their resource, so a resource that is taken whole while parts of it are
still held, as during maintenance, is not counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blazar.domain.booking_rows import Mask, Numbers, Positions
from blazar.domain.bookings import Bookings
from blazar.domain.busy_times import BusyTimes, Minutes, Steps, running_sums


@dataclass(frozen=True, slots=True)
class AmountTimes:
    """Copies of bookings with their amounts, which may be read while the bookings change."""

    capacities: Mapping[str, Numbers]
    """By class, the capacity of each resource, by position; zero for resources that do not count."""
    used: Mapping[str, Numbers]
    """By class, the amount of each booking."""
    times: BusyTimes

    @classmethod
    def read(
        cls, bookings: Bookings, capacities: Mapping[str, Numbers], wanted: Mask, minutes: Minutes
    ) -> AmountTimes:
        """Return the bookings of the wanted resources that matter for the minutes.

        Args:
            bookings: All bookings.
            capacities: By class, the capacity of each resource, by position.
            wanted: The resources that count, by position.
            minutes: The minutes.
        """
        parts = list(bookings.sorted_rows(wanted, minutes.reach, present=minutes.now))
        which = np.concatenate(parts) if parts else np.zeros(0, np.intp)
        rows = bookings.rows.take(which)
        times = BusyTimes.of(rows, minutes)
        counted = {name: np.where(wanted, each, 0) for name, each in capacities.items()}
        return cls(
            counted,
            {
                # Bookings of whole resources have no demand: their code is -1.
                name: np.where(
                    rows.slots == 0,
                    counted[name][times.positions],
                    np.append(bookings.amounts(name), 0)[rows.demands] * rows.slots,
                )
                for name in capacities
            },
            times,
        )

    def totals(self, name: str, group_of: Positions, groups: int) -> list[int]:
        """Return the capacity of a class in each group."""
        counted = group_of >= 0
        totals = np.zeros(groups, np.int64)
        np.add.at(totals, group_of[counted], self.capacities[name][counted])
        found: list[int] = totals.tolist()
        return found

    def count_busy(self, name: str, group_of: Positions, groups: int) -> tuple[Steps, ...]:
        """Return, for each group, the amount of a class that is not free over time.

        Args:
            name: The class.
            group_of: The group of each resource, by position; -1 for none.
            groups: The number of groups.
        """
        if not groups:
            return ()
        positions = np.tile(self.times.positions, 2)
        times = np.concatenate(self.times.bounds(with_cleaning=True))
        order = np.lexsort((times, positions))
        positions, times = positions[order], times[order]
        level = np.cumsum(np.concatenate([self.used[name], -self.used[name]])[order])
        # At each position, everything that begins also ends, so every sum starts at zero.
        changes = np.diff(np.minimum(level, self.capacities[name][positions]), prepend=0)
        group, size = group_of[positions], self.times.minutes.count + 1
        counted = group >= 0
        keys = np.concatenate([np.arange(groups) * size, group[counted] * size + times[counted]])
        changes = np.concatenate([np.zeros(groups, np.int64), changes[counted]])
        return running_sums(keys, changes[:, np.newaxis], groups, size)
