"""``blazar-manage import`` and ``trust``: taking over a database of the existing service."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.operators import operator
from blazar.db.old_service.reader import SqlOldService
from blazar.takeover.report import report
from blazar.takeover.taking import take_over
from blazar.takeover.trusts import delete_trusts, list_trusts

_URL = "URL of its database, as in mysql+pymysql://user:password@host/blazar"


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    taking = parsers.add_parser("import", help="take over the database of an existing installation")
    taking.add_argument(
        "--from", dest="source", required=True, metavar="URL", help=f"{_URL}; it is only read"
    )
    taking.add_argument("--dry-run", action="store_true", help="only print what would be imported")
    taking.add_argument(
        "--limit", type=int, default=0, help="name so many findings of each kind; 0, the default, for all"
    )
    taking.set_defaults(run=import_all)
    trust = parsers.add_parser("trust", help="Keystone trusts that an existing installation has left")
    verbs = trust.add_subparsers(required=True)
    for name, run, text in (
        ("list", print_trusts, "say which there are, and what they were made for"),
        ("delete", delete, "delete them; the existing installation cannot be used any more"),
    ):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("--from", dest="source", required=True, metavar="URL", help=_URL)
        verb.set_defaults(run=run)
        if name == "delete":
            verb.add_argument(
                "--trustee", metavar="ID", help="user to whom they give rights; the service's own by default"
            )


def import_all(context: Context, arguments: Any) -> int:
    """Import everything and print the report; return 0, whatever was found.

    Raises:
        CannotTakeOver: The database cannot be taken over; nothing was written.
        BlazarError: It was interrupted; it can be done again.
    """
    service = SqlOldService(arguments.source)
    result = take_over(context, service, operator(), is_dry_run=arguments.dry_run)
    for line in report(result, service.name, arguments.limit):
        print(line)
    return 0


def print_trusts(context: Context, arguments: Any) -> int:
    """Print the trusts that the database names; return 0. Raises CannotTakeOver."""
    found = list_trusts(SqlOldService(arguments.source).read())
    for each in found:
        print(f"{each.id}: {', '.join(each.made_for)}")
    print(f"{len(found)} trusts")
    return 0


def delete(context: Context, arguments: Any) -> int:
    """Delete the trusts that the database names; return 1 if some are still there.

    Raises:
        CannotTakeOver: The database cannot be read.
        CloudUnavailable: Keystone does not answer; it can be done again.
    """
    old = SqlOldService(arguments.source).read()
    deleted = kept = 0
    for each in delete_trusts(old, context.cloud.trusts, arguments.trustee):
        print(f"{each.trust.id}: {each.text}")
        kept += each.is_problem
        deleted += each.text == "deleted"
    print(f"{deleted} trusts were deleted, {kept} are still there")
    return 1 if kept else 0
