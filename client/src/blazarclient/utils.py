"""Published helpers: environment, JSON, table rows, lookup by name, dates, durations."""

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
"""Format of a lease's dates in responses."""
API_DATE_FORMAT = "%Y-%m-%d %H:%M"
"""Format of dates in requests; UTC."""
UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
SHORT_ID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F-]{0,26})?"
"""A prefix of an id, of at least 8 characters, as lists show it on a terminal."""
ELAPSED_TIME_REGEX = r"^([0-9]+)([smhd])$"
"""Pattern of a duration: one number and one unit."""

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def env(*names: str, default: str = "") -> str:
    """Return the first environment variable of *names* that is set and not empty, or *default*."""
    return next((value for name in names if (value := os.environ.get(name))), default)


def to_primitive(value: object) -> Any:
    """Return *value* in types that JSON has; other types become strings."""
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
    """Return *value* as JSON text, converted with :func:`to_primitive` if it has other types."""
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
    """Return the values of *fields* as a table row; null becomes ``""``.

    Args:
        item: A dict, or an object with attributes.
        fields: Column titles; ``Start Date`` stands for the key or attribute ``start_date``.
        mixed_case_fields: Fields whose name keeps its upper case letters.
        formatters: Functions that return the value for an item, by field.

    Raises:
        KeyError: *item* is a dict and does not have a field.
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
    """Return the id of the resource with a name or, if none has the name, with an id prefix.

    An id is returned without a request.

    Args:
        client: A client with the manager *resource_type*.
        resource_type: Name of the manager: ``lease``, ``host`` and so on.
        name_or_id: Name, id, or prefix of an id.
        name_key: Key of the resource's name.
        id_pattern: Regular expression that all of an id matches.

    Raises:
        NotFound: No resource matches.
        NoUniqueMatch: More than one resource matches.
    """
    if re.fullmatch(id_pattern, name_or_id):
        return name_or_id
    listed = getattr(client, resource_type).list()
    matches = [found["id"] for found in listed if found.get(name_key) == name_or_id]
    if not matches and re.fullmatch(SHORT_ID, name_or_id):
        matches = [found["id"] for found in listed if str(found["id"]).startswith(name_or_id.lower())]
    names = {"resource": resource_type, "name": name_or_id}
    if not matches:
        raise exception.NotFound(
            _("Unable to find resource with name '%(name)s': there is no such %(resource)s") % names,
            status_code=404,
        )
    if len(matches) > 1:
        raise exception.NoUniqueMatch(
            _(
                "There are more than one appropriate resources for the name '%(name)s' "
                "and type '%(resource)s'; use the id instead"
            )
            % names
        )
    return str(matches[0])


def from_elapsed_time_to_seconds(text: str, pos_sign: bool = True) -> int:
    """Return a duration such as ``90m`` in seconds, negated unless *pos_sign*.

    Raises:
        BlazarClientException: *text* is not an unsigned integer followed by ``s``, ``m``, ``h`` or ``d``.
    """
    match = re.fullmatch(ELAPSED_TIME_REGEX, str(text))
    # A longer number exceeds the year 9999 in any unit.
    if not match or len(match[1]) > 18:
        raise exception.BlazarClientException(
            _("Invalid time format for option. %r is not a whole number and one of s, m, h, d, such as 90m")
            % (text,),
            code=400,
        )
    seconds = int(match[1]) * _SECONDS[match[2]]
    return seconds if pos_sign else -seconds


def from_elapsed_time_to_delta(text: str, pos_sign: bool = True) -> timedelta:
    """Return a duration such as ``90m`` as a ``timedelta``, negated unless *pos_sign*.

    Raises:
        BlazarClientException: *text* is not a duration, or too long for a ``timedelta``.
    """
    seconds = from_elapsed_time_to_seconds(text, pos_sign)
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        raise exception.BlazarClientException(
            _("Invalid time format for option. %r is longer than 999999999 days") % text, code=400
        ) from None


def to_api_date(value: Any) -> Any:
    """Return a ``datetime`` in the format of requests, truncated to the minute; other values unchanged.

    A ``datetime`` without a time zone is in UTC.
    """
    if not isinstance(value, datetime):
        return value
    return render_date(value.astimezone(UTC) if value.tzinfo else value)


def parse_date(text: str, date_format: str) -> datetime:
    """Return *text* as a ``datetime`` without a time zone.

    Raises:
        InvalidDate: *text* is not in *date_format*.
    """
    try:
        return datetime.strptime(text, date_format)  # noqa: DTZ007  (the service's dates have no zone)
    except (ValueError, TypeError):
        raise exception.InvalidDate(
            _("%(date)r is an invalid date. Required format: %(format)s")
            % {"date": text, "format": date_format}
        ) from None


def render_date(instant: datetime) -> str:
    """Return *instant* in ``API_DATE_FORMAT``, without its time zone and with a four-digit year."""
    return instant.replace(tzinfo=None).isoformat(sep=" ", timespec="minutes")
