"""Dates of API v1: their format, and the dates that a lease may have.

API v1 counts in minutes of UTC, without a zone. "Now" is the current minute, rounded down. A request for the
current minute can arrive after the minute has ended, so the previous minute also counts as "now".
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from blazar.domain.errors import BeforeEndOutsideLease, InvalidDate, InvalidPeriod
from blazar.domain.lease import EventStatus, EventType, Lease

_FORMAT = "%Y-%m-%d %H:%M"
_NOW = "now"
_GRACE = timedelta(minutes=1)


def minute_of(instant: datetime) -> datetime:
    """Return *instant* rounded down to its minute."""
    return instant.replace(second=0, microsecond=0)


def counted_as_now(instant: datetime, now: datetime) -> datetime:
    """Return the current minute for an instant in the previous minute; any other *instant* unchanged."""
    this_minute = minute_of(now)
    return this_minute if this_minute - _GRACE <= instant < this_minute else instant


def parse_date(name: str, text: object, now: datetime | None = None) -> datetime:
    """Return the instant, in UTC, of a date in a request.

    Args:
        name: The parameter, for the error.
        text: ``YYYY-MM-DD HH:MM``, or ``now`` if *now* is given.
        now: The meaning of ``now``; None if the word is not allowed.

    Raises:
        InvalidDate: The text is neither a date nor an allowed ``now``.
    """
    if not isinstance(text, str):
        raise InvalidDate(name, str(text)[:64])
    if text == _NOW and now is not None:
        return minute_of(now)
    try:
        # strptime accepts the digits of every script for some of the parts.
        text.encode("ascii")
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidDate(name, text[:64]) from None


def format_date(instant: datetime) -> str:
    """Return an instant in the format of requests, truncated to the minute."""
    # strftime omits the leading zeros of years.
    return instant.replace(tzinfo=None).isoformat(" ", "minutes")


def check_new_dates(start: datetime, end: datetime, now: datetime) -> None:
    """Check the dates of a new lease.

    Raises:
        InvalidPeriod: The start is before the current minute, or the end is not after the start.
    """
    if start < minute_of(now):
        raise InvalidPeriod(_in_the_past("start_date: Start date", start, now))
    if end <= start:
        # Published tests compare this text.
        raise InvalidPeriod("End date must be later than start date. (end_date)")


def check_changed_dates(lease: Lease, start: datetime, end: datetime, now: datetime) -> None:
    """Check the new dates of an existing lease.

    A lease that has begun keeps its start. It may be ended "now", at the earliest in its first minute.
    The reference implementation also allows moving the start during the first minute, and extending an ended
    lease during its last minute. Both corrupt the lease, so neither is allowed here.

    Raises:
        InvalidPeriod: The message gives the reason.
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
        raise InvalidPeriod(_in_the_past("start_date: Start date", start, now))
    if end < this_minute:
        raise InvalidPeriod(_in_the_past("end_date: End date", end, now))
    if end < start or (end == start and not has_begun):
        raise InvalidPeriod("End date must be later than start date. (end_date)")


def before_end_for_new(explicit: object, start: datetime, end: datetime, lead: timedelta) -> datetime | None:
    """Return the due time of a new lease's ``before_end_lease`` event, or None for no event.

    Args:
        explicit: The request's ``before_end_date``; None and "" mean the default.
        start: The lease's start.
        end: The lease's end.
        lead: The default time between the event and the end; zero for no event.

    Raises:
        InvalidDate: *explicit* is not a date.
        BeforeEndOutsideLease: *explicit* is not strictly between start and end.
    """
    if explicit is not None and explicit != "":
        return _inside(parse_date("before_end_date", explicit), start, end)
    if not lead:
        return None
    return start if end - start < lead else end - lead


def before_end_for_changed(explicit: object, lease: Lease, start: datetime, end: datetime) -> datetime | None:
    """Return the due time of a changed lease's ``before_end_lease`` event, or None for no event.

    Without an explicit date, the event keeps its distance to the end, but is not before the start.

    Raises:
        InvalidDate: *explicit* is not a date.
        BeforeEndOutsideLease: *explicit* is not strictly between start and end.
    """
    if explicit is not None and explicit != "":
        return _inside(parse_date("before_end_date", explicit), start, end)
    event = lease.find_event(EventType.BEFORE_END)
    if event is None:
        return None
    return max(start, end - (lease.end - event.time))


def _in_the_past(name: str, instant: datetime, now: datetime) -> str:
    return (
        f"{name} must be later than current date: {format_date(instant)} UTC is in the past, it is"
        f" {format_date(now)} UTC now"
    )


def _inside(instant: datetime, start: datetime, end: datetime) -> datetime:
    if not start < instant < end:
        raise BeforeEndOutsideLease("before_end_date: it must lie between the start and the end of the lease")
    return instant
