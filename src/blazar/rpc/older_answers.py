"""Answers of managers of the previous release, which run beside this one during an upgrade.

They send all instants in ISO 8601 with an offset. API v1 has two formats without a zone, which its clients
parse strictly; managers of this release send these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final

from blazar.domain.formats import API, CHANGED, Formats

_DATES: Final = frozenset({"start_date", "end_date", "before_end_date", "time"})
_STAMPS: Final = frozenset({"created_at", "updated_at"})
_FORMATS: Final[Mapping[str, Formats]] = {"create_floatingip": CHANGED, "update_resource_property": CHANGED}
"""The formats by method; the others have those of API v1."""


def in_present_form(method: str, result: Any) -> Any:
    """Return the result of a method with its instants in the formats of this release."""
    return _converted(result, _FORMATS.get(method, API))


def _converted(value: Any, formats: Formats) -> Any:
    if isinstance(value, Mapping):
        return {key: _entry(key, each, formats) for key, each in value.items()}
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return [_converted(each, formats) for each in value]
    return value


def _entry(key: str, value: Any, formats: Formats) -> Any:
    if key in _DATES:
        return _instant(value, formats.date)
    if key in _STAMPS:
        return _instant(value, formats.stamp)
    return _converted(value, formats)


def _instant(value: Any, form: Callable[[datetime | None], str | None]) -> Any:
    """Return an instant with an offset in a format; anything else is returned unchanged."""
    try:
        instant = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return value
    return value if instant.tzinfo is None else form(instant)
