"""Dates as API v1 writes them, and which dates a lease may have.

API v1 knows minutes of UTC without a zone (rest-api 4.7). "Now" is the current minute, rounded down.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from blazar.domain.errors import BeforeEndOutsideLease, InvalidDate, InvalidPeriod
from blazar.domain.lease import EventStatus, EventType, Lease

_FORMAT = "%Y-%m-%d %H:%M"
_NOW = "now"


def minute_of(instant: datetime) -> datetime:
    """Return *instant* rounded down to its minute."""
    return instant.replace(second=0, microsecond=0)


def parse_date(name: str, text: object, now: datetime | None = None) -> datetime:
    """Return the instant that a date of a request means, in UTC.

    Args:
        name: The parameter, for the error.
        text: ``YYYY-MM-DD HH:MM``, or ``now`` where *now* is given.
        now: What ``now`` means; None where the word is not allowed.

    Raises:
        InvalidDate: It is neither.
    """
    if not isinstance(text, str):
        raise InvalidDate(name, str(text)[:64])
    if text == _NOW and now is not None:
        return minute_of(now)
    try:
        # strptime takes the digits of every script for some of the parts.
        text.encode("ascii")
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidDate(name, text[:64]) from None


def format_date(instant: datetime) -> str:
    """Return an instant as requests write it; what is less than a minute is left out."""
    return instant.strftime(_FORMAT)


def check_new_dates(start: datetime, end: datetime, now: datetime) -> None:
    """Check the dates of a lease that is to be created.

    Raises:
        InvalidPeriod: The start lies before the current minute, or the end is not after the start.
    """
    if start < minute_of(now):
        raise InvalidPeriod("start_date: Start date must be later than current date.")
    if end <= start:
        # The text is compared by published tests (rest-api 4.6).
        raise InvalidPeriod("End date must be later than start date. (end_date)")


def check_changed_dates(lease: Lease, start: datetime, end: datetime, now: datetime) -> None:
    """Check the dates that a lease is to have from now on (rest-api 5.1.5).

    A lease that has begun keeps its start, and may be ended "now", which is its first minute at the
    earliest. The reference also lets a lease move its start during its first minute, and lets an
    ended lease come back during its last; both corrupt it (rest-api 10.3, 12 and 13), so neither is
    allowed here.

    Raises:
        InvalidPeriod: What the message says.
    """
    this_minute = minute_of(now)
    has_begun = lease.start <= this_minute or (
        lease.get_event_status(EventType.START) is not EventStatus.UNDONE
    )
    if lease.end <= now or lease.get_event_status(EventType.END) is not EventStatus.UNDONE:
        raise InvalidPeriod("end_date: the lease has ended; only its name can be changed")
    if has_begun and start != lease.start:
        raise InvalidPeriod("start_date: the lease has begun; its start cannot be changed")
    if not has_begun and start < this_minute:
        raise InvalidPeriod("start_date: Start date must be later than current date.")
    if end < this_minute:
        raise InvalidPeriod("end_date: End date must be later than current and start date.")
    if end < start or (end == start and not has_begun):
        raise InvalidPeriod("End date must be later than start date. (end_date)")


def before_end_for_new(explicit: object, start: datetime, end: datetime, lead: timedelta) -> datetime | None:
    """Return when a new lease's ``before_end_lease`` event is due, or None for no event.

    Args:
        explicit: The request's ``before_end_date``; None and "" mean the default.
        start: The lease's start.
        end: The lease's end.
        lead: The default's distance from the end; zero for no event.

    Raises:
        InvalidDate: *explicit* is not a date.
        BeforeEndOutsideLease: *explicit* does not lie strictly between start and end.
    """
    if explicit is not None and explicit != "":
        return _inside(parse_date("before_end_date", explicit), start, end)
    if not lead:
        return None
    return start if end - start < lead else end - lead


def before_end_for_changed(explicit: object, lease: Lease, start: datetime, end: datetime) -> datetime | None:
    """Return when a changed lease's ``before_end_lease`` event is due, or None for no event.

    Without an explicit date the distance to the end stays as it was, but the event does not come
    before the start.

    Raises:
        InvalidDate: *explicit* is not a date.
        BeforeEndOutsideLease: *explicit* does not lie strictly between start and end.
    """
    if explicit is not None and explicit != "":
        return _inside(parse_date("before_end_date", explicit), start, end)
    event = lease.find_event(EventType.BEFORE_END)
    if event is None:
        return None
    return max(start, end - (lease.end - event.time))


def _inside(instant: datetime, start: datetime, end: datetime) -> datetime:
    if not start < instant < end:
        raise BeforeEndOutsideLease("before_end_date: it must lie between the start and the end of the lease")
    return instant
