"""``blazar-manage floatingip``: registered floating IPs."""

from __future__ import annotations

from typing import Any

from blazar.booking.context import Context
from blazar.reconcile.periodic.floatingip_check import check_floatingips
from blazar.cmd.manage.operators import operator
from blazar.domain.floatingips import FloatingIP


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    parser = parsers.add_parser("floatingip", help="registered floating IPs")
    verbs = parser.add_subparsers(required=True)
    listing = verbs.add_parser("list", help="say of each floating IP whether it can be had")
    listing.set_defaults(run=list_floatingips)
    check = verbs.add_parser("check", help="compare floating IPs with Neutron now")
    check.set_defaults(run=compare)


def list_floatingips(context: Context, arguments: Any) -> int:
    """Print the health of every floating IP; return 0."""
    for each in _registered(context):
        print(f"{each.address} of network {each.network_id} is {each.diagnosis}")
    return 0


def compare(context: Context, arguments: Any) -> int:
    """Compare with Neutron and print what is wrong; return 1 if something is.

    Raises:
        CloudUnavailable: Neutron does not answer.
    """
    failed = check_floatingips(context, operator())
    for address, problem in failed.items():
        print(f"{address}: {problem}")
    print(f"{len(_registered(context))} floating IPs were compared with Neutron, {len(failed)} have failed")
    return 1 if failed else 0


def _registered(context: Context) -> list[FloatingIP]:
    with context.store.read() as transaction:
        return sorted(transaction.floatingips.list(), key=lambda each: (each.network_id, each.address))
