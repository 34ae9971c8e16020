"""Ranges of minutes of resources, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers, Positions


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of minutes of resources, as parallel arrays; those of one resource do not overlap."""

    positions: Positions | NDArray[np.int32]
    low: Numbers
    high: Numbers
    """The minute after the last one."""

    def of(self, which: Mask) -> Ranges:
        """Return the ranges of some resources."""
        chosen = which[self.positions]
        return Ranges(self.positions[chosen], self.low[chosen], self.high[chosen])

    def __add__(self, other: Ranges) -> Ranges:
        """Return the ranges of both, which have no resource in common."""
        return Ranges(
            np.concatenate([self.positions, other.positions]),
            np.concatenate([self.low, other.low]),
            np.concatenate([self.high, other.high]),
        )


def merged(positions: Positions | NDArray[np.int32], low: Numbers, high: Numbers) -> Ranges:
    """Return ranges without overlaps that have the same minutes.

    Args:
        positions: The resource of each range; ascending.
        low: The first minute of each range; ascending for each resource.
        high: The minute after the last one; none is negative.
    """
    if not len(positions):
        return Ranges(positions, low, high)
    # The highest end so far of the same resource, found with one running maximum over all of them.
    offset = positions.astype(np.int64) * (int(high.max()) + 1)
    highest = np.maximum.accumulate(high + offset)
    before = np.empty_like(highest)
    before[0], before[1:] = 0, highest[:-1]
    low = np.maximum(low, before - offset)
    counted = low < high
    return Ranges(positions[counted], low[counted], high[counted])
