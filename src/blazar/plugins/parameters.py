"""Parsers for values that several kinds of reservations share."""

from __future__ import annotations

from collections.abc import Mapping

from blazar.domain.errors import InvalidParameter, MissingParameter

LARGEST_NUMBER = 2**31 - 1
TRUE_WORDS = frozenset({"1", "t", "true", "on", "y", "yes"})
FALSE_WORDS = frozenset({"0", "f", "false", "off", "n", "no"})
"""Words that OpenStack's services take as true or false, in lower case."""

_TOO_LONG_FOR_A_NUMBER = 12


def parse_number(body: Mapping[str, object], key: str, *, least: int) -> int:
    """Return a whole number that is at least *least*; numeric text is accepted, because clients send it.

    Raises:
        MissingParameter: The value is absent or null.
        InvalidParameter: The value is not a whole number, or is out of range.
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
