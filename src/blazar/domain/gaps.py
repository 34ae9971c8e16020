"""The free times between bookings, as arrays: a search reads only those that are long enough."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Rows
from blazar.domain.instants import LAST_MINUTE
from blazar.domain.ranges import reached


@dataclass(frozen=True, slots=True)
class Gaps:
    """Free times of resources that have bookings, longest first, in minutes since 1970."""

    positions: NDArray[np.int32]
    low: NDArray[np.int32]
    """The first free minute; 0 before the first booking of a resource."""
    high: NDArray[np.int32]
    """The minute after the last free one; later than any date after the last booking."""
    booked: NDArray[np.int32]
    """The positions of all resources that have bookings, once each."""
    _shortness: NDArray[np.int32]
    """The lengths as negative numbers, which ascend."""

    @classmethod
    def between(cls, rows: Rows) -> Gaps:
        """Return the gaps between bookings that are sorted by position and minute of the start."""
        ends = reached(rows.positions, rows.end_minutes)
        is_last = np.ones(len(ends), np.bool_)
        np.not_equal(rows.positions[1:], rows.positions[:-1], out=is_last[:-1])
        booked = rows.positions[is_last]
        positions = np.concatenate([rows.positions, booked])
        low = np.concatenate([ends, np.maximum(ends, rows.end_minutes)[is_last]]).astype(np.int32)
        after = np.full(len(booked), LAST_MINUTE, np.int32)
        high = np.concatenate([rows.start_minutes, after])
        found = np.flatnonzero(low < high)
        order = found[np.argsort(low[found] - high[found])]
        return cls(positions[order], low[order], high[order], booked, (low - high)[order])

    def replaced(self, positions: Collection[int], rows: Rows) -> Gaps:
        """Return a copy in which the gaps of the resources at these positions are those between *rows*."""
        changed = np.fromiter(positions, np.intp, len(positions))
        new, kept = Gaps.between(rows), ~np.isin(self.positions, changed)
        where = np.searchsorted(self._shortness[kept], new._shortness)
        booked = self.booked[~np.isin(self.booked, changed)]
        return Gaps(
            np.insert(self.positions[kept], where, new.positions),
            np.insert(self.low[kept], where, new.low),
            np.insert(self.high[kept], where, new.high),
            np.concatenate([booked, new.booked]),
            np.insert(self._shortness[kept], where, new._shortness),
        )

    def at_least(self, minutes: int) -> Gaps:
        """Return the gaps of at least this length."""
        stop = int(np.searchsorted(self._shortness, np.int32(-minutes), side="right"))
        kept = slice(0, stop)
        return Gaps(self.positions[kept], self.low[kept], self.high[kept], self.booked, self._shortness[kept])
