"""How leases are shown to those outside: by version 1 of the API, and in notifications.

Instants go about inside as ISO 8601 text with an offset; those outside have known two formats without a
zone ever since, and parse both strictly.

Source: rest-api 4.7, 9 (1, 2); behaviour 2.7.
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

    What is no instant comes back as it is: an extra capability of a host may bear a date's name.
    """
    return _instant(value) if isinstance(value, str) else value


def shown_stamp(value: object) -> object:
    """Return an instant as ``2031-04-05 06:07:08``, and anything else as it is."""
    return _stamp(value) if isinstance(value, str) else value


def with_stamps(value: JsonObject) -> JsonObject:
    """Return an object with its times of creation and update as they are shown."""
    shown = dict(value)
    _show_stamps([shown])
    return shown


def shown_lease(value: JsonObject) -> JsonObject:
    """Return a lease with its reservations and events as they are shown."""
    children = {key: [dict(each) for each in _objects(value[key])] for key in ("reservations", "events")}
    shown = {**value, **children}
    show_lease(shown)
    return shown


def show_lease(value: dict[str, object]) -> None:
    """Turn a lease that nobody else holds into what :func:`shown_lease` returns of it.

    In a list of thousands, copies of all their parts would be most of the work.
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


# A lease has few different instants, each of them several times.
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
