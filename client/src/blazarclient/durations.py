"""Parser of durations: ``90m``, ``8h``, ``1d12h``, ``2w``."""

from __future__ import annotations

import re
from datetime import timedelta

from blazarclient import exception
from blazarclient.i18n import _

_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_PART = re.compile(r"\s*(\d{1,18})\s*([wdhms])\s*")
_MINUTE = timedelta(minutes=1)


def parse(text: str) -> timedelta:
    """Return the duration in *text*: numbers with the units ``w d h m s``, each unit at most once.

    Raises:
        InvalidDuration: *text* has another form, or is too long for a ``timedelta``.
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
            _(
                "Invalid time format for option. "
                "%r is not a duration; use numbers with the units w, d, h, m, s, such as 90m or 1d12h"
            )
            % text
        )
    try:
        return timedelta(**parts)
    except OverflowError:
        raise exception.InvalidDuration(
            _("Invalid time format for option. %r is longer than 999999999 days") % text
        ) from None


def whole_minutes(text: str) -> str:
    """Return a duration in the form of the library, in minutes, rounded up; lease dates are whole minutes.

    Raises:
        InvalidDuration: *text* is not a duration.
    """
    return f"{rounded_up(parse(text)) // _MINUTE}m"


def rounded_up(duration: timedelta) -> timedelta:
    """Return *duration* rounded up to whole minutes."""
    return -(-duration // _MINUTE) * _MINUTE


def parse_seconds(text: str) -> timedelta:
    """Return the duration in *text*; a number without a unit is in seconds.

    Raises:
        InvalidDuration: *text* is not a duration.
    """
    return parse(f"{text}s" if text.strip().isdecimal() else text)
