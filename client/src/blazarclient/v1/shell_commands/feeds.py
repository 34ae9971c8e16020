"""Commands for feeds, which calendar programs read."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, exception, utils
from blazarclient.base import Records
from blazarclient.i18n import _

_LEASE = "lease"
_KINDS = (_LEASE, "user", "project", "availability")


class ListFeeds(command.ListCommand):
    """List feeds, without their addresses."""

    resource = "feed"
    plural = _("feeds")
    list_columns = ("id", "kind", "name", "user_id", "expires_at", "last_used_on")
    sort_by = "kind,name"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--project", metavar="<id>", help=_("only feeds of this project, for operators; default: all")
        )
        return parser

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the feeds."""
        found: Records = self.manager().list(project_id=parsed_args.project)
        return found


class ShowFeed(command.ShowCommand):
    """Show a feed, without its address."""

    resource = "feed"


class CreateFeed(command.CreateCommand):
    """Create a feed, and show the address of its calendar, which is not shown again."""

    resource = "feed"

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the kind and its options to *parser*."""
        parser.add_argument(
            "kind",
            metavar="KIND",
            choices=_KINDS,
            help=_(
                "the contents: lease (one lease), user (your leases in the project), project (its leases), "
                "or availability (when resources are not free)"
            ),
        )
        parser.add_argument("--name", metavar="<title>", help=_("title of the calendar"))
        parser.add_argument("--lease", metavar="<name or id>", help=_("the lease, for a feed of one lease"))
        parser.add_argument(
            "--alarm-minutes",
            metavar="<minutes>",
            type=int,
            help=_(
                "minutes before the end of a lease at which programs remind of it, in addition to its notice "
                "before the end; 0 for no reminders"
            ),
        )
        self._add_availability(parser)

    @staticmethod
    def _add_availability(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group(_("options of feeds of availability"))
        group.add_argument("--resource-type", metavar="<type>", help=_("the type of the resources"))
        group.add_argument(
            "--filter", metavar="<requirement>", help=_("only resources that satisfy it: 'rack=r3'")
        )
        group.add_argument(
            "--unit", metavar="<size>", help=_("size of a unit: 'vcpus=4,memory_mb=8192,disk_gb=40'")
        )
        group.add_argument(
            "--group",
            metavar="<property>=<value>",
            help=_("only resources of which a property of the catalogue has this value"),
        )
        group.add_argument(
            "--amount",
            metavar="<number>",
            type=int,
            help=_("a time is busy if fewer than this number are free, default 1"),
        )

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the feed.

        Raises:
            CommandError: The group has no value.
        """
        group_by, group = _read_group(parsed_args.group)
        made = self.manager().create(
            parsed_args.kind,
            name=parsed_args.name,
            lease_id=self._find_lease(parsed_args.lease),
            alarm_minutes=parsed_args.alarm_minutes,
            resource_type=parsed_args.resource_type,
            filter=parsed_args.filter,
            unit=parsed_args.unit,
            group_by=group_by,
            group=group,
            amount=parsed_args.amount,
        )
        return self.created(made, parsed_args)

    def _find_lease(self, name_or_id: str | None) -> str | None:
        if name_or_id is None:
            return None
        return utils.find_resource_id_by_name_or_id(self.get_client(), _LEASE, name_or_id, "name", utils.UUID)


class DeleteFeed(command.DeleteCommand):
    """Delete feeds; their calendars can no longer be read."""

    resource = "feed"


def _read_group(text: str | None) -> tuple[str | None, str | None]:
    """Return the property and its value. Raises CommandError."""
    if text is None:
        return None, None
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise exception.CommandError(_("--group must be a property and its value: rack=r3"), code=400)
    return name, value
