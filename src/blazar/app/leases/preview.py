"""The answer to a dry run: a lease as it would be, without ids of objects that do not exist."""

from __future__ import annotations

from collections.abc import Sequence

from blazar.booking.shares import count_units
from blazar.booking.views import JsonObject
from blazar.domain.dates import format_date
from blazar.domain.lease import EventType, Holdings, Lease


def lease_preview(lease: Lease, holdings: Sequence[Holdings], costs: Sequence[JsonObject] = ()) -> JsonObject:
    """Return a lease with the ids of the resources that its reservations would hold.

    Args:
        lease: The lease as it would be stored.
        holdings: What each of its reservations would hold, in their order.
        costs: What the lease would cost, by filter.

    Returns:
        ``start_date``, ``end_date``, ``before_end_date``, ``reservations``, each with ``resource_type``,
        ``amount`` and the ids of the ``resources``; and ``costs``.
    """
    before_end = lease.find_event(EventType.BEFORE_END)
    return {
        "start_date": format_date(lease.start),
        "end_date": format_date(lease.end),
        "before_end_date": None if before_end is None else format_date(before_end.time),
        "reservations": [
            {"resource_type": each.resource_type, "amount": count_units(held), "resources": sorted(held)}
            for each, held in zip(lease.reservations, holdings, strict=True)
        ],
        "costs": list(costs),
    }
