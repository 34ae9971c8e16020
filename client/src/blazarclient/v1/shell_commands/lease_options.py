"""The options of commands about leases."""

from __future__ import annotations

import argparse

from blazarclient import dates, reservations
from blazarclient.i18n import _

_DATE = "<date>"
_DURATION = "<duration>"


def _keys() -> str:
    return "; ".join(
        f"{kind}: {', '.join(keys)}" for kind, keys in reservations.CREATE_RESERVATION_KEYS.items()
    )


def add_to_create(parser: argparse.ArgumentParser) -> None:
    """Let *parser* take what a new lease is described by."""
    parser.add_argument(
        "--start-date", metavar=_DATE, help=_("when it starts, default now: %s") % dates.FORMS
    )
    end = parser.add_mutually_exclusive_group()
    end.add_argument(
        "--end-date",
        metavar=_DATE,
        help=_("when it ends; default: 24 hours from now, or after the start if that is later"),
    )
    end.add_argument("--duration", metavar=_DURATION, help=_("how long it lasts: 8h, 1d12h, 2w"))
    parser.add_argument(
        "--before-end-date",
        metavar=_DATE,
        help=_("when the lessee is warned, and servers are snapshotted if the reservation says so"),
    )
    add_reservations(
        parser,
        "--reservation",
        "reservations",
        _("what to reserve; a JSON object will do. The keys of each type; others are passed on: %s")
        % _keys(),
    )
    add_reservations(
        parser, "--physical-reservation", "physical_reservations", _("a --reservation of physical:host")
    )
    parser.add_argument(
        "--event",
        metavar="event_type=<type>,event_date=<date>",
        action="append",
        default=[],
        dest="events",
        help=_("accepted as before; the service does nothing at such an event"),
    )
    parser.add_argument(
        "--from-file",
        metavar="<file>",
        help=_("read the lease from a JSON or YAML file, - for the standard input; options go before it"),
    )
    add_waiting(parser, _("until it is active, or, if it starts later, until it is planned"))
    add_dry_run(parser)


def add_to_update(parser: argparse.ArgumentParser) -> None:
    """Let *parser* take what can be changed of a lease."""
    parser.add_argument("--name", metavar="<name>", dest="new_name", help=_("its new name"))
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--prolong-for", metavar=_DURATION, help=_("how much later it ends: 90m, 1d12h"))
    end.add_argument("--prolong_for", dest="prolong_for", help=argparse.SUPPRESS)
    end.add_argument("--reduce-by", metavar=_DURATION, help=_("how much earlier it ends"))
    end.add_argument("--end-date", metavar=_DATE, help=_("when it ends; now ends it: %s") % dates.FORMS)
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--defer-by", metavar=_DURATION, help=_("how much later it starts"))
    start.add_argument("--advance-by", metavar=_DURATION, help=_("how much earlier it starts"))
    start.add_argument("--start-date", metavar=_DATE, help=_("when it starts"))
    parser.add_argument("--before-end-date", metavar=_DATE, help=_("when the lessee is warned"))
    add_reservations(
        parser,
        "--reservation",
        "reservations",
        _("what to change of a reservation, which id=<id> names; a JSON object will do. Keys: %s")
        % ", ".join(reservations.UPDATE_KEYS),
    )
    add_waiting(parser, _("until the change is carried out"))
    add_dry_run(parser)


def add_reservations(parser: argparse.ArgumentParser, option: str, dest: str, text: str) -> None:
    """Let *parser* take any number of reservations."""
    parser.add_argument(
        option,
        metavar="key=value,...",
        action="append",
        default=[],
        dest=dest,
        help=text + _(" (repeat it for several)"),
    )


def add_waiting(parser: argparse.ArgumentParser, until: str) -> None:
    """Let *parser* take ``--wait`` and ``--timeout``."""
    parser.add_argument("--wait", action="store_true", help=_("wait %s; exit with 1 on ERROR") % until)
    parser.add_argument(
        "--timeout",
        metavar="<seconds or duration>",
        help=_("with --wait, how long to wait at most; then exit with 1. Default: as long as it takes"),
    )


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Let *parser* take ``--dry-run``."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=_("check what can be checked here, and show the request instead of sending it"),
    )
