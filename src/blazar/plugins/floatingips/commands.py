"""``blazar-manage floatingip``: registered floating IPs."""

from __future__ import annotations

from typing import Any, Final

from blazar.booking.context import Context
from blazar.cmd.manage.operators import operator
from blazar.cmd.manage.rendering import add_format, present
from blazar.cmd.manage.type_commands import TypeCommands
from blazar.plugins.floatingips.check import check_floatingips
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.floatingips.store import FLOATING_IP_STORE


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    parser = parsers.add_parser("floatingip", help="registered floating IPs")
    verbs = parser.add_subparsers(required=True)
    listing = verbs.add_parser("list", help="list floating IPs with their health")
    add_format(listing)
    listing.set_defaults(run=list_floatingips)
    check = verbs.add_parser("check", help="compare floating IPs with Neutron now")
    add_format(check)
    check.set_defaults(run=compare)


def list_floatingips(context: Context, arguments: Any) -> int:
    """Print the health of every floating IP; return 0."""
    found = _registered(context)
    document = [
        {
            "id": each.id,
            "address": each.address,
            "network_id": each.network_id,
            "subnet_id": each.subnet_id,
            "health": each.diagnosis.health,
            "problem": each.diagnosis.problem or None,
        }
        for each in found
    ]
    lines = (f"{each.address} of network {each.network_id} is {each.diagnosis}" for each in found)
    present(arguments, document, lines)
    return 0


def compare(context: Context, arguments: Any) -> int:
    """Compare floating IPs with Neutron and print the problems; return 1 if there are any.

    Raises:
        CloudUnavailable: Neutron does not respond.
    """
    failed = check_floatingips(context, operator())
    compared = len(_registered(context))
    problems = [{"address": address, "problem": problem} for address, problem in failed.items()]
    summary = f"{compared} floating IPs were compared with Neutron, {len(failed)} have failed"
    lines = [*(f"{address}: {problem}" for address, problem in failed.items()), summary]
    present(arguments, {"compared": compared, "failed": problems}, lines)
    return 1 if failed else 0


def _registered(context: Context) -> list[FloatingIP]:
    with context.store.read() as transaction:
        return sorted(
            transaction.of(FLOATING_IP_STORE).list(), key=lambda each: (each.network_id, each.address)
        )


COMMANDS: Final = TypeCommands(add_parsers=add_parsers)
