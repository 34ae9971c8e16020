"""Commands for maintenance, and for taking hosts out of service."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from blazarclient import command, dates, exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _
from blazarclient.v1.shell_commands.lease_commands import RequestCommand

_DATE = "<date>"


class _MaintenanceCommand(RequestCommand):
    resource = "maintenance"


class ListMaintenances(_MaintenanceCommand, command.ListCommand):
    """List maintenance that is planned, is in progress, or has ended in the last 90 days."""

    plural = _("maintenance")
    list_columns = ("id", "status", "start_date", "end_date", "reason", "resources")
    sort_by = "start_date"

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the maintenances."""
        found: Records = self.manager().list()
        is_table = parsed_args.formatter == "table"
        return [{**each, "resources": _names(each["resources"])} if is_table else each for each in found]


class ShowMaintenance(_MaintenanceCommand, command.ShowCommand):
    """Show maintenance, and the leases that hold its resources."""

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        found = self.manager().get(self.find(parsed_args.name_or_id))
        return self.columns_of(_readable(found, parsed_args), parsed_args)


class _Planning(_MaintenanceCommand, command.CreateCommand):
    """Base of the commands that plan maintenance."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--end-date",
            metavar=_DATE,
            help=_("end date; without it, the maintenance lasts until it is ended; forms: %s") % dates.FORMS,
        )
        parser.add_argument(
            "--reason", metavar="<text>", default="", help=_("message to the owners of affected leases")
        )
        parser.add_argument(
            "--leave-pool",
            action="store_true",
            help=_("take hosts that no lease holds out of the freepool for this time"),
        )
        parser.add_argument(
            "--dry-run", action="store_true", help=_("show which leases would move, and change nothing")
        )
        return parser

    def plan(self, parsed_args: argparse.Namespace, **keys: Any) -> tuple[Sequence[str], Sequence[Any]]:
        """Send the request, and return the columns and the values of the answer."""
        reader = self.date_reader()
        if parsed_args.end_date:
            keys["end"] = reader.read("end_date", parsed_args.end_date)
        made = self.manager().create(
            **keys,
            reason=parsed_args.reason,
            leave_pool=parsed_args.leave_pool,
            dry_run=parsed_args.dry_run,
        )
        shown = _readable(made, parsed_args)
        if parsed_args.dry_run:
            self.print_to_stderr(_("Nothing was changed. The maintenance would be:"))
            return self.columns_of(shown, parsed_args)
        return self.created(shown, parsed_args)


class CreateMaintenance(_Planning):
    """Keep new leases away from hosts for a period, and move the leases that have not started."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--filter",
            dest="requirement",
            metavar="<requirement>",
            help=_("hosts that satisfy it: 'rack=r3', 'availability_zone=az1'"),
        )
        parser.add_argument("--aggregate", metavar="<name>", help=_("hosts in this aggregate of Nova"))
        parser.add_argument(
            "--resource-type", metavar="<type>", help=_("the type of the resources; default: that of hosts")
        )
        parser.add_argument(
            "--start-date", metavar=_DATE, help=_("start date, default now; forms: %s") % dates.FORMS
        )
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the names of the resources to *parser*."""
        parser.add_argument("resources", metavar="HOST", nargs="*", help=_("names or ids of hosts"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the maintenance."""
        keys: Record = {
            "resources": parsed_args.resources or None,
            "requirement": parsed_args.requirement,
            "aggregate": parsed_args.aggregate,
            "resource_type": parsed_args.resource_type,
        }
        if parsed_args.start_date:
            keys["start"] = self.date_reader().read("start_date", parsed_args.start_date)
        return self.plan(parsed_args, **keys)


