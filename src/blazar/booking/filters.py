"""Filters of lists, as clients write them."""

from __future__ import annotations

from datetime import datetime

from blazar.booking.views import JsonObject
from blazar.domain.dates import parse_date
from blazar.domain.errors import InvalidParameter
from blazar.ports.allocations import DateRanges

_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def parse_dates(query: JsonObject, now: datetime) -> DateRanges:
    """Return the ranges of dates of a query. Raises InvalidDate."""

    def read(key: str) -> datetime | None:
        return parse_date(key, query[key], now) if key in query else None

    return DateRanges(
        starts_after=read("starts_after"),
        starts_before=read("starts_before"),
        ends_after=read("ends_after"),
        ends_before=read("ends_before"),
    )


def parse_flag(query: JsonObject, key: str) -> bool | None:
    """Return whether a flag is set; None if the query does not have it. Raises InvalidParameter."""
    if key not in query:
        return None
    found = _TRUTH.get(str(query[key]).lower())
    if found is None:
        raise InvalidParameter(key, "must be true or false")
    return found


def text_of(query: JsonObject, key: str) -> str | None:
    """Return the value of a key; None if the query does not have it."""
    return str(query[key]) if key in query else None
