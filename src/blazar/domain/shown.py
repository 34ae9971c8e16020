"""Presentation of leases to clients, in version 1 of the API and in notifications.

Internally, instants are ISO 8601 text with an offset. Clients expect two older formats without a zone and
parse both strictly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, cast

JsonObject = Mapping[str, object]

_REMEMBERED: Final = 1_024
_STAMPS: Final = ("created_at", "updated_at")


def shown_instant(value: object) -> object:
    """Return an instant as ``2031-04-05T06:07:00.000000``: always six digits, no zone; None for None.

    Other values are returned unchanged: an extra capability of a host may have the name of a date.
    """
    return _instant(value) if isinstance(value, str) else value


def shown_stamp(value: object) -> object:
    """Return an instant as ``2031-04-05 06:07:08``, and any other value unchanged."""
    return _stamp(value) if isinstance(value, str) else value


def with_stamps(value: JsonObject) -> JsonObject:
    """Return an object with its creation and update times in the clients' format."""
    shown = dict(value)
    _show_stamps([shown])
    return shown


def shown_lease(value: JsonObject) -> JsonObject:
    """Return a lease with its reservations and events in the clients' format."""
    children = {key: [dict(each) for each in _objects(value[key])] for key in ("reservations", "events")}
    shown = {**value, **children}
    show_lease(shown)
    return shown


def show_lease(value: dict[str, object]) -> None:
    """Convert a lease in place, as :func:`shown_lease` does; no other code may hold a reference to it.

    For a list of thousands, copying all parts would be most of the work.
    """
    _show_stamps([value])
    value["start_date"] = shown_instant(value["start_date"])
    value["end_date"] = shown_instant(value["end_date"])
    _show_stamps(value["reservations"])
    _show_stamps(value["events"])
    for each in cast(Iterable[dict[str, object]], value["events"]):
        each["time"] = shown_instant(each.get("time"))


def _show_stamps(parts: object) -> None:
    for each in cast(Iterable[dict[str, object]], parts):
        for key in _STAMPS:
            if key in each:
                each[key] = shown_stamp(each[key])


# A lease has few distinct instants, each of them several times.
@lru_cache(maxsize=_REMEMBERED)
def _instant(text: str) -> str:
    moment = _parsed(text)
    return text if moment is None else moment.isoformat(timespec="microseconds")


@lru_cache(maxsize=_REMEMBERED)
def _stamp(text: str) -> str:
    moment = _parsed(text)
    return text if moment is None else moment.isoformat(" ", timespec="seconds")


def _parsed(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.utcoffset() is None else moment.astimezone(UTC).replace(tzinfo=None)


def _objects(value: object) -> Iterable[JsonObject]:
    return cast(Iterable[JsonObject], value)
