"""``blazar-manage sweep``: what is left over in the cloud."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.reconcile.periodic.tasks import SWEEP
from blazar.reconcile.sweep import find_leftovers


def add_parsers(parsers: Any) -> None:
    """Add the sub-command."""
    command = parsers.add_parser("sweep", help="find what is left over in the cloud, and have it removed")
    command.add_argument("--dry-run", action="store_true", help="only print what is found")
    command.set_defaults(run=sweep)


def sweep(context: Context, arguments: Any) -> int:
    """Print what bears our mark and belongs to no living reservation; return 0.

    It is removed by a manager, which must have seen it twice, an interval apart.
    """
    found = find_leftovers(context)
    for each in found:
        print(each)
    print(f"{len(found)} left over")
    if found and not arguments.dry_run:
        with context.store.begin() as transaction:
            transaction.work.schedule([SWEEP], context.clock.now())
            transaction.commit()
        context.waker.wake()
        minutes = context.settings.reconciler.sweep_interval.total_seconds() / 60
        print(f"a manager looks now, and removes what it sees again after {minutes:g} minutes")
    return 0
