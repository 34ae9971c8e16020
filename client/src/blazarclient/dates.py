"""Parser of dates, to the minute; pure functions of the text, the current time and a time zone.

A date without a time zone is in UTC, as in release 4.6; weekdays and bare times are local::

    now                             the current time of the service
    2026-12-01 09:00                UTC
    2026-12-01T09:00+01:00          offset from UTC; Z is UTC
    2026-12-01 09:00 local          the user's time zone; or another by name, such as Europe/Paris
    09:00, tomorrow 09:00, friday   local time, the next occurrence; a day alone means 00:00
    +2h, +1d12h                     relative to the current time
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from blazarclient import durations, exception, utils
from blazarclient.i18n import _

NOW = "now"
FORMS = _(
    "now, 2026-12-01 09:00 (UTC), 2026-12-01T09:00+01:00, '2026-12-01 09:00 local', tomorrow 09:00, +2h"
)

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_API_FORM = re.compile(r"\d+-\d+-\d+ \d+:\d+")
_MIDNIGHT = time(0)
_DAY = timedelta(days=1)
_ZONE = re.compile(r"[A-Za-z][\w+-]*(?:/[\w+-]+)*")


def parse(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Return *text* as an instant in UTC, truncated to the minute.

    Args:
        text: A date in one of the forms above.
        now: Current time.
        zone: Time zone of the user.

    Raises:
        InvalidDate: *text* has another form, is later than the year 9999, or is skipped by daylight saving.
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
        _refuse_unknown_zone(text, words, now, zone)
        raise exception.InvalidDate(
            _("Invalid date %(text)r; use one of these forms: %(forms)s") % {"text": text, "forms": FORMS}
        )
    return instant.astimezone(UTC).replace(second=0, microsecond=0)


def to_api(text: str, now: datetime, zone: tzinfo) -> str:
    """Return *text* in the format of requests: ``now`` unchanged, other dates in UTC.

    Raises:
        InvalidDate: As in :func:`parse`.
    """
    return NOW if text.strip().lower() == NOW else utils.render_date(parse(text, now, zone))


def end_of(start: datetime, duration: timedelta) -> str:
    """Return the end date of a lease that starts at *start*, in the format of requests.

    Args:
        start: Start date, in UTC.
        duration: Length of the lease; rounded up to whole minutes.

    Raises:
        InvalidDuration: The end is later than the year 9999.
    """
    try:
        return utils.render_date(start + durations.rounded_up(duration))
    except OverflowError:
        raise exception.InvalidDuration(
            _("Invalid duration %s: the lease would end after the year 9999") % duration
        ) from None


def is_api_form(text: str) -> bool:
    """Return whether *text* is ``now`` or a date in the format of requests, in UTC."""
    return text.strip().lower() == NOW or _API_FORM.fullmatch(text.strip()) is not None


def _parse(text: str, named: tzinfo | None, now: datetime, local: tzinfo) -> datetime | None:
    if text == NOW and named is None:
        return now
    if text.startswith("+") and named is None:
        return now + durations.parse(text[1:])
    if _API_FORM.fullmatch(text):
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
    """Return the next instant that *text* names, such as ``friday 09:00``; None if it names none."""
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
    """Return the first instant after *now* at a time of day and, if not None, on a weekday."""
    for ahead in range(8):
        day = today + ahead * _DAY
        if weekday is None or day.weekday() == weekday:
            found = _at(datetime.combine(day, at), zone)
            if found > now:
                return found
    raise AssertionError("every weekday and time of day occurs within eight days")


def _at(naive: datetime, zone: tzinfo) -> datetime:
    found = naive.replace(tzinfo=zone)
    if found.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != naive:
        raise exception.InvalidDate(
            _("Invalid date %(date)s: daylight saving time skips it in the time zone %(zone)s")
            % {"date": naive, "zone": zone}
        )
    return found


def _zone(word: str, local: tzinfo) -> tzinfo | None:
    """Return the time zone with a name in upper or lower case, or None if the name is unknown."""
    if word.lower() == "local":
        return local
    if word.upper() in ("UTC", "Z"):
        return UTC
    if not _ZONE.fullmatch(word) or word.lower() in (*_DAYS, "today", "tomorrow"):
        return None
    return _zone_by_name(word) or _zone_by_name(_zones().get(word.lower(), ""))


def _zone_by_name(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        return None


def _zones() -> Mapping[str, str]:
    """Return the names of all time zones, by their names in lower case."""
    return {name.lower(): name for name in available_timezones()}


def _refuse_unknown_zone(text: str, words: list[str], now: datetime, local: tzinfo) -> None:
    """Raise InvalidDate if *words* are a date followed by an unknown time zone."""
    if len(words) < 2 or not _ZONE.fullmatch(words[-1]):
        return
    try:
        if _parse(" ".join(words[:-1]).lower(), UTC, now, local) is None:
            return
    except (OverflowError, exception.InvalidDate):
        return
    near = ", ".join(_similar_zones(words[-1]))
    hint = (
        _("did you mean %s?") % near
        if near
        else _("use a name such as Europe/Paris, an offset such as +01:00, or local")
    )
    raise exception.InvalidDate(
        _("Invalid date %(text)r: unknown time zone %(zone)r; %(hint)s")
        % {"text": text, "zone": words[-1], "hint": hint}
    )


def _similar_zones(word: str) -> list[str]:
    """Return up to three time zones whose name or city is similar to *word*, the most similar first."""
    names = _zones()
    cities = {lower.rpartition("/")[2]: lower for lower in sorted(names, reverse=True)}
    near = difflib.get_close_matches(word.lower(), [*names, *cities], n=6, cutoff=0.7)
    return list(dict.fromkeys(names[cities.get(each, each) if each not in names else each] for each in near))[
        :3
    ]
