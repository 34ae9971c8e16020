"""Commands for offers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, lease_requests
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import lease_options
from blazarclient.v1.shell_commands.lease_commands import RequestCommand


class ListOffers(command.ListCommand):
    """List the open offers of the project."""

    resource = "offer"
    plural = _("offers")
    list_columns = ("id", "name", "start_date", "end_date", "expires_at")
    sort_by = "expires_at"


class ShowOffer(command.ShowCommand):
    """Show an offer."""

    resource = "offer"


class CreateOffer(command.CreateCommand, RequestCommand):
    """Hold the resources of a possible lease for a short time."""

    resource = "offer"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        lease_options.add_lease(parser)
        lease_options.add_ttl(parser)
        lease_options.add_dry_run(parser)
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the name of the lease, which may be absent, to *parser*."""
        parser.add_argument("name", metavar="LEASE", nargs="?", help=_("name of the future lease"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new offer."""
        reader = self.date_reader()
        asked = lease_requests.to_create(parsed_args, reader, needs_name=False)
        self.name_networks_by_id(asked["reservations"])
        del asked["events"]
        if parsed_args.dry_run:
            self.print_to_stderr(_("Nothing was sent. The request would be a POST to /offers with:"))
            body = {**lease_requests.body(asked), "ttl_seconds": parsed_args.ttl}
            return self.columns_in_utc(body, parsed_args)
        with reader.explained_start(asked["start"]), self.explained(parsed_args):
            made = self.manager().create(**asked, ttl_seconds=parsed_args.ttl)
        return self.created(made, parsed_args)


class DeleteOffer(command.DeleteCommand):
    """Free what offers hold."""

    resource = "offer"
