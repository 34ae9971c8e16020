"""Dates as people write them, to the minute; pure functions of the text, the present and a time zone.

What has a date and names no zone is UTC, as it always was; words and bare times are local::

    now                             at once, by the service's clock
    2026-12-01 09:00                UTC
    2026-12-01T09:00+01:00          that offset; Z is UTC
    2026-12-01 09:00 local          the user's own zone; or any by name, such as Europe/Paris
    09:00, tomorrow 09:00, friday   local time, the next there is; a day alone means its first minute
    +2h, +1d12h                     from now
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from blazarclient import durations, exception, utils
from blazarclient.i18n import _

NOW = "now"
FORMS = _(
    "now, 2026-12-01 09:00 (UTC), 2026-12-01T09:00+01:00, '2026-12-01 09:00 local', tomorrow 09:00, +2h"
)

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_OLD_FORM = re.compile(r"\d+-\d+-\d+ \d+:\d+")
_MIDNIGHT = time(0)
_DAY = timedelta(days=1)


def parse(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Return the instant that *text* means, in UTC, cut to the minute.

    Args:
        text: See above.
        now: The present.
        zone: That of the user.

    Raises:
        InvalidDate: It is none of the forms above, is out of the calendar, or the clock skips that time.
    """
    words = text.split()
    named = _zone(words[-1], zone) if len(words) > 1 else None
    if named is not None:
        words.pop()
    try:
        instant = _parse(" ".join(words).lower(), named, now, zone)
    except OverflowError:
        instant = None
    if instant is None:
        raise exception.InvalidDate(
            _("Invalid date %(text)r; write one of: %(forms)s") % {"text": text, "forms": FORMS}
        )
    return instant.astimezone(UTC).replace(second=0, microsecond=0)


def to_api(text: str, now: datetime, zone: tzinfo) -> str:
    """Return *text* as the service reads it: ``now`` as it is, everything else in UTC.

    Raises:
        InvalidDate: As :func:`parse`.
    """
    return NOW if text.strip().lower() == NOW else utils.render_date(parse(text, now, zone))


def is_in_the_old_form(text: str) -> bool:
    """Return whether *text* needs no explanation: ``now``, or a date in UTC."""
    return text.strip().lower() == NOW or _OLD_FORM.fullmatch(text.strip()) is not None


def _parse(text: str, named: tzinfo | None, now: datetime, local: tzinfo) -> datetime | None:
    if text == NOW and named is None:
        return now
    if text.startswith("+") and named is None:
        return now + durations.parse(text[1:])
    if _OLD_FORM.fullmatch(text):
        return _at(utils.parse_date(text, utils.API_DATE_FORMAT), named or UTC)
    return _iso(text, named) or _words(text, now, named or local)


def _iso(text: str, named: tzinfo | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    if found.tzinfo is None:
        return _at(found, named or UTC)
    return found if named is None else None


def _words(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the next instant that is so called."""
    day, _separator, clock = text.rpartition(" ")
    match = _TIME.fullmatch(clock)
    if match is None:
        day = text
    at = time(int(match[1]), int(match[2])) if match else _MIDNIGHT
    today = now.astimezone(zone).date()
    fixed = {"today": today, "tomorrow": today + _DAY}
    if day in fixed:
        return _at(datetime.combine(fixed[day], at), zone)
    if not ((day == "" and match) or day in _DAYS):
        return None
    return _next(today, at, _DAYS.index(day) if day else None, now, zone)


def _next(today: date, at: time, weekday: int | None, now: datetime, zone: tzinfo) -> datetime:
    """Return the first instant after *now* at that time of a day, and of that weekday if it is not None."""
    for ahead in range(8):
        day = today + ahead * _DAY
        if weekday is None or day.weekday() == weekday:
            found = _at(datetime.combine(day, at), zone)
            if found > now:
                return found
    raise AssertionError("eight days have every weekday, one of them ahead")


def _at(naive: datetime, zone: tzinfo) -> datetime:
    found = naive.replace(tzinfo=zone)
    if found.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != naive:
        raise exception.InvalidDate(
            _("%(date)s does not exist in the time zone %(zone)s: clocks are put forward")
            % {"date": naive, "zone": zone}
        )
    return found


def _zone(word: str, local: tzinfo) -> tzinfo | None:
    """Return the zone of that name, None if there is none."""
    if word.lower() == "local":
        return local
    if word.upper() in ("UTC", "Z"):
        return UTC
    if not re.fullmatch(r"[A-Za-z]+(?:/[\w+-]+)+", word):
        return None
    try:
        return ZoneInfo(word)
    except (ValueError, OSError, LookupError):
        return None
