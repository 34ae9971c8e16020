"""Alternatives to a refused lease, as clients see them: with the requests to create them."""

from __future__ import annotations

from datetime import timedelta

from blazar.app.leases.alternatives import Alternative
from blazar.app.leases.new_lease import NewLease
from blazar.app.leases.requests import JsonObject
from blazar.domain.dates import before_end_for_new, format_date
from blazar.domain.interval import Interval


def alternative_view(alternative: Alternative, request: NewLease, body: JsonObject) -> JsonObject:
    """Return an alternative with the body of each request to create it.

    Args:
        alternative: The alternative.
        request: The refused request.
        body: Its body.
    """
    return {
        "kind": alternative.kind.value,
        "summary": alternative.summary,
        "bodies": [_changed_body(alternative, each, request, body) for each in alternative.windows],
    }


def _changed_body(
    alternative: Alternative, window: Interval, request: NewLease, body: JsonObject
) -> JsonObject:
    changed = dict(body)
    reservations = body.get("reservations")
    if isinstance(reservations, list) and alternative.changes:
        changes = alternative.changes
        changed["reservations"] = [
            changes[at] if "resource_type" in changes.get(at, {}) else {**each, **changes.get(at, {})}
            for at, each in enumerate(reservations)
        ]
    if window != Interval(request.start, request.end):
        changed |= {"start_date": format_date(window.start), "end_date": format_date(window.end)}
        before_end = before_end_for_new(request.before_end, request.start, request.end, timedelta(0))
        if before_end is not None:
            # At the same distance from the end, if the lease is long enough.
            moved = window.end - (request.end - before_end)
            changed["before_end_date"] = format_date(moved) if moved > window.start else None
    return {key: value for key, value in changed.items() if value is not None}
