"""From the arguments of ``lease create`` and ``lease update`` to what the service is sent."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from blazarclient import dates, durations, exception, files, pairs, reservations, utils
from blazarclient.base import Record
from blazarclient.i18n import _

DEFAULT_DURATION = timedelta(hours=24)
EVENT_KEYS = ("event_type", "event_date")


@dataclass(frozen=True, slots=True)
class Calendar:
    """Reads dates; whatever is not in the old form is told in UTC."""

    now: datetime
    zone: tzinfo
    tell: Callable[[str], None]

    def read(self, key: str, text: str) -> str:
        """Return a date as the service reads it.

        Raises:
            InvalidDate: It cannot be understood.
        """
        found = dates.to_api(str(text), self.now, self.zone)
        if not dates.is_in_the_old_form(str(text)):
            self.tell(f"{key}: {text} = {found} UTC")
        return found

    def instant(self, date: str) -> datetime:
        """Return the instant that a date of :meth:`read` is; now is cut to the minute, as all are."""
        if date == dates.NOW:
            return self.now.replace(second=0, microsecond=0)
        return utils.parse_date(date, utils.API_DATE_FORMAT).replace(tzinfo=UTC)


def to_create(args: argparse.Namespace, calendar: Calendar) -> Record:
    """Return the arguments of the library's ``lease.create``.

    Raises:
        IncorrectLease: There is no name, the dates are in the wrong order, or a reservation makes no sense.
        InvalidDate: A date cannot be understood.
        InvalidDuration: Likewise, a duration.
        DuplicatedLeaseParameters: A key of a reservation is given twice.
    """
    given = files.read_lease(args.from_file) if args.from_file else {}
    name = args.name if args.name is not None else given.get("name")
    if not name:
        raise exception.IncorrectLease(_("The lease has no name"))
    start = calendar.read("start_date", args.start_date or given.get("start_date") or dates.NOW)
    end = _end(args, given, start, calendar)
    before_end = args.before_end_date or given.get("before_end_date")
    lease = {
        "name": name,
        "start": start,
        "end": end,
        "reservations": [
            *map(reservations.to_create_hosts, args.physical_reservations),
            *map(reservations.to_create, args.reservations),
            *given.get("reservations", ()),
        ],
        "events": [*(_event(each, calendar) for each in args.events), *given.get("events", ())],
        "before_end": calendar.read("before_end_date", before_end) if before_end else None,
    }
    _check(lease, calendar)
    return lease


def body(lease: Record) -> Record:
    """Return what the service is sent for the arguments of ``lease.create``."""
    names = {"start": "start_date", "end": "end_date", "before_end": "before_end_date"}
    return {names.get(key, key): value for key, value in lease.items()}


def passing(sent: Record) -> tuple[str, ...]:
    """Return the statuses that a lease cannot stay in after that was sent, since it says ``now``."""
    if sent.get("end_date") == dates.NOW:
        return ("PENDING", "ACTIVE")
    return ("PENDING",) if sent.get("start_date") == dates.NOW else ()


def to_update(args: argparse.Namespace, calendar: Calendar) -> Record:
    """Return the arguments of the library's ``lease.update``, without the id.

    Raises:
        CommandError: There is nothing to change.
        IncorrectLease: A reservation makes no sense.
        InvalidDate: A date cannot be understood.
        InvalidDuration: Likewise, a duration.
        DuplicatedLeaseParameters: A key of a reservation is given twice.
    """
    values: dict[str, Any] = {"name": args.new_name} if args.new_name else {}
    for key in ("prolong_for", "reduce_by", "defer_by", "advance_by"):
        if getattr(args, key):
            values[key] = durations.whole_minutes(getattr(args, key))
    for key in ("start_date", "end_date", "before_end_date"):
        if getattr(args, key):
            values[key] = calendar.read(key, getattr(args, key))
    if args.reservations:
        values["reservations"] = [reservations.to_update(each) for each in args.reservations]
    if not values:
        raise exception.CommandError(_("There is nothing to change; see the command's help"), code=400)
    return values


def _end(args: argparse.Namespace, given: Record, start: str, calendar: Calendar) -> str:
    begins = calendar.instant(start)
    if args.duration:
        end = begins + durations.parse(args.duration)
        calendar.tell(f"end_date: {utils.render_date(end)} UTC")
        return utils.render_date(end)
    date = args.end_date or given.get("end_date")
    if date:
        return calendar.read("end_date", date)
    default = calendar.now + DEFAULT_DURATION
    return utils.render_date(default if default > begins else begins + DEFAULT_DURATION)


def _event(argument: str, calendar: Calendar) -> Record:
    """Return an event; the service takes note of none, and the user is told so."""
    try:
        given = pairs.split(argument)
        unknown = [key for key in given if key not in EVENT_KEYS]
        if unknown:
            names = {"unknown": ", ".join(unknown), "known": ", ".join(EVENT_KEYS)}
            raise exception.IncorrectLease(_("unknown: %(unknown)s; known keys are: %(known)s") % names)
        if "event_date" not in given:
            raise exception.IncorrectLease(_("event_date is missing"))
        date = calendar.read("event_date", given["event_date"].text)
    except exception.BlazarClientException as error:
        raise type(error)(
            _("Invalid event argument '%(argument)s': %(reason)s") % {"argument": argument, "reason": error}
        ) from None
    calendar.tell(_("The service does nothing at an --event; it warns and snapshots at --before-end-date"))
    return {"event_type": given["event_type"].text if "event_type" in given else "", "event_date": date}


def _check(lease: Record, calendar: Calendar) -> None:
    start, end = calendar.instant(lease["start"]), calendar.instant(lease["end"])
    if end < start:
        raise exception.IncorrectLease(
            _(
                "The lease parameters are incorrect. "
                "It would end at %(end)s, before it starts at %(start)s (UTC)"
            )
            % {"start": utils.render_date(start), "end": utils.render_date(end)}
        )
    if lease["before_end"] is None:
        return
    before_end = calendar.instant(lease["before_end"])
    if not start <= before_end <= end:
        raise exception.IncorrectLease(
            _(
                "The lease parameters are incorrect. "
                "The before-end date %(date)s is not within %(start)s..%(end)s (UTC)"
            )
            % {
                "date": utils.render_date(before_end),
                "start": utils.render_date(start),
                "end": utils.render_date(end),
            }
        )
