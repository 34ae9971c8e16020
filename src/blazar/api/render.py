"""Rendering of the manager's results in the format of API v1.

The manager returns instants in ISO 8601 with an offset. Version 1 of the API has two formats without a zone,
and clients parse both strictly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from blazar.domain.shown import show_lease, shown_instant, shown_lease, with_stamps
from blazar.ports.manager import JsonObject


def lease(value: JsonObject) -> JsonObject:
    """Return a lease with its reservations and events."""
    return shown_lease(value)


def leases(values: Iterable[JsonObject]) -> Sequence[JsonObject]:
    """Return leases in the form of :func:`lease`; the given ones must not be used again."""
    shown = cast("list[dict[str, object]]", list(values))
    for each in shown:
        show_lease(each)
    return shown


def host(value: JsonObject) -> JsonObject:
    """Return a host, with its extra capabilities as top-level keys."""
    return with_stamps(value)


def floatingip(value: JsonObject) -> JsonObject:
    """Return a floating IP."""
    return with_stamps(value)


def new_floatingip(value: JsonObject) -> JsonObject:
    """Return a newly registered floating IP, with its timestamps in the format of dates."""
    return _with_instants(value)


def allocations(value: JsonObject) -> JsonObject:
    """Return the allocations of one host."""
    return {
        "resource_id": value["resource_id"],
        "reservations": [
            {
                "id": each["id"],
                "lease_id": each["lease_id"],
                "start_date": shown_instant(each["start_date"]),
                "end_date": shown_instant(each["end_date"]),
            }
            for each in _objects(value["reservations"])
        ],
    }


def lease_allocation(value: JsonObject) -> JsonObject:
    """Return the allocation of a resource to a reservation."""
    dates = {key: shown_instant(value[key]) for key in ("start_date", "end_date")}
    return {**value, **dates}


def resource_property(value: JsonObject) -> JsonObject:
    """Return a changed resource property, with its timestamps in the format of dates."""
    return _with_instants(value)


def _with_instants(value: JsonObject) -> JsonObject:
    """Return an object with its timestamps in the format of dates, which two responses use."""
    stamps = {key: shown_instant(value[key]) for key in ("created_at", "updated_at") if key in value}
    return {**value, **stamps}


def _objects(value: object) -> Iterable[JsonObject]:
    return cast(Iterable[JsonObject], value)
