"""Commands for network segments and their resource properties."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import capabilities, hosts


class _NetworkCommand(command.ReservationCommand):
    resource = "network"


class ListNetworks(_NetworkCommand, command.ListCommand):
    """List network segments that can be reserved."""

    plural = _("networks")
    has_extra_keys = True
    list_columns = ("id", "network_type", "physical_network", "segment_id", "reservable")
    sort_by = "name"


class ShowNetwork(_NetworkCommand, command.ShowCommand):
    """Show a network segment, by its id or its name, such as vlan:physnet1:201."""


class CreateNetwork(_NetworkCommand, command.CreateCommand):
    """Register a network segment, or a range of them, so that it can be reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--network-type", choices=("vlan", "vxlan", "flat"), required=True, help=_("type of the segment")
        )
        parser.add_argument(
            "--physical-network", metavar="<name>", help=_("physical network in Neutron; not for vxlan")
        )
        parser.add_argument(
            "--segment-id",
            metavar="<id>",
            help=_("id of the segment, or a range such as 201-240, which is registered as a whole"),
        )
        capabilities.add_extra(parser, _("an extra capability (repeatable)"))
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add nothing to *parser*: options describe the segment."""

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new segment, or the names and ids of several."""
        made = self.manager().create(
            parsed_args.network_type,
            parsed_args.physical_network,
            parsed_args.segment_id,
            **capabilities.given(parsed_args),
        )
        if not isinstance(made, list):
            return self.created(made, parsed_args)
        ids = {each["name"]: each["id"] for each in made}
        return self.created(ids, parsed_args, _("network for each of %d segments") % len(made))


class UpdateNetwork(_NetworkCommand, capabilities.SetCapabilities):
    """Set extra capabilities of a network segment that is not reserved."""


class UnsetNetwork(_NetworkCommand, capabilities.UnsetCapabilities):
    """Remove extra capabilities of a network segment that is not reserved."""


class DeleteNetwork(_NetworkCommand, command.DeleteCommand):
    """Unregister network segments, so that they can no longer be reserved."""


class ListNetworkProperties(_NetworkCommand, hosts.ListHostProperties):
    """List resource properties, which requirements on network segments can use."""


class ShowNetworkProperty(_NetworkCommand, hosts.ShowHostProperty):
    """Show a resource property of network segments and its values."""


class UpdateNetworkProperty(_NetworkCommand, hosts.UpdateHostProperty):
    """Make a resource property of network segments private or public."""
