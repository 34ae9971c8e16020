"""Calendars in the format of RFC 5545, of leases and of busy times.

The same values always give the same text, so that the tag of a calendar can be made from them. All instants
are in UTC, so that no program needs the definition of a time zone.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import icalendar

from blazar.booking.context import Plugin
from blazar.booking.specs import rendered_spec
from blazar.domain.dates import format_date
from blazar.domain.feeds import DeletedLease
from blazar.domain.interval import Interval
from blazar.domain.lease import EventType, Lease, LeaseStatus, Reservation, ReservationStatus
from blazar.plugins.capabilities import HasCatalogueEntry

_END: Final = "END:VCALENDAR\r\n"
_PRODUCT: Final = "-//OpenStack//Blazar//EN"
_REFRESH: Final = timedelta(hours=1)
"""The time after which programs should read a calendar again."""
_BREAKING: Final = frozenset({"Cc", "Zl", "Zp"})
"""Categories of characters that RFC 5545 does not allow in texts, or at which some parsers end a line."""
_OVER: Final = frozenset({LeaseStatus.TERMINATING, LeaseStatus.TERMINATED, LeaseStatus.DELETING})
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - in the local time of a zone, as its definition requires


def render_calendar(title: str, events: Iterable[str]) -> str:
    """Return a calendar with these events, which are texts."""
    calendar = icalendar.Calendar()
    calendar.add("prodid", _PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("calscale", "GREGORIAN")
    # Once under the name of RFC 7986, and once under the one that older programs know; likewise the interval.
    for name in ("name", "x-wr-calname"):
        calendar.add(name, icalendar.vText(one_line(title)))
    calendar.add("refresh-interval", _REFRESH, parameters={"VALUE": "DURATION"})
    calendar.add("x-published-ttl", icalendar.vDuration(_REFRESH))
    # A calendar must have a component.
    parts = "".join(events) or _rendered(_time_zone())
    head, end, _ = _rendered(calendar).rpartition(_END)
    return f"{head}{parts}{end}"


def lease_event(lease: Lease, plugins: Mapping[str, Plugin], alarm: timedelta | None = None) -> str:
    """Return the event of a lease as text.

    Its sequence number is the revision of the lease. It is transparent: a lessee need not attend a lease, and
    is not busy because of it.

    Args:
        lease: The lease.
        plugins: The plugins by resource type.
        alarm: Time before the end at which programs remind users, in addition to the time of the lease's
            before-end event; zero for no reminders.
    """
    changed_at = lease.updated_at or lease.created_at or lease.start
    event = _event(f"{lease.id}@blazar", lease.name, changed_at, (lease.start, lease.end))
    event.add("transp", "TRANSPARENT")
    event.add("sequence", lease.revision)
    event.add("status", _status_of(lease))
    event.add("description", "\n".join(_lines(lease, plugins)))
    _add_times(event, lease.created_at, changed_at)
    if lease.status not in _OVER:
        for lead in _leads(lease, alarm):
            event.add_component(_alarm(lead, lease.name))
    return _rendered(event)


def deleted_lease_event(lease: DeletedLease) -> str:
    """Return the event of a deleted lease as text; programs replace the event that they have with it."""
    event = _event(f"{lease.lease_id}@blazar", lease.name, lease.deleted_at, (lease.start, lease.end))
    event.add("transp", "TRANSPARENT")
    event.add("sequence", lease.revision)
    event.add("status", "CANCELLED")
    event.add("description", "The lease was deleted.")
    _add_times(event, lease.created_at, lease.deleted_at)
    return _rendered(event)


def busy_event(uid: str, title: str, window: Interval, known_at: datetime) -> str:
    """Return, as text, the event of a period in which resources are not free.

    Args:
        uid: An id that stays the same as long as the end does.
        title: A sentence.
        window: The period.
        known_at: An instant that is the same at every read.
    """
    event = _event(uid, title, known_at, (window.start, window.end))
    event.add("transp", "OPAQUE")
    event.add("status", "CONFIRMED")
    return _rendered(event)


def one_line(text: str) -> str:
    """Return a text in one line, without the characters that RFC 5545 does not allow."""
    shown = (" " if unicodedata.category(each) in _BREAKING else each for each in text)
    return " ".join("".join(shown).split())


def _rendered(component: icalendar.Component) -> str:
    return str(component.to_ical(), "utf-8")


def _event(uid: str, title: str, stamp: datetime, times: tuple[datetime, datetime]) -> icalendar.Event:
    event = icalendar.Event()
    event.add("uid", uid)
    event.add("dtstamp", stamp)
    event.add("dtstart", times[0])
    # An event without an end lasts for an instant; an end that is not later than the start is not allowed.
    if times[1] > times[0]:
        event.add("dtend", times[1])
    event.add("summary", one_line(title))
    return event


def _add_times(event: icalendar.Event, created_at: datetime | None, changed_at: datetime) -> None:
    if created_at is not None:
        event.add("created", created_at)
    event.add("last-modified", changed_at)


def _status_of(lease: Lease) -> str:
    """Return whether the lease takes place: tentative if the lessee may not get everything."""
    if lease.is_deleting or lease.status is LeaseStatus.DELETING:
        return "CANCELLED"
    is_doubtful = lease.status in (LeaseStatus.CREATING, LeaseStatus.ERROR) or any(
        each.missing_resources for each in lease.reservations
    )
    return "TENTATIVE" if is_doubtful else "CONFIRMED"


def _lines(lease: Lease, plugins: Mapping[str, Plugin]) -> Iterator[str]:
    yield f"Status: {lease.status.value}"
    for each in lease.reservations:
        yield one_line(_reservation_line(each, plugins.get(each.resource_type)))
    before_end = lease.find_event(EventType.BEFORE_END)
    if before_end is not None:
        yield f"Notice before the end: {format_date(before_end.time)} UTC"
    yield f"End: {format_date(lease.end)} UTC. The reserved resources are then released."
    yield f"Lease: {lease.id}"


def _reservation_line(reservation: Reservation, plugin: Plugin | None) -> str:
    keys: Sequence[str] = ()
    if plugin is not None and isinstance(plugin, HasCatalogueEntry):
        keys = plugin.request_keys
    spec = rendered_spec(plugin, reservation)
    values = [f"{key}={_text(spec[key])}" for key in keys if spec.get(key) not in (None, "")]
    problems = [
        *(["in error"] if reservation.status is ReservationStatus.ERROR else []),
        *(["resources are missing"] if reservation.missing_resources else []),
    ]
    line = f"{reservation.resource_type}: {', '.join(values)}" if values else reservation.resource_type
    return f"{line} ({', '.join(problems)})" if problems else line


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _leads(lease: Lease, alarm: timedelta | None) -> Sequence[timedelta]:
    """Return the times before the end at which programs remind users of it, longest first."""
    if alarm == timedelta(0):
        return []
    before_end = lease.find_event(EventType.BEFORE_END)
    leads = {lease.end - before_end.time} if before_end is not None else set()
    if alarm is not None:
        leads.add(alarm)
    # A reminder of the end is not useful before the start.
    return sorted((each for each in leads if timedelta(0) < each <= lease.end - lease.start), reverse=True)


def _alarm(lead: timedelta, title: str) -> icalendar.Alarm:
    alarm = icalendar.Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", f"Lease {one_line(title)} ends soon")
    alarm.add("trigger", -lead, parameters={"RELATED": "END"})
    return alarm


def _time_zone() -> icalendar.Timezone:
    zone, standard = icalendar.Timezone(), icalendar.TimezoneStandard()
    zone.add("tzid", "UTC")
    standard.add("dtstart", _EPOCH)
    standard.add("tzoffsetfrom", timedelta(0))
    standard.add("tzoffsetto", timedelta(0))
    zone.add_component(standard)
    return zone
