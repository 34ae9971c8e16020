"""``blazar-manage sweep``: leftovers in the cloud."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.rendering import add_format, present
from blazar.reconcile.periodic.tasks import SWEEP
from blazar.reconcile.sweep import find_leftovers


def add_parsers(parsers: Any) -> None:
    """Add the sub-command."""
    command = parsers.add_parser("sweep", help="find leftovers in the cloud and schedule their removal")
    command.add_argument("--dry-run", action="store_true", help="only print the leftovers")
    add_format(command)
    command.set_defaults(run=sweep)


def sweep(context: Context, arguments: Any) -> int:
    """Print the items that have the service's mark but belong to no reservation; return 0.

    A manager removes an item after it has found it in two sweeps.
    """
    found = find_leftovers(context)
    is_removing = bool(found) and not arguments.dry_run
    lines = [*found, f"{len(found)} left over"]
    if is_removing:
        with context.store.begin() as transaction:
            transaction.work.schedule([SWEEP], context.clock.now())
            transaction.commit()
        context.waker.wake()
        minutes = context.settings.reconciler.sweep_interval.total_seconds() / 60
        lines.append(f"a manager sweeps now, and removes what it finds again after {minutes:g} minutes")
    present(arguments, {"leftovers": list(found), "is_sweep_scheduled": is_removing}, lines)
    return 0
