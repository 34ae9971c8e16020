"""Commands for leases."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from blazarclient import (
    cloud_names,
    command,
    exception,
    rendering,
    terminal,
    waiting,
)
from blazarclient.base import Record, Records
from blazarclient.command import UUID_PATTERN
from blazarclient.i18n import _
from blazarclient.reservation_keys import CREATE_RESERVATION_KEYS
from blazarclient.v1.shell_commands import lease_filters, lease_options
from blazarclient.v1.shell_commands.lease_changes import ReplaceResources, SetLease, UpdateLease
from blazarclient.v1.shell_commands.lease_commands import WaitCommand
from blazarclient.v1.shell_commands.lease_creation import CreateLease

__all__ = [
    "CREATE_RESERVATION_KEYS",
    "UUID_PATTERN",
    "CreateLease",
    "DeleteLease",
    "ListLeaseHistory",
    "ListLeaseResources",
    "ListLeases",
    "ReplaceResources",
    "SetLease",
    "ShowLease",
    "UpdateLease",
]


_NO_ALLOCATIONS = (403, 404, 406)
"""Statuses for a service that does not list the allocations of a lease: 406 if it supports only API 1.0."""


_STORAGE = ("virtual:volume", "physical:storage")
"""Types of reservations whose use the service must be asked for."""


def _usage_lines(given: Records, types: Mapping[str, Sequence[str]] | None = None) -> Iterator[str]:
    """Yield the commands that use reservations, each after a comment that names the reservation.

    Args:
        given: The reservations.
        types: The volume types of reservations of storage, by id.
    """
    for each in given:
        uses = _uses(each, types or {})
        if uses:
            yield f"# {each['resource_type']} {each['id']}"
            yield from uses


def _uses(reservation: Record, types: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the commands that use a reservation: several for storage in several pools."""
    use = rendering.usage_command(reservation)
    return [use] if use else [rendering.volume_command(each) for each in types.get(reservation["id"], ())]


class ListLeases(command.ListCommand):
    """List leases."""

    list_columns = ("id", "name", "start_date", "end_date")
    sort_by = "name"
    long_columns = ("status", "degraded", "project_id", "resource_types")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with filters."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--long",
            action="store_true",
            help=_("also show the status, the project and the types of reserved resources"),
        )
        lease_filters.add_filters(parser)
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the default columns."""
        if parsed_args.long:
            return self.list_columns + self.long_columns
        return self.list_columns + (("status",) if self.on_terminal(parsed_args) else ())

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the leases that match the filters, each with the additional key ``resource_types``."""
        matches = lease_filters.make(parsed_args, *command.present())
        leases = self._of_project(self.manager().list(), parsed_args.project)
        return [
            each | {"resource_types": lease_filters.resource_types(each)} for each in leases if matches(each)
        ]

    def _of_project(self, leases: Records, name_or_id: str | None) -> Records:
        """Return the leases of a project, or all leases if *name_or_id* is None."""
        if name_or_id is None:
            return leases
        owners = {each.get("project_id") for each in leases}
        found = name_or_id if name_or_id in owners else cloud_names.find_project(self.app, name_or_id)
        return [each for each in leases if each.get("project_id") == found]


class ShowLease(command.ShowCommand):
    """Show a lease, its reservations and their problems."""


