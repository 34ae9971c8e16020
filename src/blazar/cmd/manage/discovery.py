"""``blazar-manage discovery``: resources that plugins discover."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.operators import operator
from blazar.cmd.manage.rendering import add_format, present
from blazar.domain.plugin_resources import PluginResource
from blazar.reconcile.periodic.discovery import discover_resources


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    parser = parsers.add_parser("discovery", aliases=["stock"], help="resources that plugins discover")
    verbs = parser.add_subparsers(required=True)
    listing = verbs.add_parser("list", help="list discovered resources with their amounts and health")
    add_format(listing)
    listing.set_defaults(run=list_discovered)
    running = verbs.add_parser("run", aliases=["take"], help="run the discovery of all plugins now")
    running.set_defaults(run=run)


def list_discovered(context: Context, arguments: Any) -> int:
    """Print the amounts and health of every resource; return 0."""
    with context.store.read() as transaction:
        found = transaction.plugin_resources.list()
    document = [
        {
            "id": each.id,
            "collection": each.collection,
            "name": each.name,
            "amounts": dict(each.amounts),
            "health": each.diagnosis.health,
            "problem": each.diagnosis.problem or None,
        }
        for each in found
    ]
    present(arguments, document, (_line(each) for each in found))
    return 0


def run(context: Context, arguments: Any) -> int:
    """Run the discovery of all plugins and print the changes; return 0.

    Raises:
        CloudError: The discovery of a plugin failed.
    """
    found = discover_resources(context, operator())
    for each in found.changed:
        print(each)
    print(f"{len(found.seen)} resources were discovered, {len(found.changed)} have changed")
    return 0


def _line(resource: PluginResource) -> str:
    amounts = ", ".join(f"{amount} {name}" for name, amount in sorted(resource.amounts.items()))
    return f"{resource.collection} {resource.name} ({amounts or 'as a whole'}) is {resource.diagnosis}"
