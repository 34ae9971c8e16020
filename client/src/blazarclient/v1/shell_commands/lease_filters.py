"""Which leases ``lease list`` shows; the service lists all, so this is looked at here."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from blazarclient import dates, utils
from blazarclient.base import Record
from blazarclient.i18n import _

Check = Callable[[Record], bool]


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Let *parser* take filters; a lease has to fit all that are given."""
    parser.add_argument(
        "--status", action="append", metavar="<status>", help=_("in this status (repeat it for several)")
    )
    parser.add_argument("--name", metavar="<text>", help=_("with this text in the name"))
    parser.add_argument("--project", metavar="<project id>", help=_("of this project"))
    parser.add_argument("--resource-type", metavar="<type>", help=_("that reserve this type of resource"))
    parser.add_argument("--after", metavar="<date>", help=_("that end after this date"))
    parser.add_argument("--before", metavar="<date>", help=_("that start before this date"))


def make(args: argparse.Namespace, now: datetime, zone: tzinfo) -> Check:
    """Return whether a lease fits the filters in *args*.

    Raises:
        InvalidDate: A date cannot be understood.
    """
    checks: list[Check] = []
    if args.status:
        statuses = {each.upper() for each in args.status}
        checks.append(lambda lease: lease["status"] in statuses)
    if args.name:
        checks.append(lambda lease: args.name in lease["name"])
    if args.project:
        checks.append(lambda lease: lease["project_id"] == args.project)
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


def _instant(date: str) -> datetime:
    return utils.parse_date(date, utils.LEASE_DATE_FORMAT).replace(tzinfo=UTC)
