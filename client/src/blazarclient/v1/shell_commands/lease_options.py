"""Options of commands for leases."""

from __future__ import annotations

import argparse

from blazarclient import dates, reservation_keys
from blazarclient.i18n import _

_DATE = "<date>"
_DURATION = "<duration>"


def _keys() -> str:
    return "; ".join(
        f"{kind}: {', '.join(keys)}" for kind, keys in reservation_keys.CREATE_RESERVATION_KEYS.items()
    )


def option_of(argument: str) -> str:
    """Return the option of ``lease create`` or ``lease update`` that sets an argument."""
    return "--" + argument.removeprefix("new_").replace("_", "-").removesuffix("s")


def add_create_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``lease create`` to *parser*."""
    add_lease(parser)
    parser.add_argument(
        "--offer",
        metavar="<offer>",
        help=_("create the lease from this offer, by name or id; without options for dates and reservations"),
    )
    parser.add_argument(
        "--take",
        metavar="<number>",
        type=int,
        help=_(
            "create the lease from this alternative of the last refusal; with --dry-run, only show it; "
            "options that describe a lease are ignored"
        ),
    )
    _add_free_times(parser)
    parser.add_argument(
        "--hold",
        action="store_true",
        help=_("make an offer instead of a lease: it holds the resources for a short time"),
    )
    add_ttl(parser)
    add_waiting(parser, _("until the lease is active or, if it starts later, scheduled"))
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=_(
            "show what would be reserved instead of creating the lease; a service without API 1.1 cannot "
            "tell, and the request is printed"
        ),
    )


def add_lease(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a new lease to *parser*."""
    _add_dates(parser)
    _add_new_reservations(parser)
    parser.add_argument(
        "--from-file",
        metavar="<file>",
        help=_("read the lease from a JSON or YAML file, - for standard input; options take precedence"),
    )


def add_ttl(parser: argparse.ArgumentParser) -> None:
    """Add the option for the lifetime of an offer to *parser*."""
    parser.add_argument(
        "--ttl",
        type=int,
        metavar="<seconds>",
        help=_("for how long an offer holds the resources; default: as the service decides, often 300"),
    )


def _add_free_times(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--earliest",
        action="store_true",
        help=_("start as soon as all reservations are possible for --duration; instead of --start-date"),
    )
    parser.add_argument(
        "--between",
        metavar=_DATE,
        help=_("with --and: find the earliest free time of --duration that starts at this date or later"),
    )
    parser.add_argument(
        "--and", metavar=_DATE, dest="until", help=_("with --between: the latest end of the lease")
    )
    parser.add_argument(
        "--min-duration",
        metavar=_DURATION,
        help=_("with --earliest or --between: find the longest free time, from this up to --duration"),
    )


def _add_dates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--start-date", metavar=_DATE, help=_("start date, default now; forms: %s") % dates.FORMS
    )
    end = parser.add_mutually_exclusive_group()
    end.add_argument(
        "--end-date",
        metavar=_DATE,
        help=_(
            "end date; default: 24 hours from now or, if the lease starts later, 24 hours after its start"
        ),
    )
    end.add_argument("--duration", metavar=_DURATION, help=_("length of the lease: 8h, 1d12h, 2w"))
    parser.add_argument(
        "--before-end-date",
        metavar=_DATE,
        help=_("date of the warning and, if the reservation has before_end=snapshot, of snapshots"),
    )


def _add_new_reservations(parser: argparse.ArgumentParser) -> None:
    add_reservations(
        parser,
        "--reservation",
        "reservations",
        _("a reservation, also as a JSON object; other types may have any keys. Keys of each type: %s")
        % _keys(),
    )
    parser.add_argument(
        "--availability-zone",
        metavar="<zone>",
        help=_("reserve hosts, and hosts for instances, in this availability zone of Nova only"),
    )
    add_groupings(parser)
    add_reservations(
        parser, "--physical-reservation", "physical_reservations", _("a --reservation of physical:host")
    )
    parser.add_argument(
        "--event",
        metavar="event_type=<type>,event_date=<date>",
        action="append",
        default=[],
        dest="events",
        help=_("accepted for compatibility; the service ignores it"),
    )


