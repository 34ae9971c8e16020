"""``blazar-manage host``: registered hosts."""

from __future__ import annotations

import sys
from typing import Any, Final

from blazar.booking.context import Context
from blazar.cmd.manage.operators import operator
from blazar.cmd.manage.rendering import add_format, present
from blazar.cmd.manage.type_commands import TypeCommands
from blazar.plugins.hosts.refresh import refresh_hosts
from blazar.plugins.hosts.store import HOST_STORE


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    host = parsers.add_parser("host", help="registered hosts").add_subparsers(required=True)
    listing = host.add_parser("list", help="list hosts with their health: sound, disabled or failed")
    add_format(listing)
    listing.set_defaults(run=list_hosts)
    again = host.add_parser("refresh", help="read hosts from Nova and Placement again")
    again.add_argument(
        "names", nargs="*", metavar="name", help="hypervisor host names or ids; all by default"
    )
    again.set_defaults(run=refresh)


def list_hosts(context: Context, arguments: Any) -> int:
    """Print the health of every host; return 0."""
    with context.store.read() as transaction:
        hosts = sorted(transaction.of(HOST_STORE).list(), key=lambda each: each.hypervisor_hostname)
    document = [
        {
            "id": each.id,
            "hypervisor_hostname": each.hypervisor_hostname,
            "service_name": each.service_name,
            "health": each.diagnosis.health,
            "problem": each.diagnosis.problem or None,
        }
        for each in hosts
    ]
    present(arguments, document, (f"{each.hypervisor_hostname} is {each.diagnosis}" for each in hosts))
    return 0


def refresh(context: Context, arguments: Any) -> int:
    """Read hosts again and print the changes; return 1 if a host could not be read."""
    with context.store.read() as transaction:
        hosts = transaction.of(HOST_STORE).list()
    registered = {each.hypervisor_hostname for each in hosts}
    name_of = {str(each.id): each.hypervisor_hostname for each in hosts}
    names = {name_of.get(each, each) for each in arguments.names}
    unregistered = sorted(names - registered)
    result = refresh_hosts(context, operator(), names=names or None)
    for name, changes in result.changed.items():
        print(f"{name}: {changes}")
    problems = {
        **dict.fromkeys(unregistered, "is not registered"),
        **dict.fromkeys(result.unknown, "Nova has no such hypervisor any more"),
        **result.failed,
    }
    for name, problem in problems.items():
        print(f"{name}: {problem}", file=sys.stderr)
    looked_at = len(names or registered) - len(problems)
    print(f"{looked_at} hosts were read again, {len(result.changed)} have changed")
    return 1 if problems else 0


COMMANDS: Final = TypeCommands(add_parsers=add_parsers)
