"""The answer to a dry run: a lease as it would be, without ids of objects that do not exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from blazar.booking.at_end import at_end_view
from blazar.booking.context import Plugin
from blazar.booking.shares import count_units
from blazar.booking.views import JsonObject
from blazar.domain.dates import format_date
from blazar.domain.lease import EventType, Holdings, Lease


def lease_preview(
    lease: Lease,
    holdings: Sequence[Holdings],
    plugins: Mapping[str, Plugin],
    costs: Sequence[JsonObject] = (),
) -> JsonObject:
    """Return a lease with the ids of the resources that its reservations would hold.

    Args:
        lease: The lease as it would be stored.
        holdings: What each of its reservations would hold, in their order.
        plugins: The plugins by resource type.
        costs: What the lease would cost, by filter.

    Returns:
        ``start_date``, ``end_date``, ``before_end_date``, ``reservations``, each with ``resource_type``,
        ``amount``, the ids of the ``resources`` and what happens ``at_end``; and ``costs``.
    """
    before_end = lease.find_event(EventType.BEFORE_END)
    return {
        "start_date": format_date(lease.start),
        "end_date": format_date(lease.end),
        "before_end_date": None if before_end is None else format_date(before_end.time),
        "reservations": [
            {
                "resource_type": each.resource_type,
                "amount": count_units(held),
                "resources": sorted(held),
                "at_end": at_end_view(each, lease, plugins, _date),
            }
            for each, held in zip(lease.reservations, holdings, strict=True)
        ],
        "costs": list(costs),
    }


def _date(instant: datetime | None) -> str | None:
    return None if instant is None else format_date(instant)
