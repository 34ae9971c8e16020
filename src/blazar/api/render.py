"""Writing what the manager returns as API v1 shows it.

The manager writes every instant as ISO 8601 with an offset; version 1 of the API has two formats
without a zone, and clients parse both strictly.

Source: rest-api 4.7, 9 (1, 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import cast

from blazar.ports.manager import JsonObject


def instant(value: object) -> object:
    """Return an instant as ``2031-04-05T06:07:00.000000``: always six digits, no zone; None for None.

    What is no instant comes back as it is: an extra capability of a host may bear a date's name.
    """
    moment = _parsed(value)
    return value if moment is None else moment.isoformat(timespec="microseconds")


def stamp(value: object) -> object:
    """Return an instant as ``2031-04-05 06:07:08``, and anything else as it is."""
    moment = _parsed(value)
    return value if moment is None else moment.isoformat(" ", timespec="seconds")


def _parsed(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return None if moment.utcoffset() is None else moment.astimezone(UTC).replace(tzinfo=None)


def lease(value: JsonObject) -> JsonObject:
    """Return a lease with its reservations and events."""
    return {
        **_stamped(value),
        "start_date": instant(value["start_date"]),
        "end_date": instant(value["end_date"]),
        "reservations": [_stamped(each) for each in _objects(value["reservations"])],
        "events": [
            {**_stamped(each), "time": instant(each.get("time"))} for each in _objects(value["events"])
        ],
    }


def host(value: JsonObject) -> JsonObject:
    """Return a host, its extra capabilities among the other keys."""
    return _stamped(value)


def floatingip(value: JsonObject) -> JsonObject:
    """Return a floating IP."""
    return _stamped(value)


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
                "start_date": instant(each["start_date"]),
                "end_date": instant(each["end_date"]),
            }
            for each in _objects(value["reservations"])
        ],
    }


def resource_property(value: JsonObject) -> JsonObject:
    """Return a resource property after a change, with its stamps in the other format."""
    return _with_instants(value)


def _stamped(value: JsonObject) -> Mapping[str, object]:
    stamps = {key: stamp(value[key]) for key in ("created_at", "updated_at") if key in value}
    return {**value, **stamps}


def _with_instants(value: JsonObject) -> JsonObject:
    """Return an object whose stamps are written like instants, as two answers have them."""
    stamps = {key: instant(value[key]) for key in ("created_at", "updated_at") if key in value}
    return {**value, **stamps}


def _objects(value: object) -> Iterable[JsonObject]:
    return cast(Iterable[JsonObject], value)
