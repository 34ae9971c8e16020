"""Requests of ``lease create`` and ``lease update``, made from the arguments of the commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from blazarclient import dates, durations, exception, files, pairs, reservations, utils, zones
from blazarclient.base import Record
from blazarclient.i18n import _
from blazarclient.reservation_changes import Changes

DEFAULT_DURATION = timedelta(hours=24)
EVENT_KEYS = ("event_type", "event_date")


@dataclass(frozen=True, slots=True)
class DateReader:
    """Parser of dates that prints dates in UTC unless they have the format of requests."""

    now: datetime
    zone: tzinfo
    echo: Callable[[str], None]

    def read(self, key: str, text: str) -> str:
        """Return a date in the format of requests.

        Raises:
            InvalidDate: *text* is not a date.
        """
        found = dates.to_api(str(text), self.now, self.zone)
        if not dates.is_api_form(str(text)):
            self.echo(f"{key}: {text} = {found} UTC")
        return found

    def instant(self, date: str) -> datetime:
        """Return a result of :meth:`read` as an instant, truncated to the minute."""
        if date == dates.NOW:
            return self.now.replace(second=0, microsecond=0)
        return utils.parse_date(date, utils.API_DATE_FORMAT).replace(tzinfo=UTC)

    @contextmanager
    def explained_start(self, start: str | None) -> Iterator[None]:
        """Add the start and the local time to an error of the service about a *start* in the past."""
        try:
            yield
        except exception.BadRequest as refusal:
            if start is not None and start != dates.NOW and self.instant(start) < self.now:
                self._add_both_times(refusal, self.instant(start))
            raise

    def _add_both_times(self, refusal: exception.BadRequest, start: datetime) -> None:
        """Add *start* and the local time to the message, unless it already contains them."""
        is_complete = utils.render_date(start) in str(refusal) and not start.astimezone(self.zone).utcoffset()
        if not is_complete:
            both = {"start": self._both(start), "now": self._both(self.now)}
            hint = _("The start is %(start)s, the local time is %(now)s; dates without a zone are UTC") % both
            refusal.args = (f"{str(refusal).rstrip('.')}. {hint}",)

    def _both(self, instant: datetime) -> str:
        """Return an instant in UTC and, if different, in the user's time zone."""
        local = instant.astimezone(self.zone)
        text = f"{instant:%Y-%m-%d %H:%M} UTC"
        return f"{text} ({local:%Y-%m-%d %H:%M %Z})" if local.utcoffset() else text


def to_create(args: argparse.Namespace, date_reader: DateReader, *, needs_name: bool = True) -> Record:
    """Return the arguments of the library's ``lease.create``; ``name`` may be None if it is not needed.

    Raises:
        IncorrectLease: The name is missing, the dates are in the wrong order, or a reservation is invalid.
        InvalidDate: A date is malformed.
        InvalidDuration: A duration is malformed.
        DuplicatedLeaseParameters: A key of a reservation occurs twice.
    """
    lease = without_dates(args, date_reader, needs_name=needs_name)
    start = _read(date_reader, "start_date", args.start_date or lease.pop("start_date", None) or dates.NOW)
    before_end = args.before_end_date or lease.pop("before_end_date", None)
    end = _end(args, lease, start, date_reader)
    lease = {
        "name": lease["name"],
        "start": start,
        "end": end,
        "reservations": lease["reservations"],
        "events": lease["events"],
        "before_end": _read(date_reader, "before_end_date", before_end) if before_end else None,
    }
    _check(lease, date_reader)
    return lease


def without_dates(args: argparse.Namespace, date_reader: DateReader, *, needs_name: bool = True) -> Record:
    """Return the name, the reservations and the events of a new lease, and the dates in its file.

    Raises:
        IncorrectLease: As in :func:`to_create`.
        InvalidDate: The date of an event is malformed.
        DuplicatedLeaseParameters: As in :func:`to_create`.
    """
    given = files.read_lease(args.from_file) if args.from_file else {}
    name = args.name if args.name is not None else given.get("name")
    if not name and needs_name:
        raise exception.IncorrectLease(
            _("The lease has no name; give it as an argument or as name in the file")
        )
    reserved = [
        *map(reservations.to_create_hosts, args.physical_reservations),
        *map(reservations.to_create, args.reservations),
        *given.get("reservations", ()),
    ]
    if args.availability_zone is not None:
        reserved = zones.within(reserved, args.availability_zone)
    reserved = reservations.grouped(reserved, {"same": args.same, "spread": args.spread})
    events = [*(_event(each, date_reader) for each in args.events), *given.get("events", ())]
    return {**given, "name": name, "reservations": reserved, "events": events}


