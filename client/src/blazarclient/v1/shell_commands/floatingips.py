"""Commands about floating IPs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, networks
from blazarclient.i18n import _

FLOATINGIP_ID_PATTERN = r"(?!\d+(?:\.\d+){3}$|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]+$).*"
"""What an id of a floating IP looks like, from its first to its last character: anything but an address."""


class _OfAFloatingIP(command.ReservationCommand):
    resource = "floatingip"
    name_key = "floating_ip_address"
    id_pattern = FLOATINGIP_ID_PATTERN


class ListFloatingIPs(_OfAFloatingIP, command.ListCommand):
    """List floating IPs that can be reserved."""

    list_columns = ("id", "floating_ip_address", "floating_network_id")


class ShowFloatingIP(_OfAFloatingIP, command.ShowCommand):
    """Show a floating IP, named by its id or its address."""


class CreateFloatingIP(_OfAFloatingIP, command.CreateCommand):
    """Register an address of an external network as a floating IP that can be reserved."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know the address."""
        parser.add_argument("network_id", metavar="NETWORK_ID", help=_("id or name of an external network"))
        parser.add_argument(
            "floating_ip_address",
            metavar="FLOATING_IP_ADDRESS",
            help=_("an address outside of the network's allocation pools"),
        )

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new floating IP."""
        network_id = networks.find(self.app, parsed_args.network_id)
        return self.created(self.manager().create(network_id, parsed_args.floating_ip_address), parsed_args)


class DeleteFloatingIP(_OfAFloatingIP, command.DeleteCommand):
    """Take floating IPs out of the service's hands."""
