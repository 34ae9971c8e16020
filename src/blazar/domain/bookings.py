"""Bookings of resources as arrays, so that a search among a million takes milliseconds."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers, Positions, Rows, empty_rows, in_order
from blazar.domain.capacity import Demand, Share
from blazar.domain.demands import NO_DEMAND, Demands
from blazar.domain.expiries import Expiries
from blazar.domain.gaps import Gaps
from blazar.domain.instants import MICROSECOND, first_minutes, last_minutes, micros
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.owners import Owners

_DEAD = -1
_LONGEST_TAIL = 65_536
"""New rows after which all rows are sorted again; sorting a million takes a fraction of a second."""
_FEW = 8
_MANY_CHANGED = 10
"""Gaps are computed again if more than one of so many resources have changed."""
LONG_FREE = timedelta(days=1)
"""Resources that are free for longer than this before and after a window rank equally."""


def are_few(wanted: Mask) -> bool:
    """Return whether it is faster to read the bookings of these resources only than those of all."""
    return int(np.count_nonzero(wanted)) * _FEW <= len(wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A window in which a resource is held. ``reservation_id`` is None if it is only being cleaned."""

    resource_id: ResourceId
    reservation_id: ReservationId | None
    window: Interval
    share: Share | None = None
    """None: the whole resource."""
    released_at: datetime | None = None
    expires_at: datetime | None = None
    """From when on an offer's booking no longer counts; None for the booking of a lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookingColumns:
    """Many bookings as parallel columns, so that a million of them load in seconds.

    ``starts`` and ``ends`` are microseconds since 1970; ``ends`` is not before the resource's release.
    ``held`` is true if it was not released. ``slots`` is 0 if a booking takes the whole resource.
    """

    resource_ids: Sequence[ResourceId]
    reservation_ids: Sequence[ReservationId | None]
    starts: Numbers
    ends: Numbers
    held: Mask
    slots: NDArray[np.int32]
    demands: Sequence[Demand | None]


class Bookings:
    """The bookings of resources that are identified by their positions in a list."""

    def __init__(self) -> None:
        self._rows = empty_rows(64)
        self._used = 0
        self._sorted = 0
        """The number of leading rows that are sorted, except for deleted ones: by position and minute."""
        self._first_rows = np.zeros(1, np.intp)
        """The first sorted row of each position, and the number of sorted rows; positions may be missing."""
        self._gaps: Gaps | None = None
        """The gaps between the sorted rows."""
        self._changed: set[int] = set()
        """The positions whose rows have changed since they were sorted."""
        self._dead = 0
        self._new_rows: dict[int, array[int]] = {}
        """The rows of each position that are not sorted yet, with deleted ones."""
        self._owners = Owners()
        self._demands = Demands()
        self.expiries = Expiries()

    def load(self, parts: Iterable[tuple[BookingColumns, NDArray[np.int32]]]) -> None:
        """Replace all bookings by these, with their positions; negative positions are ignored."""
        loaded = [empty_rows(0)]
        for columns, positions in parts:
            owners = np.fromiter((self._owners.code(each) for each in columns.reservation_ids), np.int32)
            demands = np.fromiter((self._demands.code(each) for each in columns.demands), np.int32)
            minutes = (first_minutes(columns.starts), last_minutes(columns.ends))
            rows = Rows(
                columns.starts,
                columns.ends,
                positions,
                owners,
                columns.held,
                columns.slots,
                demands,
                *minutes,
            )
            loaded.append(rows.take(positions >= 0))
        self._rows = Rows(
            *(np.concatenate([getattr(part, each.name) for part in loaded]) for each in fields(Rows))
        )
        self._used = len(self._rows.starts)
        self._sort()

    def replace(self, position: int, bookings: Iterable[Booking]) -> None:
        """Replace all bookings of one resource."""
        self.bury(position)
        self.add(position, bookings)

    def replace_of(self, position: int, reservation_id: ReservationId, bookings: Iterable[Booking]) -> None:
        """Replace one reservation's bookings of one resource."""
        for owner in self._owners.codes_of([reservation_id]):
            self.expiries.forget(position, owner)
            self._remove(position, owner)
        self.add(position, bookings)

    def drop_expired(self, now: datetime) -> None:
        """Remove the bookings that have expired by *now*."""
        for position, owner in self.expiries.take(micros(now)):
            self._remove(position, owner)

    def bury(self, position: int) -> None:
        """Remove all bookings of one resource."""
        self.expiries.forget(position)
        self._kill(position, self._rows_at(position))

    def overlapping(
        self,
        window: Interval,
        *,
        cleaning_time: timedelta,
        present: datetime | None,
        ignoring: Collection[ReservationId],
        awaited: Positions | None = None,
        among: Mask | None = None,
    ) -> Rows:
        """Return the bookings that conflict with one in *window*; their ends include the cleaning time.

        Args:
            window: The requested window.
            cleaning_time: Idle time required after every booking, including the requested one.
            present: If given, bookings that should have been released by then, and were not, conflict
                throughout the window.
            ignoring: Reservations whose own bookings do not conflict.
            awaited: Positions of resources that the request will wait for, where *present* has no effect.
            among: The resources whose bookings are needed, None for all; bookings of others may be omitted.
        """
        which, overdue = self._find_overlapping(window, cleaning_time, present, ignoring, awaited, among)
        taken = self._rows.take(which)
        taken.ends += cleaning_time // MICROSECOND
        taken.starts[overdue] = micros(window.start)
        taken.ends[overdue] = micros(window.widened(cleaning_time).end)
        return taken

    def overlapping_positions(
        self,
        window: Interval,
        *,
        cleaning_time: timedelta,
        present: datetime | None,
        ignoring: Collection[ReservationId],
        awaited: Positions | None = None,
        among: Mask | None = None,
    ) -> NDArray[np.int32]:
        """Return the positions of :meth:`overlapping`, with repetitions."""
        which, _ = self._find_overlapping(window, cleaning_time, present, ignoring, awaited, among)
        return self._rows.positions[which]

    def _find_overlapping(
        self,
        window: Interval,
        cleaning_time: timedelta,
        present: datetime | None,
        ignoring: Collection[ReservationId],
        awaited: Positions | None,
        among: Mask | None,
    ) -> tuple[Positions, Mask]:
        """Return the row numbers of the overlapping bookings, and which of these are overdue."""
        rows, read = self._rows, self._rows_to_read(among)
        starts, ends, positions = rows.starts[read], rows.ends[read], rows.positions[read]
        wide = window.widened(cleaning_time)
        found = (starts < micros(wide.end)) & (ends > micros(wide.start))
        overdue = None
        if present is not None:
            overdue = rows.held[read] & (ends <= micros(present))
            if awaited is not None:
                late = np.flatnonzero(overdue)
                overdue[late[np.isin(positions[late], awaited)]] = False
            found |= overdue
        for code in self._owners.codes_of(ignoring):
            found &= rows.owners[read] != code
        which = np.flatnonzero(found)
        which = which[positions[which] != _DEAD]
        is_overdue = np.zeros(len(which), np.bool_) if overdue is None else overdue[which]
        return which if isinstance(read, slice) else read[which], is_overdue

    def _rows_to_read(self, wanted: Mask | None, *, with_new: bool = True) -> slice | Positions:
        """Return rows that include those of the wanted resources: all, unless few resources are wanted.

        Args:
            wanted: The resources, by position; None for all.
            with_new: Whether to include the rows that are not sorted yet.
        """
        stop = self._used if with_new else self._sorted
        if wanted is None or not are_few(wanted):
            return slice(0, stop)
        # Resources without sorted rows may be missing at the end.
        positions = np.flatnonzero(wanted[: len(self._first_rows) - 1])
        first = self._first_rows[positions]
        counts = self._first_rows[positions + 1] - first
        offsets = first - np.cumsum(counts) + counts
        rows = np.repeat(offsets, counts) + np.arange(int(counts.sum()))
        return np.concatenate([rows, np.arange(self._sorted, stop)])

    def sorted_rows(self, wanted: Mask, window: Interval, *, present: datetime) -> Iterator[Positions]:
        """Yield the row numbers of bookings that overlap a window, by position and minute of the start.

        Each part has all of its resources' rows. Read them in :attr:`rows`.

        Args:
            wanted: The resources, by position.
            window: The window.
            present: Also include bookings that should have been released by then, and were not.
        """
        if self._used - self._sorted > max(_LONGEST_TAIL, self._used // 8):
            self._sort()
        start, end, now = micros(window.start), micros(window.end), micros(present)
        is_new = np.zeros(len(wanted) + 1, np.bool_)  # with one for deleted rows, whose position is -1
        is_new[self._rows.positions[self._sorted : self._used]] = True
        for which, with_new in ((wanted & ~is_new[:-1], False), (wanted & is_new[:-1], True)):
            if not which.any():
                continue
            read = self._rows_to_read(which, with_new=with_new)
            starts, ends = self._rows.starts[read], self._rows.ends[read]
            counted = ends > start
            held = np.flatnonzero(self._rows.held[read])
            counted[held[ends[held] <= now]] = True
            counted &= starts < end
            counted &= np.append(which, False)[self._rows.positions[read]]
            found = np.flatnonzero(counted)
            if not isinstance(read, slice):
                found = read[found]
            if with_new:
                found = found[in_order(self._rows.take(found))]
            yield found

    def gaps(self) -> Gaps:
        """Return the gaps between bookings; they are right for the resources in :meth:`settled`."""
        if len(self._changed) * _MANY_CHANGED > len(self._first_rows):
            self._sort()
        if self._gaps is None:
            alive = np.flatnonzero(self._rows.positions[: self._sorted] != _DEAD)
            self._gaps = Gaps.between(self._rows.take(alive))
        return self._gaps

    def settled(self, length: int, *, present: datetime, ignoring: Iterable[ReservationId]) -> Mask:
        """Return by position for which resources :meth:`gaps` is right: those without other changes.

        Args:
            length: The number of positions.
            present: A booking that should have been released by then, and was not, is longer than recorded.
            ignoring: Reservations whose bookings do not count, so that their resources have longer gaps.
        """
        found = np.ones(length, np.bool_)
        found[list(self._changed)] = False
        rows = slice(0, self._sorted)
        differs = self._rows.held[rows] & (self._rows.ends[rows] <= micros(present))
        for code in self._owners.codes_of(ignoring):
            differs |= self._rows.owners[rows] == code
        positions = self._rows.positions[np.flatnonzero(differs)]
        found[positions[positions != _DEAD]] = False
        return found

    @property
    def rows(self) -> Rows:
        """Return all rows, including deleted ones; for reading the numbers of :meth:`sorted_rows`."""
        return self._rows

    def owner_codes(self, reservation_ids: Iterable[ReservationId]) -> NDArray[np.int32]:
        """Return how the rows name these reservations as their owners; those without bookings are omitted."""
        return np.fromiter(self._owners.codes_of(reservation_ids), np.int32)

    def free_around(self, window: Interval, among: Mask, *, now: datetime) -> Numbers:
        """Return by position how long a resource is free around a window in which it is free.

        That is the shorter of the times before and after it, in microseconds, at most :data:`LONG_FREE`;
        negative if an earlier holder should have released the resource by now and has not.

        Args:
            window: The requested window.
            among: The resources whose number is needed, by position.
            now: The present.
        """
        rows, read = self._rows, self._rows_to_read(among)
        start, end, longest = micros(window.start), micros(window.end), LONG_FREE // MICROSECOND
        positions, starts, ends = rows.positions[read], rows.starts[read], rows.ends[read]
        overdue = rows.held[read] & (ends <= micros(now))
        near = np.flatnonzero(((starts < end + longest) & (ends > start - longest)) | overdue)
        near = near[positions[near] != _DEAD]
        positions, starts, ends = positions[near], starts[near], ends[near]
        free = np.full(len(among), longest, np.int64)
        before, after = ends <= start, starts >= end
        np.minimum.at(free, positions[before], start - ends[before])
        np.minimum.at(free, positions[after], starts[after] - end)
        free[positions[overdue[near]]] = -1
        return free

    def amounts(self, resource_class: str) -> Numbers:
        """Return the amount of a class that one slot needs, by demand code."""
        return self._demands.amounts(resource_class)

    def demand(self, code: int) -> Demand:
        """Return the demand with this code."""
        return self._demands.of(code)

    def add(self, position: int, bookings: Iterable[Booking]) -> None:
        """Add bookings of one resource."""
        rows = [self._append(position, booking) for booking in bookings]
        if rows:
            self._changed.add(position)
            self._new_rows.setdefault(position, array("i")).extend(rows)

    def _remove(self, position: int, owner: int) -> None:
        rows = self._rows_at(position)
        self._kill(position, rows[self._rows.owners[rows] == owner])

    def _rows_at(self, position: int) -> Positions:
        """Return the row numbers of one resource's bookings."""
        sorted_rows = np.zeros(0, np.intp)
        if position < len(self._first_rows) - 1:
            sorted_rows = np.arange(self._first_rows[position], self._first_rows[position + 1])
        rows = np.concatenate([sorted_rows, np.array(self._new_rows.get(position, ()), np.intp)])
        alive: Positions = rows[self._rows.positions[rows] == position]
        return alive

    def _kill(self, position: int, rows: Positions) -> None:
        """Mark rows of one resource as deleted."""
        if not len(rows):
            return
        self._changed.add(position)
        self._rows.positions[rows] = _DEAD
        self._dead += len(rows)
        if self._dead > 1024 and self._dead * 2 > self._used:
            self._compact()

    def _append(self, position: int, booking: Booking) -> int:
        if self._used == len(self._rows.starts):
            self._resize(max(64, 2 * self._used))
        row, rows, share = self._used, self._rows, booking.share
        end = booking.window.end
        if booking.released_at is not None:
            end = max(end, booking.released_at)
        rows.starts[row], rows.ends[row] = micros(booking.window.start), micros(end)
        expires_at = None if booking.expires_at is None else micros(booking.expires_at)
        rows.positions[row] = position
        rows.owners[row] = self._owners.code(booking.reservation_id, expires_at)
        minutes = slice(row, row + 1)
        rows.start_minutes[minutes] = first_minutes(rows.starts[minutes])
        rows.end_minutes[minutes] = last_minutes(rows.ends[minutes])
        rows.held[row] = booking.released_at is None
        rows.slots[row] = 0 if share is None else share.slots
        rows.demands[row] = self._demands.code(None if share is None else share.demand)
        if expires_at is not None:
            self.expiries.put(position, int(rows.owners[row]), expires_at)
        self._used += 1
        return row

    def _resize(self, length: int) -> None:
        self._rows = Rows(*(np.resize(getattr(self._rows, each.name), length) for each in fields(Rows)))

    def _sort(self) -> None:
        """Sort all rows, without the deleted ones."""
        rows = self._rows.take(np.flatnonzero(self._rows.positions[: self._used] != _DEAD))
        self._rows = rows.take(in_order(rows))
        self._used = self._sorted = len(rows.starts)
        self._dead = 0
        positions = self._rows.positions
        last = int(positions[-1]) if len(positions) else -1
        self._first_rows = np.searchsorted(positions, np.arange(last + 2))
        self._gaps = None
        self._changed.clear()
        self._new_rows.clear()

    def _compact(self) -> None:
        self._sort()
        self._owners.keep_only(set(self._rows.owners.tolist()))
        shared = self._rows.demands != NO_DEMAND
        self._rows.demands[shared] = self._demands.keep_only(self._rows.demands[shared])
