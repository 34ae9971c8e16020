"""Commands for network segments and their resource properties."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, exception
from blazarclient.base import Record
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import hosts


class _NetworkCommand(command.ReservationCommand):
    resource = "network"


class ListNetworks(_NetworkCommand, command.ListCommand):
    """List network segments that can be reserved."""

    plural = _("networks")
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
        _add_extra(parser, "<key>=<value>", _("an extra capability (repeatable)"))
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add nothing to *parser*: options describe the segment."""

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new segment, or the names and ids of several."""
        made = self.manager().create(
            parsed_args.network_type,
            parsed_args.physical_network,
            parsed_args.segment_id,
            **_extra(parsed_args),
        )
        if not isinstance(made, list):
            return self.created(made, parsed_args)
        ids = {each["name"]: each["id"] for each in made}
        return self.created(ids, parsed_args, _("network for each of %d segments") % len(made))


class UpdateNetwork(_NetworkCommand, command.UpdateCommand):
    """Set extra capabilities of a network segment that is not reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        _add_extra(parser, "<key>=<value>", _("an extra capability to set (repeatable)"))
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Set the capabilities and return the segment."""
        return _update(self, parsed_args, _extra(parsed_args))


class UnsetNetwork(_NetworkCommand, command.UpdateCommand):
    """Remove extra capabilities of a network segment that is not reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        _add_extra(parser, "<key>", _("an extra capability to remove (repeatable)"))
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Remove the capabilities and return the segment."""
        return _update(self, parsed_args, dict.fromkeys(parsed_args.extra))


class DeleteNetwork(_NetworkCommand, command.DeleteCommand):
    """Unregister network segments, so that they can no longer be reserved."""


class ListNetworkProperties(_NetworkCommand, hosts.ListHostProperties):
    """List resource properties, which requirements on network segments can use."""


class ShowNetworkProperty(_NetworkCommand, hosts.ShowHostProperty):
    """Show a resource property of network segments and its values."""


class UpdateNetworkProperty(_NetworkCommand, hosts.UpdateHostProperty):
    """Make a resource property of network segments private or public."""


def _add_extra(parser: argparse.ArgumentParser, form: str, text: str) -> None:
    parser.add_argument("--extra", metavar=form, action="append", default=[], help=text)


def _extra(parsed_args: argparse.Namespace) -> dict[str, str]:
    """Return the extra capabilities; without ``=`` the value is empty, and the last duplicate wins."""
    parts = (each.partition("=") for each in parsed_args.extra)
    return {key: value for key, _separator, value in parts}


def _update(network_command: _NetworkCommand, parsed_args: argparse.Namespace, values: Record) -> Record:
    if not values:
        raise exception.CommandError(_("No change is given; --extra is required"), code=400)
    manager = network_command.manager()
    changed: Record = manager.update(network_command.find(parsed_args.name_or_id), values)
    return changed