class _PartsOfLease(command.ListCommand):
    """Base of commands that list what belongs to one lease."""

    sort_by = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with the name or id of the lease."""
        parser = super().get_parser(prog_name)
        command.add_name_or_id(parser, self.resource)
        return parser


class ListLeaseResources(_PartsOfLease):
    """List the resources of a lease, and the commands that use them."""

    plural = _("reservations")
    list_columns = ("reservation_id", "resource_type", "status", "resources", "use")

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return a row for each reservation."""
        lease = self.manager().get(self.find(parsed_args.name_or_id))
        held = self._names(lease["id"])
        types = self._volume_types(lease)
        self._lines = list(_usage_lines(lease["reservations"], types))
        return [
            {
                "reservation_id": each["id"],
                "resource_type": each["resource_type"],
                "status": each["status"],
                "resources": sorted(held.get(each["id"], []), key=terminal.natural)
                or each.get("required_floatingips", []),
                "use": "\n".join(_uses(each, types)),
            }
            for each in lease["reservations"]
        ]

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the default columns; on a terminal, ``use`` is printed below the table."""
        return self.list_columns[:-1] if self.on_terminal(parsed_args) else self.list_columns

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[Any]]
    ) -> int:
        """Print the rows; on a terminal, also a line with the command that uses each reservation."""
        code = super().produce_output(parsed_args, column_names, data)
        if self.on_terminal(parsed_args) and not parsed_args.columns:
            for line in self._lines:
                self.print_to_stdout(line)
        return code

    def _volume_types(self, lease: Record) -> dict[str, list[str]]:
        """Return the volume types of active reservations of storage, by id, if the service shows them."""
        if not any(each["resource_type"] in _STORAGE for each in lease["reservations"]):
            return {}
        try:
            found = self.manager().resources(lease["id"])
        except exception.BlazarClientException as error:
            if error.code not in _NO_ALLOCATIONS:
                raise
            return {}
        return {each["reservation_id"]: (each.get("use") or {}).get("volume_types", []) for each in found}

    def _names(self, lease_id: str) -> dict[str, list[str]]:
        """Return the names of resources by reservation; a host occurs once for each instance."""
        try:
            allocations = self.manager().list_allocations(lease_id)
        except exception.BlazarClientException as error:
            if error.code not in _NO_ALLOCATIONS:
                raise
            return self._names_of_hosts(lease_id)
        found: dict[str, list[str]] = {}
        for each in allocations:
            found.setdefault(each["reservation_id"], []).extend([each["name"]] * each["amount"])
        return found

    def _names_of_hosts(self, lease_id: str) -> dict[str, list[str]]:
        """Return names of hosts by reservation from API version 1.0, which shows them only to operators."""
        client = self.get_client()
        try:
            allocations = client.allocation.list("os-hosts", lease_id=lease_id)
            names = {each["id"]: each["hypervisor_hostname"] for each in client.host.list()}
        except (exception.Forbidden, exception.NotFound):
            return {}
        found: dict[str, list[str]] = {}
        for each in allocations:
            for reservation in each["reservations"]:
                name = names.get(each["resource_id"], each["resource_id"])
                found.setdefault(reservation["id"], []).append(name)
        return found


class ListLeaseHistory(_PartsOfLease):
    """Show what happened to a lease, oldest first."""

    plural = _("entries")
    list_columns = ("time", "reservation_id", "text")

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the entries."""
        entries: Records = self.manager().history(self.find(parsed_args.name_or_id))
        return entries


class DeleteLease(command.DeleteCommand, WaitCommand):
    """Delete leases; active reservations end first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        lease_options.add_waiting(parser, _("until the lease no longer exists"))
        lease_options.add_dry_run(parser)
        return parser

    def delete(self, found: str, parsed_args: argparse.Namespace) -> None:
        """Delete the lease with the id *found*; with ``--wait``, wait until it no longer exists."""
        if parsed_args.dry_run:
            self.manager().get(found)
            self.print_to_stderr(_("Nothing was sent. The request would be a DELETE to /leases/%s") % found)
            return
        super().delete(found, parsed_args)
        if parsed_args.wait:
            waiting.until_deleted(lambda: self.manager().get(found), self.wait_options(parsed_args))

    def print_deleted(self, name_or_id: str, parsed_args: argparse.Namespace) -> None:
        """Print that the lease was deleted, unless this is a dry run."""
        if not parsed_args.dry_run:
            super().print_deleted(name_or_id, parsed_args)
