"""``blazar-manage restored``: the first step after a backup of the database was restored."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.operators import operator
from blazar.cmd.manage.rendering import add_format, present, printable, shown
from blazar.reconcile.restored import Restored, compare_restored, complete_restore


def add_parsers(parsers: Any) -> None:
    """Add the sub-command."""
    command = parsers.add_parser(
        "restored", help="after a backup of the database was restored, prepare it for the start of managers"
    )
    command.add_argument("--dry-run", action="store_true", help="only print how the cloud differs")
    add_format(command)
    command.set_defaults(run=restored)


def restored(context: Context, arguments: Any) -> int:
    """Print what the cloud has that the database does not know, and have all leases compared; return 0."""
    is_prepared = not arguments.dry_run
    found = complete_restore(context, operator()) if is_prepared else compare_restored(context)
    present(
        arguments,
        {
            "unknown": [
                {"reservation_id": owner, "objects": list(keys)} for owner, keys in found.unknown.items()
            ],
            "ending": [
                {"id": each.id, "name": each.name, "project_id": each.project_id, "end": each.end}
                for each in found.ending
            ],
            "leases": found.leases,
            "is_prepared": is_prepared,
        },
        _lines(found, is_prepared=is_prepared),
    )
    return 0


def _lines(found: Restored, *, is_prepared: bool) -> list[str]:
    lines = [f"unknown  {owner}  {', '.join(keys)}" for owner, keys in found.unknown.items()]
    lines += [
        f"ends now  {each.id}  {printable(each.name)}  (project {each.project_id}, until {shown(each.end)})"
        for each in found.ending
    ]
    if found.unknown:
        lines.append(
            "unknown objects are of leases made after the backup: sweeps remove those without servers"
        )
    if found.ending:
        lines.append("managers end these leases when they start, even if they were extended after the backup")
    if not lines:
        lines.append("no difference needs a decision")
    if is_prepared:
        lines.append(f"leases that a manager compares with the cloud when it starts: {found.leases}")
    return lines
