"""The free amounts of resource classes on resources in groups over time.

Bookings count up to the capacity of their resource, so a resource that is booked whole while parts of it are
still held, as during maintenance, is not counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blazar.domain.booking_rows import Mask, Numbers, Positions
from blazar.domain.bookings import Bookings
from blazar.domain.busy_times import BusyTimes, Minutes, Steps, read_rows, running_sums, sum_by_group


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
        rows = read_rows(bookings, wanted, minutes)
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

    def changes(self) -> AmountChanges:
        """Return the amounts as changes in the order of time, for all classes with one sort."""
        positions = np.tile(self.times.positions, 2)
        instants = np.concatenate(self.times.bounds(with_cleaning=True))
        order = np.lexsort((instants, positions))
        positions, instants = positions[order], instants[order]
        changes = {}
        for name, used in self.used.items():
            level = np.cumsum(np.concatenate([used, -used])[order])
            # At each position, everything that begins also ends, so every sum starts at zero.
            changes[name] = np.diff(np.minimum(level, self.capacities[name][positions]), prepend=0)
        return AmountChanges(self.capacities, positions, instants, changes, self.times.minutes)


@dataclass(frozen=True, slots=True)
class AmountChanges:
    """Changes of the amounts that are not free, by resource and time."""

    capacities: Mapping[str, Numbers]
    """By class, the capacity of each resource, by position."""
    positions: Positions
    """The resource of each change; ascending."""
    instants: Numbers
    """In minutes, relative to the first minute; ascending for each resource."""
    amounts: Mapping[str, Numbers]
    """By class, the amount of each change."""
    minutes: Minutes

    def totals(self, name: str, group_of: Positions, groups: int) -> list[int]:
        """Return the capacity of a class in each group."""
        return sum_by_group(self.capacities[name], group_of, groups)

    def count_busy(self, name: str, group_of: Positions, groups: int) -> tuple[Steps, ...]:
        """Return, for each group, the amount of a class that is not free over time.

        Args:
            name: The class.
            group_of: The group of each resource, by position; -1 for none.
            groups: The number of groups.
        """
        if not groups:
            return ()
        group, size = group_of[self.positions], self.minutes.count + 1
        counted = group >= 0
        keys = np.concatenate([np.arange(groups) * size, group[counted] * size + self.instants[counted]])
        changes = np.concatenate([np.zeros(groups, np.int64), self.amounts[name][counted]])
        return running_sums(keys, changes[:, np.newaxis], groups, size)