def body(lease: Record) -> Record:
    """Return the request body for the arguments of the library's ``lease.create``."""
    names = {"start": "start_date", "end": "end_date", "before_end": "before_end_date"}
    return {names.get(key, key): value for key, value in lease.items()}


def transitional_statuses(sent: Record) -> tuple[str, ...]:
    """Return the statuses that a lease leaves soon because the request *sent* contains ``now``."""
    if sent.get("end_date") == dates.NOW:
        return ("PENDING", "ACTIVE")
    return ("PENDING",) if sent.get("start_date") == dates.NOW else ()


def to_update(args: argparse.Namespace, date_reader: DateReader, changes: Changes) -> Record:
    """Return the arguments of the library's ``lease.update``, without the id and the reservations.

    Args:
        args: The arguments of the command.
        date_reader: The parser of dates.
        changes: The changes of reservations.

    Raises:
        CommandError: No change is given.
        InvalidDate: A date is malformed.
        InvalidDuration: A duration is malformed.
    """
    values: dict[str, Any] = {"name": args.new_name} if args.new_name else {}
    for key in ("prolong_for", "reduce_by", "defer_by", "advance_by"):
        if getattr(args, key):
            values[key] = durations.whole_minutes(getattr(args, key))
    for key in ("start_date", "end_date", "before_end_date"):
        if getattr(args, key):
            values[key] = date_reader.read(key, getattr(args, key))
    if not values and not changes.are_enough:
        if changes.on_conflict:
            raise exception.CommandError(
                _("--on-conflict needs new dates, such as --prolong-for or --end-date"), code=400
            )
        raise exception.CommandError(_("No change is given; --help lists the options"), code=400)
    return values


def _read(date_reader: DateReader, key: str, text: str) -> str:
    """Return a date of a new lease, in the format of requests; an error begins as in release 4.6.

    Raises:
        InvalidDate, InvalidDuration: *text* is not a date.
    """
    try:
        return date_reader.read(key, text)
    except (exception.InvalidDate, exception.InvalidDuration) as error:
        raise type(error)(_("The lease parameters are incorrect. %s") % error) from None


def _end(args: argparse.Namespace, given: Record, start: str, date_reader: DateReader) -> str:
    begins = date_reader.instant(start)
    duration = args.duration or (None if args.end_date else given.get("duration"))
    if duration is not None:
        end = dates.end_of(begins, durations.parse(str(duration)))
        date_reader.echo(f"end_date: {end} UTC")
        return end
    date = args.end_date or given.get("end_date")
    if date:
        return _read(date_reader, "end_date", date)
    default = date_reader.now + DEFAULT_DURATION
    return utils.render_date(default if default > begins else begins + DEFAULT_DURATION)


def _event(argument: str, date_reader: DateReader) -> Record:
    """Return an event; print a note that the service does not act on it."""
    try:
        given = pairs.split(argument)
        unknown = [key for key in given if key not in EVENT_KEYS]
        if unknown:
            names = {"unknown": ", ".join(unknown), "known": ", ".join(EVENT_KEYS)}
            raise exception.IncorrectLease(_("unknown keys: %(unknown)s; known keys: %(known)s") % names)
        if "event_date" not in given:
            raise exception.IncorrectLease(
                _("event_date is missing; use event_type=<type>,event_date=<date>")
            )
        date = date_reader.read("event_date", given["event_date"].text)
    except exception.BlazarClientException as error:
        raise type(error)(
            _("Invalid event argument '%(argument)s': %(reason)s") % {"argument": argument, "reason": error}
        ) from None
    date_reader.echo(_("The service ignores --event; it warns and takes snapshots at --before-end-date"))
    return {"event_type": given["event_type"].text if "event_type" in given else "", "event_date": date}


def _check(lease: Record, date_reader: DateReader) -> None:
    start, end = date_reader.instant(lease["start"]), date_reader.instant(lease["end"])
    if end < start:
        raise exception.IncorrectLease(
            _(
                "The lease parameters are incorrect. "
                "The end date %(end)s is before the start date %(start)s (UTC)"
            )
            % {"start": utils.render_date(start), "end": utils.render_date(end)}
        )
    if lease["before_end"] is None:
        return
    before_end = date_reader.instant(lease["before_end"])
    if not start <= before_end <= end:
        raise exception.IncorrectLease(
            _(
                "The lease parameters are incorrect. "
                "The before-end date %(date)s is not between %(start)s and %(end)s (UTC)"
            )
            % {
                "date": utils.render_date(before_end),
                "start": utils.render_date(start),
                "end": utils.render_date(end),
            }
        )
