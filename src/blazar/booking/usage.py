"""Leases with the resources that they use, as the operator's filters receive them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set

from blazar.booking.context import Context
from blazar.booking.views import JsonObject, lease_view, plugin_resource_view
from blazar.domain.formats import USAGE
from blazar.domain.lease import EventType, Holdings, Lease, LeaseStatus, ReservationId, ResourceId
from blazar.ports.enforcement import LeaseUsage

LONGEST_DOCUMENT = 4_000_000
"""In characters. Databases accept rows of 16 MiB, but a smaller max_allowed_packet may be configured."""

_HIDDEN = frozenset({"trust_id"})
"""Keys of the REST API that usage documents do not have."""


def usage_of(
    context: Context, lease: Lease, holdings: Mapping[ReservationId, Holdings], *, status: LeaseStatus
) -> LeaseUsage:
    """Return a lease with its resources.

    Args:
        context: The context.
        lease: The lease.
        holdings: The present or new holdings of each reservation.
        status: The status that the document shows.
    """
    resources = _resources(context, {key for each in holdings.values() for key in each})
    view = _shown(lease_view(lease, context.plugins, USAGE))
    reservations = view["reservations"]
    assert isinstance(reservations, list)
    before_end = lease.find_event(EventType.BEFORE_END)
    return LeaseUsage(
        lease=lease,
        document={
            **view,
            "status": status.value,
            "before_end_date": USAGE.date(None if before_end is None else before_end.time),
            "reservations": [
                {**shown, "allocations": _allocations(holdings.get(each.id, {}), resources)}
                for shown, each in zip(reservations, lease.reservations, strict=True)
            ],
        },
    )


def fitting(document: JsonObject, longest: int = LONGEST_DOCUMENT) -> JsonObject:
    """Return a document that fits into a row: its size must never prevent the change that it reports.

    If it is too long, each resource is reduced to its id; if it still is, resources are left out.
    """
    for candidate in (document, _with_allocations(document, _shortest)):
        if len(json.dumps(candidate)) <= longest:
            return candidate
    return _with_allocations(document, lambda _: None)


def _with_allocations(document: JsonObject, change: Callable[[JsonObject], JsonObject | None]) -> JsonObject:
    reservations = document["reservations"]
    assert isinstance(reservations, list)
    return {
        **document,
        "reservations": [
            {**each, "allocations": [new for one in each["allocations"] if (new := change(one)) is not None]}
            for each in reservations
        ],
    }


def bare_document(lease: Lease) -> JsonObject:
    """Return the facts of a lease that need neither a plugin nor another table."""
    return {
        "id": lease.id,
        "name": lease.name,
        "user_id": lease.user_id,
        "project_id": lease.project_id,
        "start_date": USAGE.date(lease.start),
        "end_date": USAGE.date(lease.end),
        "status": lease.status.value,
        "reservations": [
            {"id": each.id, "resource_type": each.resource_type, "allocations": []}
            for each in lease.reservations
        ],
        "events": [],
    }


def _shortest(allocation: JsonObject) -> JsonObject:
    return {"id": allocation["id"]}


def _allocations(holdings: Holdings, resources: Mapping[ResourceId, JsonObject]) -> list[JsonObject]:
    """Return each resource once, or once for each slot of it: external services count the entries."""
    return [
        resources[key]
        for key, share in sorted(holdings.items(), key=lambda each: each[0])
        if key in resources
        for _ in range(1 if share is None else share.slots)
    ]


def _resources(context: Context, ids: set[ResourceId]) -> Mapping[ResourceId, JsonObject]:
    if not ids:
        return {}
    found: dict[ResourceId, JsonObject] = {}
    others: Set[ResourceId] = ids
    with context.store.read() as transaction:
        for each in context.collections:
            if others:
                found |= {key: _shown(view) for key, view in each.describe(transaction, others).items()}
                others = ids - found.keys()
        others_found = transaction.plugin_resources.get_many(others) if others else ()
    return found | {each.id: plugin_resource_view(each) for each in others_found}


def _shown(view: JsonObject) -> JsonObject:
    return {key: each for key, each in view.items() if key not in _HIDDEN}
