"""Commands about leases."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import (
    clock,
    command,
    durations,
    exception,
    lease_requests,
    networks,
    rendering,
    waiting,
)
from blazarclient.base import Record, Records
from blazarclient.command import UUID_PATTERN
from blazarclient.i18n import _
from blazarclient.reservations import CREATE_RESERVATION_KEYS
from blazarclient.v1.shell_commands import lease_filters, lease_options

__all__ = [
    "CREATE_RESERVATION_KEYS",
    "UUID_PATTERN",
    "CreateLease",
    "DeleteLease",
    "ListLeaseResources",
    "ListLeases",
    "SetLease",
    "ShowLease",
    "UpdateLease",
]


class _Waits(command.ReservationCommand):
    """What commands have that can wait for a lease."""

    def calendar(self) -> lease_requests.Calendar:
        """Return what reads dates."""
        return lease_requests.Calendar(*command.present(), tell=self.tell)

    def patience(self, parsed_args: argparse.Namespace) -> waiting.Patience:
        """Return how long to wait."""
        return waiting.Patience(
            timeout=durations.parse_seconds(parsed_args.timeout) if parsed_args.timeout else None,
            now=clock.now,
            pause=clock.pause,
            progress=self.app.stderr,
        )


class _ShowsWhatItWaitedFor(_Waits, command.ShowCommand):
    def settled(self, lease: Record, parsed_args: argparse.Namespace, sent: Record) -> Record:
        """Return the lease as it is when it has settled, if the user wants to wait for that.

        Is it in ERROR, or not settled in time, it is returned all the same, and the exit code is 1.
        """
        if not parsed_args.wait:
            return lease
        patience = self.patience(parsed_args)
        try:
            return waiting.until_settled(
                lambda: self.manager().get(lease["id"]), patience, lease_requests.passing(sent)
            )
        except (exception.LeaseInError, exception.WaitTimeout) as error:
            self.tell(command.explain(error))
            self.exit_code = 1
            found: Record = self.manager().get(lease["id"])
            return found


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
            help=_("also show the status, the project and what is reserved"),
        )
        lease_filters.add_filters(parser)
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns shown if nobody names others."""
        return self.list_columns + (self.long_columns if parsed_args.long else ())

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the leases that fit the filters; each has its ``resource_types`` beside what it has."""
        fits = lease_filters.make(parsed_args, *command.present())
        return [
            each | {"resource_types": lease_filters.resource_types(each)}
            for each in self.manager().list()
            if fits(each)
        ]


class ShowLease(command.ShowCommand):
    """Show a lease: what it reserves, and what is wrong with it."""


class ListLeaseResources(command.ListCommand):
    """List what a lease holds, and how it is used.

    Names of hosts are shown to those who may list allocations: operators, as a rule.
    """

    list_columns = ("reservation_id", "resource_type", "status", "resources", "use")
    sort_by = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with the name or id of the lease."""
        parser = super().get_parser(prog_name)
        command.add_name_or_id(parser, self.resource)
        return parser

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return a row for each reservation."""
        lease = self.manager().get(self.find(parsed_args.name_or_id))
        hosts = self._hosts(lease["id"])
        return [
            {
                "reservation_id": each["id"],
                "resource_type": each["resource_type"],
                "status": each["status"],
                "resources": hosts.get(each["id"], each.get("required_floatingips", [])),
                "use": rendering.how_to_use(each),
            }
            for each in lease["reservations"]
        ]

    def _hosts(self, lease_id: str) -> dict[str, list[str]]:
        """Return the names of hosts by reservation; none if the user may not see them."""
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


class CreateLease(command.CreateCommand, _ShowsWhatItWaitedFor):
    """Create a lease."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        lease_options.add_to_create(parser)
        self._refuse = parser.error
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code."""
        is_nameless = parsed_args.name is None and not parsed_args.from_file
        if is_nameless and not getattr(self.app, "interactive_mode", False):
            self._refuse(_("the following arguments are required: LEASE"))
        return super().run(parsed_args)

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know the name, which may be in a file instead."""
        parser.add_argument("name", metavar="LEASE", nargs="?", help=_("name of the new lease"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new lease."""
        lease = lease_requests.to_create(parsed_args, self.calendar())
        for each in lease["reservations"]:
            if "network_id" in each:
                each["network_id"] = networks.find(self.app, each["network_id"])
        if not lease["reservations"]:
            self.tell(_("The lease has no reservation, and will hold nothing"))
        if parsed_args.dry_run:
            self.tell(_("Nothing was sent. The request would be a POST to /leases with:"))
            return self.columns_of(lease_requests.body(lease), parsed_args)
        created = self.manager().create(**lease)
        return self.created(self.settled(created, parsed_args, lease_requests.body(lease)), parsed_args)


class UpdateLease(command.UpdateCommand, _ShowsWhatItWaitedFor):
    """Change a lease."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        lease_options.add_to_update(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the changed lease."""
        values = lease_requests.to_update(parsed_args, self.calendar())
        found = self.find(parsed_args.name_or_id)
        if parsed_args.dry_run:
            self.is_quiet = False
            self.tell(_("Nothing was sent. The request would be a PUT to /leases/%s with:") % found)
            return self.columns_of(self.manager().changes(found, **values), parsed_args)
        changed = self.manager().update(found, **values)
        return self.columns_of(self.settled(changed, parsed_args, values), parsed_args)


class SetLease(UpdateLease):
    """Change a lease."""

    deprecated = True


class DeleteLease(command.DeleteCommand, _Waits):
    """Delete leases; what is active is taken back first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        lease_options.add_waiting(parser, _("until it is gone"))
        lease_options.add_dry_run(parser)
        return parser

    def delete(self, found: str, parsed_args: argparse.Namespace) -> None:
        """Delete the lease with the id *found*, and wait for that if the user wants to."""
        if parsed_args.dry_run:
            self.manager().get(found)
            self.tell(_("Nothing was sent. The request would be a DELETE to /leases/%s") % found)
            return
        super().delete(found, parsed_args)
        if parsed_args.wait:
            waiting.until_gone(lambda: self.manager().get(found), self.patience(parsed_args))

    def report(self, name_or_id: str, parsed_args: argparse.Namespace) -> None:
        """Say that it is deleted, if it is."""
        if not parsed_args.dry_run:
            super().report(name_or_id, parsed_args)
