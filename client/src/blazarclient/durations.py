"""Durations as people write them: ``90m``, ``8h``, ``1d12h``, ``2w``."""

from __future__ import annotations

import re
from datetime import timedelta

from blazarclient import exception
from blazarclient.i18n import _

_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_PART = re.compile(r"\s*(\d{1,18})\s*([wdhms])\s*")
_MINUTE = timedelta(minutes=1)


def parse(text: str) -> timedelta:
    """Return a duration: numbers with one of ``w``, ``d``, ``h``, ``m``, ``s``, each at most once.

    Raises:
        InvalidDuration: It is not one, or it is longer than the calendar.
    """
    parts: dict[str, int] = {}
    position = 0
    while match := _PART.match(text, position):
        if _UNITS[match[2]] in parts:
            break
        parts[_UNITS[match[2]]] = int(match[1])
        position = match.end()
    if not parts or position != len(text):
        raise exception.InvalidDuration(
            _("Invalid duration %r: write numbers with units, such as 90m, 8h, 1d12h or 2w") % text
        )
    try:
        return timedelta(**parts)
    except OverflowError:
        raise exception.InvalidDuration(_("Invalid duration %r: too long") % text) from None


def whole_minutes(text: str) -> str:
    """Return a duration as the library takes it, in minutes, rounded up; leases change by the minute.

    Raises:
        InvalidDuration: It is not one.
    """
    return f"{-(-parse(text) // _MINUTE)}m"


def parse_seconds(text: str) -> timedelta:
    """Return a duration; a bare number is seconds.

    Raises:
        InvalidDuration: It is not one.
    """
    return parse(f"{text}s" if text.strip().isdecimal() else text)
