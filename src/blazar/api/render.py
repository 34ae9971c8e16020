"""Writing what the manager returns as API v1 shows it.

The manager writes every instant as ISO 8601 with an offset; version 1 of the API has two formats
without a zone, and clients parse both strictly.

Source: rest-api 4.7, 9 (1, 2).
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
    """Return leases as :func:`lease` does; those that are given are of no use any more."""
    shown = cast("list[dict[str, object]]", list(values))
    for each in shown:
        show_lease(each)
    return shown


def host(value: JsonObject) -> JsonObject:
    """Return a host, its extra capabilities among the other keys."""
    return with_stamps(value)


def floatingip(value: JsonObject) -> JsonObject:
    """Return a floating IP."""
    return with_stamps(value)


def new_floatingip(value: JsonObject) -> JsonObject:
    """Return a floating IP that was just registered, with its stamps in the other format."""
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


def resource_property(value: JsonObject) -> JsonObject:
    """Return a resource property after a change, with its stamps in the other format."""
    return _with_instants(value)


def _with_instants(value: JsonObject) -> JsonObject:
    """Return an object whose stamps are written like instants, as two answers have them."""
    stamps = {key: shown_instant(value[key]) for key in ("created_at", "updated_at") if key in value}
    return {**value, **stamps}


def _objects(value: object) -> Iterable[JsonObject]:
    return cast(Iterable[JsonObject], value)
