"""Leases at the first free time: a search, and requests until one of the times found is granted."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from blazarclient import exception, lease_requests, refusals
from blazarclient.base import Record, Records
from blazarclient.i18n import _

SEARCHES = 5
"""The most searches for one lease, if other requests take the times found."""

_FIXED_DATES = ("start_date", "end_date", "before_end_date")
_OTHER_WAYS = ("offer", "take")


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The period in which a lease may lie, and its length; dates are in the format of requests."""

    duration: str
    min_duration: str | None = None
    after: str | None = None
    before: str | None = None

    def __str__(self) -> str:
        length = f"{self.min_duration} to {self.duration}" if self.min_duration else self.duration
        if self.after and self.before:
            between = {"after": self.after, "before": self.before, "length": length}
            return _("%(length)s between %(after)s and %(before)s UTC") % between
        return _("%s in the next 90 days") % length


def contradiction(args: argparse.Namespace) -> str | None:
    """Return the problem of options for free times that contradict others, or None."""
    if (args.between is None) != (args.until is None):
        return _("--between and --and must be given together")
    is_search = args.earliest or args.between is not None
    if args.earliest and args.between is not None:
        return _("--earliest starts now or later; with --between and --and, leave it out")
    if args.min_duration and not is_search:
        return _("--min-duration needs --earliest, or --between and --and")
    if args.ttl is not None and not args.hold:
        return _("--ttl is the lifetime of an offer; it needs --hold")
    chosen = "--earliest" if args.earliest else "--between" if is_search else "--hold" if args.hold else None
    if chosen is None:
        return None
    excluded = (*(_FIXED_DATES if is_search else ()), *_OTHER_WAYS, *(("wait",) if args.hold else ()))
    given = [f"--{each.replace('_', '-')}" for each in excluded if getattr(args, each) not in (None, False)]
    if given:
        return _("%(option)s cannot be combined with %(given)s") % {
            "option": "--hold" if given == ["--wait"] else chosen,
            "given": ", ".join(given),
        }
    return None


def period(args: argparse.Namespace, lease: Record, date_reader: lease_requests.DateReader) -> Period:
    """Return the period to search for a new lease; its length may be the ``duration`` in its file.

    Raises:
        CommandError: The length of the lease is missing.
        InvalidDate: A date is malformed.
    """
    duration = args.duration or lease.get("duration")
    if duration is None:
        raise exception.CommandError(
            _("--duration is missing: the length of the lease to find a free time for, such as 8h"), code=400
        )
    return Period(
        duration=str(duration),
        min_duration=args.min_duration,
        after=date_reader.read("between", args.between) if args.between else None,
        before=date_reader.read("and", args.until) if args.until else None,
    )


def first_granted(
    manager: Any, wanted: Period, reservations: Records, send: Callable[[Record], Record]
) -> Record:
    """Return the response to the first request that is granted in a free time.

    If another request was faster, the search is repeated. Times that were refused are not requested again.

    Args:
        manager: The manager ``availability`` of a client.
        wanted: The period in which the lease may lie.
        reservations: Reservations of the lease, in the form of the API.
        send: Sends the request for a slot of the search.

    Raises:
        CommandError: No time in the period is free.
        Conflict: Every request was refused; this is the last refusal.
    """
    refused: dict[str, exception.Conflict] = {}
    is_complete, reasons = True, list[str]()
    for _search in range(SEARCHES):
        found = _search_slots(manager, wanted, reservations)
        is_complete, reasons = found["complete"], refusals.summaries(found)
        slot = next((each for each in found["slots"] if each["start_date"] not in refused), None)
        if slot is None:
            break
        try:
            return send(slot)
        except exception.Conflict as refusal:
            refused[slot["start_date"]] = refusal
    if refused:
        raise list(refused.values())[-1]
    more = "" if is_complete else _("; the service stopped searching, so a shorter period may help")
    more += "".join(f"; {each}" for each in reasons)
    raise exception.CommandError(_("No free time of %(period)s%(more)s") % {"period": wanted, "more": more})


def _search_slots(manager: Any, wanted: Period, reservations: Records) -> Record:
    try:
        found: Record = manager.search(
            reservations,
            wanted.duration,
            min_duration=wanted.min_duration,
            after=wanted.after,
            before=wanted.before,
        )
    except exception.BlazarClientException as error:
        if error.code == 406:
            raise exception.CommandError(
                _("The service has only API 1.0, which cannot search for free times; give --start-date")
            ) from error
        raise
    return found
