"""Commands about allocations."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, utils
from blazarclient.base import Records
from blazarclient.i18n import _
from blazarclient.v1.shell_commands.hosts import HOST_ID_PATTERN

RESOURCE_ID_PATTERN = HOST_ID_PATTERN
"""What an id of a resource looks like, from its first to its last character."""

COLLECTIONS = {"host": "os-hosts"}
"""The path of each kind of resource."""


class _OfAnAllocation(command.ReservationCommand):
    resource = "allocation"

    def add_filters(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know the kind of resource, and filters."""
        parser.add_argument(
            "resource_type", metavar="{host}", choices=sorted(COLLECTIONS), help=_("kind of resource")
        )
        parser.add_argument("--reservation-id", metavar="<id>", help=_("only those of this reservation"))
        parser.add_argument(
            "--lease-id", metavar="<name or id>", help=_("only those of this lease, past ones included")
        )

    def filters(self, parsed_args: argparse.Namespace) -> dict[str, str | None]:
        """Return the filters as the service takes them."""
        lease = parsed_args.lease_id
        if lease is not None:
            lease = utils.find_resource_id_by_name_or_id(
                self.get_client(), "lease", lease, "name", command.UUID_PATTERN
            )
        return {"lease_id": lease, "reservation_id": parsed_args.reservation_id}


class ListAllocations(_OfAnAllocation, command.ListCommand):
    """List what resources are allocated to, now and later."""

    list_columns = ("resource_id", "reservations")
    sort_by = "resource_id"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        self.add_filters(parser)
        parser.add_argument("--long", action="store_true", help=_("also show the names of the resources"))
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns shown if nobody names others."""
        long = parsed_args.long or "hypervisor_hostname" in parsed_args.columns
        return ("resource_id", "hypervisor_hostname", "reservations") if long else self.list_columns

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the allocations."""
        found: Records = self.manager().list(
            COLLECTIONS[parsed_args.resource_type], **self.filters(parsed_args)
        )
        if "hypervisor_hostname" not in self.columns(parsed_args):
            return found
        names = {each["id"]: each["hypervisor_hostname"] for each in self.get_client().host.list()}
        return [each | {"hypervisor_hostname": names.get(each["resource_id"])} for each in found]


class ShowAllocations(_OfAnAllocation, command.ShowCommand):
    """Show what a resource is allocated to, now and later."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know the resource."""
        self.add_filters(parser)
        parser.add_argument("name_or_id", metavar="RESOURCE", help=_("name or id of the resource"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        found = utils.find_resource_id_by_name_or_id(
            self.get_client(),
            parsed_args.resource_type,
            parsed_args.name_or_id,
            "hypervisor_hostname",
            RESOURCE_ID_PATTERN,
        )
        allocation = self.manager().get(
            COLLECTIONS[parsed_args.resource_type], found, **self.filters(parsed_args)
        )
        return self.columns_of(allocation, parsed_args)