def add_groupings(parser: argparse.ArgumentParser) -> None:
    """Add the options for the distribution of hosts to *parser*."""
    parser.add_argument(
        "--same",
        metavar="<property>",
        help=_("reserve hosts, and hosts for instances, that all have the same value of this, such as rack"),
    )
    parser.add_argument(
        "--spread",
        metavar="<property>",
        help=_("spread hosts and instances over the values of this, such as availability_zone"),
    )


def add_update_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``lease update`` to *parser*."""
    parser.add_argument("--name", metavar="<name>", dest="new_name", help=_("new name"))
    end = parser.add_mutually_exclusive_group()
    end.add_argument(
        "--prolong-for", metavar=_DURATION, help=_("move the end later by this duration: 90m, 1d12h")
    )
    end.add_argument("--prolong_for", dest="prolong_for", help=argparse.SUPPRESS)
    end.add_argument("--reduce-by", metavar=_DURATION, help=_("move the end earlier"))
    end.add_argument(
        "--end-date", metavar=_DATE, help=_("new end date, or now to end the lease; forms: %s") % dates.FORMS
    )
    parser.add_argument(
        "--as-far-as-possible",
        action="store_true",
        help=_("with --end-date or --prolong-for: if that is too late, end as late as possible"),
    )
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--defer-by", metavar=_DURATION, help=_("move the start later"))
    start.add_argument("--advance-by", metavar=_DURATION, help=_("move the start earlier"))
    start.add_argument("--start-date", metavar=_DATE, help=_("new start date"))
    parser.add_argument("--before-end-date", metavar=_DATE, help=_("new date of the warning"))
    add_reservations(
        parser,
        "--reservation",
        "reservations",
        _("changes of the reservation with id=<id>, also as a JSON object. Keys: %s")
        % ", ".join(reservation_keys.UPDATE_KEYS),
    )
    _add_other_reservations(parser)
    parser.add_argument(
        "--hold",
        action="store_true",
        help=_("make an offer instead of the change: it holds what the change needs for a short time"),
    )
    add_ttl(parser)
    parser.add_argument(
        "--offer",
        metavar="<offer>",
        help=_("make the change that this offer holds, by name or id; without options for changes"),
    )
    add_waiting(parser, _("until the change is complete"))
    add_dry_run(parser)


def _add_other_reservations(parser: argparse.ArgumentParser) -> None:
    """Add the options that change what a lease reserves, all of which need API 1.1."""
    add_reservations(
        parser,
        "--add-reservation",
        "add_reservations",
        _("a further reservation, before the start, with the keys of lease create"),
    )
    parser.add_argument(
        "--remove-reservation",
        metavar="<id or type>",
        action="append",
        default=[],
        dest="remove_reservations",
        help=_("remove this reservation, before the start (repeatable)"),
    )
    parser.add_argument(
        "--release",
        metavar="<resource>",
        action="append",
        default=[],
        dest="releases",
        help=_("release this host, address or network of the lease, by name or id (repeatable)"),
    )
    parser.add_argument(
        "--on-conflict",
        choices=("fail", "drop", "replace"),
        help=_(
            "with new dates: what to do with hosts, addresses and networks of the lease that others have "
            "reserved in the new period"
        ),
    )


def add_reservations(parser: argparse.ArgumentParser, option: str, dest: str, text: str) -> None:
    """Add a repeatable option for reservations to *parser*."""
    parser.add_argument(
        option,
        metavar="key=value,...",
        action="append",
        default=[],
        dest=dest,
        help=text + _(" (repeatable)"),
    )


def add_waiting(parser: argparse.ArgumentParser, until: str) -> None:
    """Add ``--wait`` and ``--timeout`` to *parser*."""
    parser.add_argument(
        "--wait", action="store_true", help=_("wait %s; exit with 1 if the lease is in ERROR") % until
    )
    parser.add_argument(
        "--timeout",
        metavar="<seconds or duration>",
        help=_("longest time for --wait; after it, exit with 1. Default: no limit"),
    )


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Add ``--dry-run`` to *parser*."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=_("check the arguments, and print the request instead of sending it"),
    )