class DrainHosts(_Planning):
    """Keep new leases away from hosts from now on, and move the leases that have not started."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the names of the hosts to *parser*."""
        parser.add_argument("hosts", metavar="HOST", nargs="+", help=_("names or ids of hosts"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the maintenance."""
        return self.plan(parsed_args, resources=parsed_args.hosts)


class UndrainHosts(_MaintenanceCommand):
    """Let leases have hosts again: take them out of all maintenance that has begun."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument("hosts", metavar="HOST", nargs="+", help=_("names or ids of hosts"))
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Return 0.

        Raises:
            NotFound: A host is not under maintenance.
        """
        wanted = set(parsed_args.hosts)
        affected = [
            (each, own)
            for each in self.manager().list()
            if each["status"] == "ACTIVE"
            and (own := [one for one in each["resources"] if wanted & {one["id"], one["name"]}])
        ]
        known = {key for _each, own in affected for one in own for key in (one["id"], one["name"])}
        missing = sorted(wanted - known)
        if missing:
            raise exception.NotFound(_("Not under maintenance: %s") % ", ".join(missing))
        for maintenance, own in affected:
            if len(own) == len(maintenance["resources"]):
                self.manager().end(maintenance["id"])
            else:
                self.manager().update(maintenance["id"], {"remove_resources": [one["id"] for one in own]})
        for name in parsed_args.hosts:
            self.print_to_stdout(_("Leases can have host %s again") % name)
        return 0


class UpdateMaintenance(_MaintenanceCommand, command.UpdateCommand):
    """Change the end or the reason of maintenance, or take hosts out of it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        end = parser.add_mutually_exclusive_group()
        end.add_argument("--end-date", metavar=_DATE, help=_("new end date; forms: %s") % dates.FORMS)
        end.add_argument(
            "--no-end",
            action="store_true",
            help=_("remove the end date: the maintenance lasts until it is ended"),
        )
        parser.add_argument("--reason", metavar="<text>", help=_("new reason"))
        parser.add_argument(
            "--remove",
            metavar="<host>",
            action="append",
            help=_("a host to take out of the maintenance (repeatable)"),
        )
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Change the maintenance and return it."""
        values: Record = {}
        if parsed_args.end_date:
            values["end_date"] = self.date_reader().read("end_date", parsed_args.end_date)
        elif parsed_args.no_end:
            values["end_date"] = None
        if parsed_args.reason is not None:
            values["reason"] = parsed_args.reason
        if parsed_args.remove:
            values["remove_resources"] = parsed_args.remove
        if not values:
            raise exception.CommandError(_("No change is given"), code=400)
        return _readable(self.manager().update(self.find(parsed_args.name_or_id), values), parsed_args)


class EndMaintenance(_MaintenanceCommand, command.UpdateCommand):
    """End maintenance now."""

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """End the maintenance and return it."""
        return _readable(self.manager().end(self.find(parsed_args.name_or_id)), parsed_args)

    def success_message(self, parsed_args: argparse.Namespace) -> str:
        """Return the message."""
        return str(_("Ended maintenance: %s") % parsed_args.name_or_id)


class DeleteMaintenance(_MaintenanceCommand, command.DeleteCommand):
    """End maintenance, and remove it from the list."""


def _readable(maintenance: Record, parsed_args: argparse.Namespace) -> Record:
    """Return a maintenance with a line of text for each resource, move and lease, for people."""
    if parsed_args.formatter not in ("table", None):
        return maintenance
    lines: dict[str, Callable[[Record], str]] = {"moves": _move, "active": _kept, "unmovable": _kept}
    return {
        **maintenance,
        "resources": _names(maintenance["resources"]),
        **{
            key: "\n".join(line(each) for each in maintenance[key]) or None
            for key, line in lines.items()
            if key in maintenance
        },
    }


def _names(resources: Records) -> str:
    return ", ".join(each["name"] for each in resources)


def _move(move: Record) -> str:
    return f"{_lease(move)}: {_names(move['from'])} -> {_names(move['to'])}"


def _kept(kept: Record) -> str:
    return f"{_lease(kept)}: {kept['resource']['name']}, {kept['start_date'][:16]} - {kept['end_date'][:16]}"


def _lease(record: Record) -> str:
    return "{lease_name} ({lease_id:.8}, {project_id})".format_map(record)
