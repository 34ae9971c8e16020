"""``blazar-manage quota``: what a project has reserved, and what it may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blazar.booking.context import Context
from blazar.domain.quotas import LEASES, UNLIMITED, amounts, is_known


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    verbs = parsers.add_parser("quota", help="limits of projects").add_subparsers(required=True)
    show = verbs.add_parser("show", help="print what a project has reserved, and its limits")
    show.add_argument("project_id", help="id of the project")
    show.set_defaults(run=show_project)


def show_project(context: Context, arguments: Any) -> int:
    """Print a line for everything that the project has reserved or that is limited; return 0.

    Raises:
        Unavailable: The limits cannot be read now.
    """
    now = context.clock.now()
    limits = {} if context.limits is None else context.limits.get(arguments.project_id, fresh=True)
    with context.store.read() as transaction:
        used = amounts(transaction.quotas.reserved(arguments.project_id, now), now)
    for name in sorted({*used, *limits}, key=lambda each: (each != LEASES, each)):
        print(f"{name}: {used.get(name, 0)} of {_limit(limits, name)}{_doubt(context, name)}")
    if context.limits is None:
        print("Limits are not looked at: [quotas] enabled is not set")
    return 0


def _limit(limits: Mapping[str, int], name: str) -> str:
    limit = limits.get(name, UNLIMITED)
    return "any number" if limit == UNLIMITED else str(limit)


def _doubt(context: Context, name: str) -> str:
    return "" if is_known(name, context.plugins) else ", which nothing is counted as"
