"""Commands for allocations."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from blazarclient import command, exception, utils
from blazarclient.base import Records
from blazarclient.i18n import _
from blazarclient.v1.shell_commands.hosts import HOST_ID_PATTERN

RESOURCE_ID_PATTERN = HOST_ID_PATTERN
"""Pattern of a whole resource id."""

COLLECTIONS = {"host": "os-hosts", "network": "networks", "storage_pool": "storage-pools"}
"""Collection in URLs, by type of resource."""

NAMES = {
    "host": ("hypervisor_hostname", RESOURCE_ID_PATTERN),
    "network": ("name", command.UUID_PATTERN),
    "storage_pool": ("name", command.UUID_PATTERN),
}
"""Key of the name, and pattern of a whole id, by type of resource."""


class _AllocationCommand(command.ReservationCommand):
    resource = "allocation"

    def add_filters(self, parser: argparse.ArgumentParser) -> None:
        """Add the type of resource and the filters to *parser*."""
        parser.add_argument(
            "resource_type",
            metavar="{host,network,storage_pool}",
            choices=sorted(COLLECTIONS),
            help=_("type of resource"),
        )
        parser.add_argument(
            "--reservation-id", metavar="<id>", help=_("only allocations of this reservation")
        )
        parser.add_argument(
            "--lease-id",
            metavar="<name or id>",
            help=_("only allocations of this lease, including past ones"),
        )

    def filters(self, parsed_args: argparse.Namespace) -> dict[str, str | None]:
        """Return the query parameters of the filters."""
        lease = parsed_args.lease_id
        if lease is not None:
            lease = utils.find_resource_id_by_name_or_id(
                self.get_client(), "lease", lease, "name", command.UUID_PATTERN
            )
        return {"lease_id": lease, "reservation_id": self._reservation(parsed_args.reservation_id)}

    def _reservation(self, given: str | None) -> str | None:
        """Return the id of the reservation with an id or a prefix of one."""
        if given is None or not re.fullmatch(utils.SHORT_ID, given):
            return given
        leases = self.get_client().lease.list()
        ids = [each["id"] for lease in leases for each in lease["reservations"]]
        found = [each for each in ids if each.startswith(given.lower())]
        if len(found) > 1:
            raise exception.NoUniqueMatch(
                _("More than one reservation has an id that starts with %r; use the whole id") % given
            )
        return found[0] if found else given


class ListAllocations(_AllocationCommand, command.ListCommand):
    """List current and future allocations of resources."""

    plural = _("allocations")
    list_columns = ("resource_id", "reservations")
    sort_by = "resource_id"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        self.add_filters(parser)
        parser.add_argument("--long", action="store_true", help=_("also show the names of the resources"))
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the default columns."""
        name_key, _pattern = NAMES[parsed_args.resource_type]
        long = parsed_args.long or name_key in parsed_args.columns
        return ("resource_id", name_key, "reservations") if long else self.list_columns

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the allocations."""
        found: Records = self.manager().list(
            COLLECTIONS[parsed_args.resource_type], **self.filters(parsed_args)
        )
        name_key, _pattern = NAMES[parsed_args.resource_type]
        if name_key not in self.columns(parsed_args):
            return found
        listed = getattr(self.get_client(), parsed_args.resource_type).list()
        names = {each["id"]: each.get(name_key) for each in listed}
        return [each | {name_key: names.get(each["resource_id"])} for each in found]


class ShowAllocations(_AllocationCommand, command.ShowCommand):
    """Show current and future allocations of a resource."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the filters and the resource to *parser*."""
        self.add_filters(parser)
        parser.add_argument("name_or_id", metavar="RESOURCE", help=_("name or id of the resource"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        found = utils.find_resource_id_by_name_or_id(
            self.get_client(),
            parsed_args.resource_type,
            parsed_args.name_or_id,
            *NAMES[parsed_args.resource_type],
        )
        allocation = self.manager().get(
            COLLECTIONS[parsed_args.resource_type], found, **self.filters(parsed_args)
        )
        return self.columns_of(allocation, parsed_args)
