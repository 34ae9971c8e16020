"""``blazar-manage stock``: resources that plugins find by themselves."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.reconcile.periodic.discovery import take_stock
from blazar.cmd.manage.operators import operator


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    parser = parsers.add_parser("stock", help="resources that plugins find by themselves")
    verbs = parser.add_subparsers(required=True)
    listing = verbs.add_parser("list", help="say how much there is, and whether it can be had")
    listing.set_defaults(run=list_stock)
    taking = verbs.add_parser("take", help="ask the plugins now what there is")
    taking.set_defaults(run=take)


def list_stock(context: Context, arguments: Any) -> int:
    """Print what every resource is; return 0."""
    with context.store.read() as transaction:
        found = transaction.stock.list()
    for each in found:
        amounts = ", ".join(f"{amount} {name}" for name, amount in sorted(each.amounts.items()))
        print(f"{each.collection} {each.name} ({amounts or 'as a whole'}) is {each.diagnosis}")
    return 0


def take(context: Context, arguments: Any) -> int:
    """Ask the plugins and print what has changed; return 0.

    Raises:
        CloudError: A plugin could not find out.
    """
    taken = take_stock(context, operator())
    for each in taken.changed:
        print(each)
    print(f"{len(taken.seen)} resources are in stock, {len(taken.changed)} have changed")
    return 0
