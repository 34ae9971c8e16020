"""Bookings of resources as arrays, so that a search among a million takes milliseconds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers, Positions, Rows, empty_rows, in_order
from blazar.domain.booking_table import BookingTable
from blazar.domain.capacity import Demand, Share
from blazar.domain.demands import NO_DEMAND, Demands
from blazar.domain.expiries import Expiries
from blazar.domain.gaps import Gaps
from blazar.domain.instants import MICROSECOND, first_minutes, last_minute, last_minutes, micros
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.owners import Owners
from blazar.domain.recent_windows import RecentWindows

_MANY_CHANGED = 10
"""Gaps are computed again if more than one in this many resources has changed."""
LONG_FREE = timedelta(days=1)
"""Resources that are free for longer than this before and after a window rank equally."""


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
    """The instant from which an offer's booking no longer counts; None for the booking of a lease."""


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
        self._table = BookingTable()
        self._recent = RecentWindows(self._table)
        self._gaps: Gaps | None = None
        self._changed: set[int] = set()
        """The positions whose rows have changed since the gaps were computed."""
        self._owners = Owners()
        self._demands = Demands()
        self.expiries = Expiries()

    def load(self, parts: Iterable[tuple[BookingColumns, NDArray[np.int32]]]) -> None:
        """Replace all bookings by these, with their positions; negative positions are ignored."""
        self._table.load(self._joined(parts))
        self._gaps = None

    def _joined(self, parts: Iterable[tuple[BookingColumns, NDArray[np.int32]]]) -> Rows:
        """Return the rows of all parts, joined column by column: two copies of all rows are large."""
        nothing = empty_rows(0)
        arrays = {each.name: [getattr(nothing, each.name)] for each in fields(Rows)}
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
            known = rows.take(positions >= 0)
            for name, found in arrays.items():
                found.append(getattr(known, name))
        return Rows(**{each.name: np.concatenate(arrays.pop(each.name)) for each in fields(Rows)})

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
        self._delete(position, self._table.at(position))

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
        near, found, overdue = self._find_overlapping(
            window, cleaning_time, present, ignoring, awaited, among
        )
        taken, overdue = near.take(found), overdue[found]
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
        near, found, _ = self._find_overlapping(window, cleaning_time, present, ignoring, awaited, among)
        return near.positions[found]

    def _find_overlapping(
        self,
        window: Interval,
        cleaning_time: timedelta,
        present: datetime | None,
        ignoring: Collection[ReservationId],
        awaited: Positions | None,
        among: Mask | None,
    ) -> tuple[Rows, Mask, Mask]:
        """Return rows, which of them overlap the window or are overdue, and which are overdue."""
        wide = window.widened(cleaning_time)
        near = self._recent.rows_near(wide, present, among)
        found = (near.starts < micros(wide.end)) & (near.ends > micros(wide.start))
        overdue = np.zeros(len(found), np.bool_)
        if present is not None:
            overdue = near.held & (near.ends <= micros(present))
            if awaited is not None:
                overdue &= ~np.isin(near.positions, awaited)
            found |= overdue
        for code in self._owners.codes_of(ignoring):
            found &= near.owners != code
        return near, found, overdue

    def sorted_rows(self, wanted: Mask, window: Interval, *, present: datetime) -> Iterator[Positions]:
        """Yield the row numbers of bookings that overlap a window, by position and minute of the start.

        Each part has all of its resources' rows. Read them in :attr:`rows`.

        Args:
            wanted: The resources, by position.
            window: The window.
            present: Also include bookings that should have been released by then, and were not.
        """
        if self._table.is_long_unsorted:
            self._table.sort()
        start, end, now = micros(window.start), micros(window.end), micros(present)
        is_new = self._table.has_new(len(wanted))
        for which, with_new in ((wanted & ~is_new, False), (wanted & is_new, True)):
            if not which.any():
                continue
            read = self._table.to_read(which, with_new=with_new)
            starts, ends = self.rows.starts[read], self.rows.ends[read]
            counted = ends > start
            held = np.flatnonzero(self.rows.held[read])
            counted[held[ends[held] <= now]] = True
            counted &= starts < end
            counted &= np.append(which, False)[self.rows.positions[read]]
            found = np.flatnonzero(counted)
            if not isinstance(read, slice):
                found = read[found]
            if with_new:
                found = found[in_order(self.rows.take(found))]
            yield found

    def gaps(self) -> Gaps:
        """Return the gaps between bookings; they are right for the resources in :meth:`settled`."""
        if self._gaps is None:
            self._table.sort()
            self._gaps = Gaps.between(self.rows)
            self._changed.clear()
        elif len(self._changed) * _MANY_CHANGED > len(self._gaps.booked):
            self._gaps = self._gaps.replaced(self._changed, self._table.of(self._changed))
            self._changed.clear()
        return self._gaps

    def settled(self, length: int, *, present: datetime, ignoring: Iterable[ReservationId]) -> Mask:
        """Return, by position, the resources for which :meth:`gaps` is right: those without other changes.

        Args:
            length: The number of positions.
            present: A booking that should have been released by then, and was not, is longer than recorded.
            ignoring: Reservations whose bookings do not count, so that their resources have longer gaps.
        """
        found = np.ones(length, np.bool_)
        found[list(self._changed)] = False
        rows = slice(0, self._table.used)
        differs = self.rows.held[rows] & (self.rows.end_minutes[rows] <= last_minute(present))
        for code in self._owners.codes_of(ignoring):
            differs |= self.rows.owners[rows] == code
        found[self.rows.positions[self._table.alive(np.flatnonzero(differs))]] = False
        return found

    @property
    def rows(self) -> Rows:
        """Return all rows, including deleted ones; for reading the numbers of :meth:`sorted_rows`."""
        return self._table.rows

    def owner_codes(self, reservation_ids: Iterable[ReservationId]) -> NDArray[np.int32]:
        """Return how the rows name these reservations as their owners; those without bookings are omitted."""
        return np.fromiter(self._owners.codes_of(reservation_ids), np.int32)

    def free_around(self, window: Interval, among: Mask, *, now: datetime) -> Numbers:
        """Return, by position, how long a resource is free around a window in which it is free.

        That is the shorter of the times before and after it, in microseconds, at most :data:`LONG_FREE`;
        negative if an earlier holder should have released the resource by now and has not.

        Args:
            window: The requested window.
            among: The resources whose number is needed, by position.
            now: The present.
        """
        start, end, longest = micros(window.start), micros(window.end), LONG_FREE // MICROSECOND
        near = self._recent.rows_near(window.widened(LONG_FREE), now, among)
        positions, starts, ends = near.positions, near.starts, near.ends
        is_overdue = near.held & (ends <= micros(now))
        free = np.full(len(among), longest, np.int64)
        before, after = ends <= start, starts >= end
        np.minimum.at(free, positions[before], start - ends[before])
        np.minimum.at(free, positions[after], starts[after] - end)
        free[positions[is_overdue]] = -1
        return free

    def amounts(self, resource_class: str) -> Numbers:
        """Return the amount of a class that one slot needs, by demand code."""
        return self._demands.amounts(resource_class)

    def demand(self, code: int) -> Demand:
        """Return the demand with this code."""
        return self._demands.of(code)

    def add(self, position: int, bookings: Iterable[Booking]) -> None:
        """Add bookings of one resource."""
        for booking in bookings:
            self._add(position, booking)
            self._changed.add(position)

    def _add(self, position: int, booking: Booking) -> None:
        share, end = booking.share, booking.window.end
        if booking.released_at is not None:
            end = max(end, booking.released_at)
        expires_at = None if booking.expires_at is None else micros(booking.expires_at)
        owner = self._owners.code(booking.reservation_id, expires_at)
        self._table.add(
            position,
            starts=micros(booking.window.start),
            ends=micros(end),
            owners=owner,
            held=booking.released_at is None,
            slots=0 if share is None else share.slots,
            demands=self._demands.code(None if share is None else share.demand),
        )
        if expires_at is not None:
            self.expiries.put(position, owner, expires_at)

    def _remove(self, position: int, owner: int) -> None:
        rows = self._table.at(position)
        self._delete(position, rows[self.rows.owners[rows] == owner])

    def _delete(self, position: int, rows: Positions) -> None:
        """Delete rows of one resource."""
        if not len(rows):
            return
        self._changed.add(position)
        self._table.delete(rows)
        if self._table.is_sparse:
            self._compact()

    def _compact(self) -> None:
        self._table.sort()
        self._owners.keep_only(set(self.rows.owners.tolist()))
        shared = self.rows.demands != NO_DEMAND
        self.rows.demands[shared] = self._demands.keep_only(self.rows.demands[shared])
