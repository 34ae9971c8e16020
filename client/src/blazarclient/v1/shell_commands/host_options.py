"""Options of ``host create`` for bulk registration."""

from __future__ import annotations

import argparse
from typing import Any

from blazarclient import registering
from blazarclient.i18n import _


def add_bulk_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for bulk registration to *parser*."""
    many = parser.add_mutually_exclusive_group()
    many.add_argument(
        "--from-file",
        metavar="<file>",
        help=_(
            "register the hosts in a file, - for standard input: a YAML or JSON list of names or of "
            "objects with a name and extra capabilities; or CSV with a line of column names, if the file's "
            "name ends in .csv; --extra takes precedence over the file"
        ),
    )
    many.add_argument(
        "--all",
        action="store_true",
        help=_("register all hypervisors of Nova; registered hosts are skipped"),
    )
    parser.add_argument(
        "--match",
        metavar="<pattern>",
        action="append",
        default=[],
        help=_(
            "register the hypervisors of Nova, or with --from-file the hosts in the file, whose name matches "
            "a pattern such as 'rack1-*' (repeatable)"
        ),
    )
    parser.add_argument(
        "--parallel",
        metavar="<number>",
        type=_positive,
        default=registering.DEFAULT_PARALLEL,
        help=_("number of parallel requests, default %d") % registering.DEFAULT_PARALLEL,
    )
    parser.add_argument(
        "--dry-run", action="store_true", help=_("print the request or the hosts instead of registering them")
    )


def conflict(args: argparse.Namespace) -> str | None:
    """Return the error message for missing or conflicting selections of hosts, or None if they are valid."""
    is_bulk = bool(args.from_file or args.all or args.match)
    if args.name is None and not is_bulk:
        return _("the following arguments are required: HOST, --from-file, --match or --all")
    if args.name is not None and is_bulk:
        return _("argument HOST: not allowed with --from-file, --match or --all")
    if args.all and args.match:
        return _("argument --match: not allowed with --all")
    return None


def selected_hosts(args: argparse.Namespace, app: Any) -> registering.Hosts:
    """Return the hosts that the options select.

    Raises:
        CommandError: The file is invalid, or Nova does not list its hypervisors.
    """
    if args.from_file:
        hosts = registering.read_hosts(args.from_file)
    else:
        hosts = {name: {} for name in registering.hypervisors(app)}
    return {name: hosts[name] for name in registering.matching(hosts, args.match)}


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(_("must be at least 1, not %s") % text)
    return number
