"""``blazar-manage import`` and ``trust``: import of the database of an existing service."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.operators import operator
from blazar.cmd.manage.rendering import add_format, present
from blazar.db.old_service.reader import SqlOldService
from blazar.importer.importing import import_database
from blazar.importer.report import as_document, report
from blazar.importer.trusts import delete_trusts, list_trusts

_URL = "URL of its database, for example mysql+pymysql://user:password@host/blazar"


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    taking = parsers.add_parser("import", help="import the database of an existing installation")
    taking.add_argument(
        "--from", dest="source", required=True, metavar="URL", help=f"{_URL}; it is not changed"
    )
    taking.add_argument("--dry-run", action="store_true", help="only print what would be imported")
    taking.add_argument(
        "--limit", type=int, default=0, help="maximum number of findings of each kind to print; 0 for all"
    )
    add_format(taking)
    taking.set_defaults(run=import_all)
    trust = parsers.add_parser("trust", help="Keystone trusts left by an existing installation")
    verbs = trust.add_subparsers(required=True)
    for name, run, text in (
        ("list", print_trusts, "list the trusts and the objects for which they were created"),
        ("delete", delete, "delete the trusts; the existing installation is then unusable"),
    ):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("--from", dest="source", required=True, metavar="URL", help=_URL)
        verb.set_defaults(run=run)
        if name == "list":
            add_format(verb)
        else:
            verb.add_argument(
                "--trustee", metavar="ID", help="user to whom they give access; the service's user by default"
            )


def import_all(context: Context, arguments: Any) -> int:
    """Import everything and print the report; return 0 regardless of its findings.

    Raises:
        CannotImport: The database cannot be imported; nothing was written.
        BlazarError: The import was interrupted; it can be repeated.
    """
    service = SqlOldService(arguments.source)
    result = import_database(context, service, operator(), is_dry_run=arguments.dry_run)
    present(arguments, as_document(result, service.name), report(result, service.name, arguments.limit))
    return 0


def print_trusts(context: Context, arguments: Any) -> int:
    """Print the trusts in the database; return 0. Raises CannotImport."""
    found = list_trusts(SqlOldService(arguments.source).read())
    document = [{"id": each.id, "made_for": list(each.made_for)} for each in found]
    lines = [*(f"{each.id}: {', '.join(each.made_for)}" for each in found), f"{len(found)} trusts"]
    present(arguments, document, lines)
    return 0


def delete(context: Context, arguments: Any) -> int:
    """Delete the trusts in the database; return 1 if some remain.

    Raises:
        CannotImport: The database cannot be read.
        CloudUnavailable: Keystone does not respond; the command can be repeated.
    """
    old = SqlOldService(arguments.source).read()
    deleted = kept = 0
    for each in delete_trusts(old, context.cloud.trusts, arguments.trustee):
        print(f"{each.trust.id}: {each.text}")
        kept += each.is_problem
        deleted += each.text == "deleted"
    print(f"{deleted} trusts were deleted, {kept} are still there")
    return 1 if kept else 0
