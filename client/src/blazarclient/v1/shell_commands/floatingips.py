"""Commands for floating IPs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import cloud_names, command, utils
from blazarclient.i18n import _

FLOATINGIP_ID_PATTERN = rf"(?!\d+(?:\.\d+){{3}}$|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]+$|{utils.SHORT_ID}$).*"
"""Pattern of a whole floating IP id: anything but an address or a prefix of a UUID."""


class _FloatingIPCommand(command.ReservationCommand):
    resource = "floatingip"
    name_key = "floating_ip_address"
    id_pattern = FLOATINGIP_ID_PATTERN


class ListFloatingIPs(_FloatingIPCommand, command.ListCommand):
    """List floating IPs that can be reserved."""

    plural = _("floating IPs")
    list_columns = ("id", "floating_ip_address", "floating_network_id")


class ShowFloatingIP(_FloatingIPCommand, command.ShowCommand):
    """Show a floating IP, by its id or address."""


class CreateFloatingIP(_FloatingIPCommand, command.CreateCommand):
    """Register an address of an external network as a floating IP that can be reserved."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the network and the address to *parser*."""
        parser.add_argument("network_id", metavar="NETWORK_ID", help=_("id or name of an external network"))
        parser.add_argument(
            "floating_ip_address",
            metavar="FLOATING_IP_ADDRESS",
            help=_("an address outside of the network's allocation pools"),
        )

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new floating IP."""
        network_id = cloud_names.find_network(self.app, parsed_args.network_id)
        return self.created(self.manager().create(network_id, parsed_args.floating_ip_address), parsed_args)


class DeleteFloatingIP(_FloatingIPCommand, command.DeleteCommand):
    """Unregister floating IPs, so that they can no longer be reserved."""
