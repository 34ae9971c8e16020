"""Ranges of minutes of resources, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask

Marks = NDArray[np.int32] | NDArray[np.int64]
"""Minutes or positions, of the caller's integer size: half the bytes are read twice as fast."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of minutes of resources, as parallel arrays; those of one resource do not overlap."""

    positions: Marks
    low: Marks
    high: Marks
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


def merged(positions: Marks, low: Marks, high: Marks) -> Ranges:
    """Return ranges without overlaps that have the same minutes.

    Args:
        positions: The resource of each range; ascending.
        low: The first minute of each range; ascending for each resource.
        high: The minute after the last one; none is negative.
    """
    if not len(positions):
        return Ranges(positions, low, high)
    low = np.maximum(low, reached(positions, high))
    counted = low < high
    return Ranges(positions[counted], low[counted], high[counted])


def reached(positions: Marks, high: Marks) -> Marks:
    """Return, for each range, the highest end of the resource's ranges before it; 0 for the first one."""
    is_first = np.ones(len(high), np.bool_)
    np.not_equal(positions[1:], positions[:-1], out=is_first[1:])
    before = np.zeros_like(high)
    before[1:] = high[:-1]
    before[is_first] = 0
    if (high >= before).all():
        return before
    # Shares of a resource overlap: one running maximum over all resources finds the highest end so far.
    offset = positions.astype(np.int64) * (int(high.max()) + 1)
    highest = np.maximum.accumulate(high + offset)
    before = np.zeros_like(highest)
    before[1:] = highest[:-1]
    found: Marks = np.maximum(before - offset, 0)
    return found
