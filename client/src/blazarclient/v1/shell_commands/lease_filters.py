"""Filters of ``lease list``, applied by the client: the command asks for API 1.0, which has no filters."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, tzinfo

from blazarclient import dates, exception, utils
from blazarclient.base import Record
from blazarclient.i18n import _

Check = Callable[[Record], bool]

STATUSES = (
    *("PENDING", "ACTIVE", "TERMINATED", "ERROR"),
    *("CREATING", "STARTING", "UPDATING", "TERMINATING", "DELETING"),
)
"""Statuses of a lease; the second line has the transitional statuses."""


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add filters to *parser*; a lease must match all of them."""
    parser.add_argument(
        "--status",
        action="append",
        metavar="<status>",
        help=_("only leases in this status (repeatable): %s") % ", ".join(STATUSES),
    )
    parser.add_argument("--name", metavar="<text>", help=_("only leases with this text in the name"))
    parser.add_argument("--project", metavar="<name or id>", help=_("only leases of this project"))
    parser.add_argument(
        "--resource-type",
        metavar="<type>",
        help=_("only leases that reserve this type of resource"),
    )
    parser.add_argument("--after", metavar="<date>", help=_("only leases that end after this date"))
    parser.add_argument("--before", metavar="<date>", help=_("only leases that start before this date"))


def make(args: argparse.Namespace, now: datetime, zone: tzinfo) -> Check:
    """Return a predicate that checks a lease against the filters in *args*, except the project.

    Raises:
        InvalidDate: A date is malformed.
        CommandError: A status is unknown.
    """
    checks: list[Check] = []
    if args.status:
        statuses = _statuses(args.status)
        checks.append(lambda lease: lease["status"] in statuses)
    if args.name:
        checks.append(lambda lease: args.name in lease["name"])
    if args.resource_type:
        checks.append(lambda lease: args.resource_type in resource_types(lease))
    if args.after:
        after = dates.parse(args.after, now, zone)
        checks.append(lambda lease: _instant(lease["end_date"]) > after)
    if args.before:
        before = dates.parse(args.before, now, zone)
        checks.append(lambda lease: _instant(lease["start_date"]) < before)
    return lambda lease: all(check(lease) for check in checks)


def resource_types(lease: Record) -> list[str]:
    """Return the resource types of a lease's reservations, sorted."""
    return sorted({each.get("resource_type", "") for each in lease.get("reservations", ())})


def _statuses(given: Iterable[str]) -> set[str]:
    for each in given:
        if each.upper() not in STATUSES:
            near = difflib.get_close_matches(each.upper(), STATUSES, n=1)
            hint = _("did you mean %s? ") % near[0] if near else ""
            raise exception.CommandError(
                _("Unknown status %(status)r; %(hint)sknown statuses: %(known)s")
                % {"status": each, "hint": hint, "known": ", ".join(STATUSES)},
                code=400,
            )
    return {each.upper() for each in given}


def _instant(date: str) -> datetime:
    return utils.parse_date(date, utils.LEASE_DATE_FORMAT).replace(tzinfo=UTC)
