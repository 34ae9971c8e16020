"""Helpers for commands and other code: environment, JSON, table rows, look-up by name, dates, durations."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from blazarclient import exception
from blazarclient.i18n import _

LEASE_DATE_FORMAT = "%Y-%m-%dT%H:%M:%S.%f"
"""How the service writes the dates of a lease."""
API_DATE_FORMAT = "%Y-%m-%d %H:%M"
"""How the service reads dates; UTC."""
ELAPSED_TIME_REGEX = r"^([0-9]+)([smhd])$"
"""A duration: one number and one unit."""

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def env(*names: str, default: str = "") -> str:
    """Return the first of these environment variables that is set and not empty, or *default*."""
    return next((value for name in names if (value := os.environ.get(name))), default)


def to_primitive(value: object) -> Any:
    """Return *value* as JSON can hold it; what JSON does not know becomes its text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return value.decode(errors="replace")
        case Mapping():
            return {str(key): to_primitive(item) for key, item in value.items()}
        case Iterable():
            return [to_primitive(item) for item in value]
        case _:
            return str(value)


def dumps(value: object, indent: int | None = None) -> str:
    """Return *value* as JSON text, through :func:`to_primitive` if JSON does not know a type in it."""
    try:
        return json.dumps(value, indent=indent)
    except TypeError:
        return json.dumps(to_primitive(value), indent=indent)


def get_item_properties(
    item: Any,
    fields: Iterable[str],
    mixed_case_fields: Iterable[str] = (),
    formatters: Mapping[str, Callable[[Any], Any]] | None = None,
) -> tuple[Any, ...]:
    """Return the values of *fields* as a row of a table; null becomes ``""``.

    Args:
        item: A dict, or an object with attributes.
        fields: Titles of columns; ``Start Date`` means the key or attribute ``start_date``.
        mixed_case_fields: Those whose upper case letters are meant.
        formatters: Functions from the item to what is shown, by field.

    Raises:
        KeyError: *item* is a dict and lacks a field.
    """
    formatters = formatters or {}
    mixed_case = frozenset(mixed_case_fields)

    def shown(field: str) -> Any:
        if field in formatters:
            return formatters[field](item)
        name = field.replace(" ", "_")
        name = name if field in mixed_case else name.lower()
        value = item[name] if isinstance(item, Mapping) else getattr(item, name, "")
        return "" if value is None else value

    return tuple(shown(field) for field in fields)


def find_resource_id_by_name_or_id(
    client: Any, resource_type: str, name_or_id: str, name_key: str, id_pattern: str
) -> str:
    """Return the id of the resource with that name; what looks like an id is returned as it is.

    Args:
        client: A client, for its manager *resource_type*.
        resource_type: ``lease``, ``host`` and so on.
        name_or_id: What to look for; it is an id if all of it fits *id_pattern*.
        name_key: Under which key the resource has its name.
        id_pattern: A regular expression.

    Raises:
        NotFound: Nothing has that name.
        NoUniqueMatch: Several have it.
    """
    if re.fullmatch(id_pattern, name_or_id):
        return name_or_id
    matches = [
        found["id"] for found in getattr(client, resource_type).list() if found[name_key] == name_or_id
    ]
    names = {"resource": resource_type, "name": name_or_id}
    if not matches:
        raise exception.NotFound(
            _("Unable to find %(resource)s with name '%(name)s'") % names, status_code=404
        )
    if len(matches) > 1:
        raise exception.NoUniqueMatch(
            _("There are several of type %(resource)s with name '%(name)s'; use an id") % names
        )
    return str(matches[0])


def from_elapsed_time_to_seconds(text: str, pos_sign: bool = True) -> int:
    """Return the seconds of a duration such as ``90m``; negative if not *pos_sign*.

    Raises:
        BlazarClientException: It is not one unsigned number followed by one of ``s``, ``m``, ``h``, ``d``.
    """
    match = re.fullmatch(ELAPSED_TIME_REGEX, str(text))
    # More digits than that are beyond the calendar in any unit.
    if not match or len(match[1]) > 18:
        raise exception.BlazarClientException(
            _("Invalid duration %r: it must be a number followed by one of s, m, h, d") % (text,), code=400
        )
    seconds = int(match[1]) * _SECONDS[match[2]]
    return seconds if pos_sign else -seconds


def from_elapsed_time_to_delta(text: str, pos_sign: bool = True) -> timedelta:
    """Return a duration such as ``90m`` as a ``timedelta``; negative if not *pos_sign*.

    Raises:
        BlazarClientException: It is not a duration, or longer than a ``timedelta`` can be.
    """
    seconds = from_elapsed_time_to_seconds(text, pos_sign)
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        raise exception.BlazarClientException(_("Invalid duration %r: too long") % text, code=400) from None


def to_api_date(value: Any) -> Any:
    """Return a ``datetime`` as the service reads it, cut to the minute; anything else as it is.

    A ``datetime`` without a time zone means UTC.
    """
    if not isinstance(value, datetime):
        return value
    return render_date(value.astimezone(UTC) if value.tzinfo else value)


def parse_date(text: str, date_format: str) -> datetime:
    """Return the date that *text* is, without a time zone.

    Raises:
        InvalidDate: It is not written in *date_format*.
    """
    try:
        return datetime.strptime(text, date_format)  # noqa: DTZ007  (the service's dates have no zone)
    except (ValueError, TypeError):
        raise exception.InvalidDate(
            _("%(date)r is an invalid date. Required format: %(format)s")
            % {"date": text, "format": date_format}
        ) from None


def render_date(instant: datetime) -> str:
    """Return a date as ``API_DATE_FORMAT`` means it, its time zone left out; years have four digits."""
    return instant.replace(tzinfo=None).isoformat(sep=" ", timespec="minutes")
