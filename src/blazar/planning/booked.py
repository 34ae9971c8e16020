"""When the hosts of an index are booked: by leases and offers, and for other reasons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime

import numpy as np

from blazar.booking.context import Context
from blazar.domain.availability import Availability
from blazar.domain.instants import MICROSECOND, micros
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.owners import NO_OWNER
from blazar.planning.allocation_table import BookedTimes
from blazar.planning.changes import CLOSED
from blazar.planning.copy import HOSTS
from blazar.planning.load import merged


def booked_times(context: Context, window: Interval) -> BookedTimes:
    """Return when registered hosts are booked within a window that begins now or later."""
    now = context.clock.now()
    with context.store.read() as transaction:
        others = [CLOSED, *(ReservationId(each.id) for each in transaction.maintenances.list())]
    reserved: dict[ResourceId, list[tuple[int, int]]] = defaultdict(list)
    occupied: dict[ResourceId, list[tuple[int, int]]] = defaultdict(list)
    with context.indexes[HOSTS].searching() as view:
        cleaning = context.settings.leases.cleaning_time // MICROSECOND
        for key, start, end, is_reserved in _bookings(view, window, now, others):
            occupied[key].append((start, end + cleaning))
            if is_reserved:
                reserved[key].append((start, end))
    return BookedTimes(
        reserved={key: merged(each) for key, each in reserved.items()},
        occupied={key: merged(each) for key, each in occupied.items()},
    )


def _bookings(
    view: Availability, window: Interval, now: datetime, others: Collection[ReservationId]
) -> Iterator[tuple[ResourceId, int, int, bool]]:
    """Yield each booked host with start and end, and whether none of *others* books it."""
    codes = {NO_OWNER, *view.bookings.owner_codes(others).tolist()}
    everything = view.mask_of(view.generations())
    rows, present = view.bookings.rows, micros(now)
    for part in view.bookings.sorted_rows(everything, window, present=now):
        found = rows.take(part)
        # What should have been released by now, and was not, is still reserved.
        ends = np.where(found.held & (found.ends <= present), present + 1, found.ends)
        columns = (found.positions, found.owners, found.starts, ends)
        for position, owner, start, end in zip(*(each.tolist() for each in columns), strict=True):
            yield view.resource_at(position).id, start, end, owner not in codes
