"""Values of requests that several kinds of reservations have, from JSON to types."""

from __future__ import annotations

from collections.abc import Mapping

from blazar.domain.errors import InvalidParameter, MissingParameter

LARGEST_NUMBER = 2**31 - 1

_TOO_LONG_FOR_A_NUMBER = 12


def parse_number(body: Mapping[str, object], key: str, *, least: int) -> int:
    """Return a whole number from *least* up; numeric text is accepted, as clients send it.

    Raises:
        MissingParameter: It is absent or null.
        InvalidParameter: It is none, or out of range.
    """
    value = body.get(key)
    if value is None:
        raise MissingParameter(key)
    if isinstance(value, str) and len(value) < _TOO_LONG_FOR_A_NUMBER and value.isascii():
        value = int(value) if value.removeprefix("-").isdecimal() else value
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidParameter(key, "must be a whole number")
    if not least <= value <= LARGEST_NUMBER:
        raise InvalidParameter(key, f"must be from {least} to {LARGEST_NUMBER}")
    return value
