"""Parser of ``key=value,key=value``, with JSON and quotes in values."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from blazarclient import exception
from blazarclient.i18n import _

_KEY = re.compile(r"\s*([A-Za-z_][\w.:-]*)\s*=(?!=)\s*")
_NEXT = re.compile(r"\s*,\s*(?=[A-Za-z_][\w.:-]*\s*=(?!=))")
_END = re.compile(r"\s*(?:$|,\s*(?=[A-Za-z_][\w.:-]*\s*=(?!=)))")
_SINGLE_QUOTED = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True)
class Text:
    """A value of a command line argument, without the quotes around it."""

    text: str
    is_quoted: bool = False


def split(argument: str) -> dict[str, Text]:
    """Return the values of *argument* by key, in order.

    A comma separates values only if a key with ``=`` follows, and never inside JSON or quotes. Spaces
    around keys and values are ignored.

    Raises:
        IncorrectLease: The argument does not begin with a key.
        DuplicatedLeaseParameters: A key occurs twice.
    """
    values: dict[str, Text] = {}
    position = 0
    while position < len(argument) or not values:
        key = _KEY.match(argument, position)
        if key is None:
            raise exception.IncorrectLease(_("expected the form key=value,key=value"))
        if key[1] in values:
            raise exception.DuplicatedLeaseParameters(_("key %r occurs twice; remove one") % key[1])
        values[key[1]], position = _value(argument, key.end())
    return values


def _value(argument: str, start: int) -> tuple[Text, int]:
    """Return the value at *start*, and the position of the next key."""
    for closed in (_json(argument, start), _quoted(argument, start)):
        if closed is not None:
            end = _END.match(argument, closed[1])
            if end is not None:
                return closed[0], end.end()
    end = _NEXT.search(argument, start)
    stop, following = (end.start(), end.end()) if end else (len(argument), len(argument))
    return Text(argument[start:stop].rstrip()), following


def _json(argument: str, start: int) -> tuple[Text, int] | None:
    """Return the JSON array, object or string at *start* and its end, or None if there is none."""
    if argument[start : start + 1] not in ("[", "{", '"'):
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(argument, start)
    except ValueError:
        return None
    if isinstance(value, str):
        return Text(value, is_quoted=True), end
    return Text(argument[start:end]), end


def _quoted(argument: str, start: int) -> tuple[Text, int] | None:
    match = _SINGLE_QUOTED.match(argument, start)
    return (Text(match[1], is_quoted=True), match.end()) if match else None
