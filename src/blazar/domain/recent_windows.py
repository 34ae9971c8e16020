"""Which bookings overlap a window, remembered: the searches of one request ask about the same times."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from blazar.domain.booking_rows import Mask, Rows
from blazar.domain.booking_table import BookingTable
from blazar.domain.instants import LAST_MINUTE, first_minute, last_minute
from blazar.domain.interval import Interval

_REMEMBERED = 4
_FEW = 4
"""Windows with more than one of so many rows are not remembered."""


@dataclass(frozen=True, slots=True)
class _Known:
    window: Interval
    present: datetime | None
    rows: Rows


class RecentWindows:
    """Finds the rows near a window; what was found recently is read instead of all rows."""

    def __init__(self, table: BookingTable) -> None:
        """Create an object that has found nothing yet."""
        self._table = table
        self._known: deque[_Known] = deque(maxlen=_REMEMBERED)
        self._version = table.version

    def rows_near(self, window: Interval, present: datetime | None, among: Mask | None) -> Rows:
        """Return copies of rows that include all that overlap a window.

        Args:
            window: The window.
            present: If given, also include those that should have been released by then, and were not.
            among: The resources whose rows are needed, None for all.
        """
        if self._version != self._table.version:
            self._known.clear()
            self._version = self._table.version
        rows, read = self._table.rows, self._table.to_read(among)
        if isinstance(read, slice):
            for known in self._known:
                if known.window.covers(window) and present in (None, known.present):
                    return known.rows
        # Minutes are compared in half the time; they are rounded so that no row is missed.
        near = rows.start_minutes[read] < last_minute(window.end)
        near &= rows.end_minutes[read] > min(first_minute(window.start), LAST_MINUTE - 1)
        if present is not None:
            near |= rows.held[read] & (rows.end_minutes[read] <= last_minute(present))
        if not isinstance(read, slice):
            return rows.take(self._table.alive(read[near]))
        found = rows.take(self._table.alive(np.flatnonzero(near)))
        if len(found.starts) * _FEW <= self._table.used:
            self._known.append(_Known(window, present, found))
        return found
