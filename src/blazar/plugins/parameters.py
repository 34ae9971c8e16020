"""Parsers for values that several kinds of reservations share."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping

from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.expressions import parse

LARGEST_NUMBER = 2**31 - 1
TRUE_WORDS = frozenset({"1", "t", "true", "on", "y", "yes"})
FALSE_WORDS = frozenset({"0", "f", "false", "off", "n", "no"})
"""Words that OpenStack's services take as true or false, in lower case."""

_NONE_WORDS = frozenset({"", "None", "none"})
"""Texts that mean null as an affinity; some forms send an empty text."""
_TOO_LONG_FOR_A_NUMBER = 12
_LONGEST_CAPABILITY = 64


def parse_number(body: Mapping[str, object], key: str, *, least: int, most: int = LARGEST_NUMBER) -> int:
    """Return a whole number from *least* to *most*; numeric text is accepted, because clients send it.

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
    if not least <= value <= most:
        raise InvalidParameter(key, f"must be from {least} to {most}")
    return value


def parse_affinity(value: object) -> bool | None:
    """Return an affinity; many spellings are accepted. Raises InvalidParameter."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return value == 1
    if isinstance(value, str):
        if value in _NONE_WORDS:
            return None
        if value.lower() in TRUE_WORDS | FALSE_WORDS:
            return value.lower() in TRUE_WORDS
    raise InvalidParameter("affinity", "must be true, false or null")


def parse_properties(value: object, key: str = "resource_properties") -> str | None:
    """Return a requirement as text, after checking its syntax; a list is returned as JSON.

    Raises:
        InvalidRequirement: The value is not a requirement.
    """
    parse(value, field=key)
    return value if value is None or isinstance(value, str) else json.dumps(value)


def check_capability_names(names: Iterable[str], taken: Collection[str]) -> None:
    """Check the names of extra capabilities; none may be in *taken*. Raises InvalidParameter."""
    for name in names:
        if name in taken:
            raise InvalidParameter(name, "cannot be the name of an extra capability")
        if not 0 < len(name) <= _LONGEST_CAPABILITY or not name.isprintable():
            raise InvalidParameter(
                name[:_LONGEST_CAPABILITY],
                f"must have 1 to {_LONGEST_CAPABILITY} printable characters as a name",
            )
