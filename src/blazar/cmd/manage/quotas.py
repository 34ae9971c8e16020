"""``blazar-manage quota``: the reserved amounts and limits of a project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.rendering import add_format, present
from blazar.domain.errors import Conflict, NotFound
from blazar.domain.quotas import LEASES, UNLIMITED, amounts, is_known

_UUID = re.compile("[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}")


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    verbs = parsers.add_parser("quota", help="limits of projects").add_subparsers(required=True)
    show = verbs.add_parser("show", help="print the reserved amounts and limits of a project")
    show.add_argument("project", help="id or name of the project")
    add_format(show)
    show.set_defaults(run=show_project)


def show_project(context: Context, arguments: Any) -> int:
    """Print a line for each amount that is reserved or limited; return 0.

    Raises:
        Conflict: Several projects have the name.
        NotFound: No project has the name, and no lease belongs to a project with this id.
        Unavailable: The limits, or the projects by name, cannot be read from Keystone now.
    """
    now = context.clock.now()
    project_id, used = _find(context, arguments.project, now)
    limits = {} if context.limits is None else context.limits.get(project_id, fresh=True)
    names = sorted({*used, *limits}, key=lambda each: (each != LEASES, each))
    lines = [
        f"{name}: {used.get(name, 0)} of {_limit(limits, name)}{_doubt(context, name)}" for name in names
    ]
    if context.limits is None:
        lines.append("Limits are not enforced: [quotas] enabled is not set")
    document = {
        "project_id": project_id,
        "are_limits_enabled": context.limits is not None,
        "amounts": [
            {
                "name": name,
                "reserved": used.get(name, 0),
                "limit": None if limits.get(name, UNLIMITED) == UNLIMITED else limits[name],
                "is_counted": is_known(name, context.quota_units),
            }
            for name in names
        ],
    }
    present(arguments, document, lines)
    return 0


def _find(context: Context, project: str, now: datetime) -> tuple[str, Mapping[str, int]]:
    """Return the id of a project and its reserved amounts. Asks Keystone only if *project* may be a name."""
    used = _reserved(context, project, now)
    if any(used.values()) or _UUID.fullmatch(project):
        return project, used
    found = context.cloud.projects.list_projects(project)
    if not found:
        raise NotFound(f"No project has the id or name {project}")
    if len(found) > 1:
        domains = ", ".join(f"{each.id} (domain {each.domain_id})" for each in found)
        raise Conflict(f"{len(found)} projects are named {project}: give an id, one of {domains}")
    return found[0].id, _reserved(context, found[0].id, now)


def _reserved(context: Context, project_id: str, now: datetime) -> Mapping[str, int]:
    with context.store.read() as transaction:
        return amounts(transaction.quotas.reserved(project_id, now), context.quota_units, now)


def _limit(limits: Mapping[str, int], name: str) -> str:
    limit = limits.get(name, UNLIMITED)
    return "unlimited" if limit == UNLIMITED else str(limit)


def _doubt(context: Context, name: str) -> str:
    return "" if is_known(name, context.quota_units) else " (unknown name, has no effect)"
