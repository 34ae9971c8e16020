"""Leases with all that they use, as the operator's filters see them (behaviour 7.2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from blazar.booking.context import Context
from blazar.booking.views import JsonObject, floatingip_view, host_view, lease_view, stock_view
from blazar.domain.lease import EventType, Holdings, Lease, LeaseStatus, ReservationId, ResourceId
from blazar.ports.enforcement import LeaseUsage

_HIDDEN = frozenset({"trust_id"})
_DATES = ("start_date", "end_date", "before_end_date", "created_at", "updated_at", "time")


def usage_of(
    context: Context, lease: Lease, holdings: Mapping[ReservationId, Holdings], *, status: LeaseStatus
) -> LeaseUsage:
    """Return a lease with its resources.

    Args:
        context: The context.
        lease: The lease.
        holdings: What each of its reservations holds, or is to hold.
        status: What the document says of the lease.
    """
    resources = _resources(context, {key for each in holdings.values() for key in each})
    document = dict(_plain(lease_view(lease, context.plugins)))
    reservations = document.pop("reservations")
    assert isinstance(reservations, list)
    before_end = lease.find_event(EventType.BEFORE_END)
    return LeaseUsage(
        lease=lease,
        document={
            **document,
            "status": status.value,
            "before_end_date": None if before_end is None else _without_zone(before_end.time.isoformat()),
            "reservations": [
                {**shown, "allocations": _allocations(holdings.get(each.id, {}), resources)}
                for shown, each in zip(reservations, lease.reservations, strict=True)
            ],
        },
    )


def _allocations(holdings: Holdings, resources: Mapping[ResourceId, JsonObject]) -> list[JsonObject]:
    return [
        resources[key]
        for key, share in sorted(holdings.items(), key=lambda each: each[0])
        for _ in range(1 if share is None else share.slots)
        if key in resources
    ]


def _resources(context: Context, ids: set[ResourceId]) -> Mapping[ResourceId, JsonObject]:
    if not ids:
        return {}
    with context.store.read() as transaction:
        hosts = transaction.hosts.get_many(ids)
        found = {each.id: _plain(host_view(each)) for each in hosts}
        others = ids - found.keys()
        floatingips = transaction.floatingips.get_many(others) if others else ()
        found |= {each.id: _plain(floatingip_view(each)) for each in floatingips}
        others = ids - found.keys()
        stock = transaction.stock.get_many(others) if others else ()
    return found | {each.id: stock_view(each) for each in stock}


def _plain(value: JsonObject) -> JsonObject:
    """Return a view without what is nobody's business, and with dates that have no zone."""
    plain: dict[str, object] = {}
    for key, each in value.items():
        if key in _HIDDEN:
            continue
        if isinstance(each, list):
            plain[key] = [_plain(one) for one in each]
        elif key in _DATES and isinstance(each, str):
            plain[key] = _without_zone(each)
        else:
            plain[key] = each
    return plain


def _without_zone(text: str) -> str:
    return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
