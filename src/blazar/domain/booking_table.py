"""The rows of bookings: sorted ones, which are found by position, and new ones behind them."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Positions, Rows, empty_rows, in_order
from blazar.domain.instants import first_minutes, last_minutes

_DEAD = -1
"""The position of deleted rows."""
_LONGEST_TAIL = 65_536
"""New rows after which all rows are sorted again; sorting a million takes a fraction of a second."""
_FEW = 8


def are_few(wanted: Mask) -> bool:
    """Return whether it is faster to read the bookings of these resources only than those of all."""
    return int(np.count_nonzero(wanted)) * _FEW <= len(wanted)


class BookingTable:
    """Rows that are added and deleted; the rows of one position are found without reading the others."""

    def __init__(self) -> None:
        """Create an empty table."""
        self.rows = empty_rows(64)
        """All rows, including deleted ones and, after :attr:`used`, unused ones."""
        self.used = 0
        self.version = 0
        """Changes whenever rows do, or their numbers."""
        self._sorted = 0
        """The number of leading rows that are sorted, except for deleted ones: by position and minute."""
        self._first_rows = np.zeros(1, np.intp)
        """The first sorted row of each position, and the number of sorted rows; positions may be missing."""
        self._new_rows: dict[int, array[int]] = {}
        """The rows of each position that are not sorted yet, with deleted ones."""
        self._dead = 0

    def load(self, rows: Rows) -> None:
        """Replace all rows."""
        self.rows, self.used = rows, len(rows.starts)
        self.sort()

    def add(self, position: int, **values: Any) -> None:
        """Add a row of a position with the values of the other fields, except for the minutes."""
        if self.used == len(self.rows.starts):
            length = max(64, 2 * self.used)
            self.rows = Rows(*(np.resize(getattr(self.rows, each.name), length) for each in fields(Rows)))
        row, self.used = self.used, self.used + 1
        self.rows.positions[row] = position
        for name, value in values.items():
            getattr(self.rows, name)[row] = value
        minutes = slice(row, row + 1)
        self.rows.start_minutes[minutes] = first_minutes(self.rows.starts[minutes])
        self.rows.end_minutes[minutes] = last_minutes(self.rows.ends[minutes])
        self._new_rows.setdefault(position, array("i")).append(row)
        self.version += 1

    def at(self, position: int) -> Positions:
        """Return the numbers of the rows of a position."""
        sorted_rows = np.zeros(0, np.intp)
        if position < len(self._first_rows) - 1:
            sorted_rows = np.arange(self._first_rows[position], self._first_rows[position + 1])
        rows = np.concatenate([sorted_rows, np.array(self._new_rows.get(position, ()), np.intp)])
        alive: Positions = rows[self.rows.positions[rows] == position]
        return alive

    def of(self, positions: Collection[int]) -> Rows:
        """Return a copy of the rows of these positions, by position and minute."""
        wanted = np.fromiter(positions, np.intp, len(positions))
        rows = self.rows.take(np.flatnonzero(np.isin(self.rows.positions[: self.used], wanted)))
        return rows.take(in_order(rows))

    def delete(self, rows: Positions) -> None:
        """Delete rows."""
        self.rows.positions[rows] = _DEAD
        self._dead += len(rows)
        self.version += 1

    @property
    def is_sparse(self) -> bool:
        """Return whether most rows are deleted ones, which sorting removes."""
        return self._dead > 1024 and self._dead * 2 > self.used

    @property
    def is_long_unsorted(self) -> bool:
        """Return whether reading the new rows costs more than sorting once."""
        return self.used - self._sorted > max(_LONGEST_TAIL, self.used // 8)

    def alive(self, rows: Positions) -> Positions:
        """Return the given rows without deleted ones."""
        alive: Positions = rows[self.rows.positions[rows] != _DEAD]
        return alive

    def to_read(self, wanted: Mask | None, *, with_new: bool = True) -> slice | Positions:
        """Return rows that include those of the wanted resources: all, unless few resources are wanted.

        Args:
            wanted: The resources, by position; None for all.
            with_new: Whether to include the rows that are not sorted yet.
        """
        stop = self.used if with_new else self._sorted
        if wanted is None or not are_few(wanted):
            return slice(0, stop)
        # Resources without sorted rows may be missing at the end.
        positions = np.flatnonzero(wanted[: len(self._first_rows) - 1])
        first = self._first_rows[positions]
        counts = self._first_rows[positions + 1] - first
        offsets = first - np.cumsum(counts) + counts
        rows: Positions = np.repeat(offsets, counts) + np.arange(int(counts.sum()))
        return np.concatenate([rows, np.arange(self._sorted, stop)])

    def has_new(self, length: int) -> Mask:
        """Return which of the first *length* positions have rows that are not sorted yet."""
        found = np.zeros(length + 1, np.bool_)  # with one for deleted rows, whose position is -1
        found[self.rows.positions[self._sorted : self.used]] = True
        return found[:-1]

    def sort(self) -> None:
        """Sort all rows, without the deleted ones."""
        if self._dead or self.used < len(self.rows.starts):
            self.rows = self.rows.take(np.flatnonzero(self.rows.positions[: self.used] != _DEAD))
        self.rows = self.rows.take(in_order(self.rows))
        self.used = self._sorted = len(self.rows.starts)
        self._dead = 0
        positions: NDArray[np.int32] = self.rows.positions
        last = int(positions[-1]) if len(positions) else -1
        self._first_rows = np.searchsorted(positions, np.arange(last + 2))
        self._new_rows.clear()
        self.version += 1
