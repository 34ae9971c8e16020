"""``blazar-manage host``: registered hosts."""

from __future__ import annotations

import sys
from typing import Any

from blazar.booking.context import Context
from blazar.reconcile.periodic.host_refresh import refresh_hosts
from blazar.cmd.manage.operators import operator


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    host = parsers.add_parser("host", help="registered hosts").add_subparsers(required=True)
    listing = host.add_parser("list", help="say of each host whether it is sound, disabled or has failed")
    listing.set_defaults(run=list_hosts)
    again = host.add_parser("refresh", help="read hosts from Nova and Placement again")
    again.add_argument("names", nargs="*", metavar="name", help="hypervisor host names; all by default")
    again.set_defaults(run=refresh)


def list_hosts(context: Context, arguments: Any) -> int:
    """Print the health of every host; return 0."""
    with context.store.read() as transaction:
        hosts = transaction.hosts.list()
    for each in sorted(hosts, key=lambda each: each.hypervisor_hostname):
        print(f"{each.hypervisor_hostname} is {each.diagnosis}")
    return 0


def refresh(context: Context, arguments: Any) -> int:
    """Read hosts again and print what has changed; return 1 if one could not be read."""
    names = set(arguments.names)
    with context.store.read() as transaction:
        registered = {each.hypervisor_hostname for each in transaction.hosts.list()}
    unregistered = sorted(names - registered)
    result = refresh_hosts(context, operator(), names=names or None)
    for name, changes in result.changed.items():
        print(f"{name}: {changes}")
    problems = {
        **dict.fromkeys(unregistered, "is not registered"),
        **dict.fromkeys(result.unknown, "Nova does not know it any more"),
        **result.failed,
    }
    for name, problem in problems.items():
        print(f"{name}: {problem}", file=sys.stderr)
    looked_at = len(names or registered) - len(problems)
    print(f"{looked_at} hosts were read again, {len(result.changed)} have changed")
    return 1 if problems else 0
