"""Commands that change leases."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, dates, exception, lease_requests, refusals, reservation_changes, utils
from blazarclient.base import Record
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import lease_options
from blazarclient.v1.shell_commands.lease_commands import ShowAfterWaitCommand

_DECIDED_BY_OFFER = (
    *("new_name", "prolong_for", "reduce_by", "end_date", "as_far_as_possible", "defer_by", "advance_by"),
    *("start_date", "before_end_date", "reservations", "add_reservations", "remove_reservations"),
    *("releases", "on_conflict", "hold"),
)
"""Arguments that cannot be given together with an offer."""


class ReplaceResources(command.UpdateCommand):
    """Report broken hosts of a lease, and get others for them."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "resources", metavar="HOST", nargs="+", help=_("names or ids of hosts or addresses of the lease")
        )
        parser.add_argument(
            "--reason", metavar="<text>", default="", help=_("what is wrong with them, for the operators")
        )
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Replace the resources and return the lease."""
        found = self.find(parsed_args.name_or_id)
        changed: Record = self.manager().replace(found, parsed_args.resources, parsed_args.reason)
        return changed

    def success_message(self, parsed_args: argparse.Namespace) -> str:
        """Return the message."""
        return str(
            _("Replaced %(resources)s in lease %(name)s; lease-resources lists what it has now")
            % {"resources": ", ".join(parsed_args.resources), "name": parsed_args.name_or_id}
        )


class UpdateLease(command.UpdateCommand, ShowAfterWaitCommand):
    """Change a lease."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        lease_options.add_update_options(parser)
        self._refuse = parser.error
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the changed lease."""
        self._check_options(parsed_args)
        if parsed_args.offer:
            return self._commit(parsed_args)
        date_reader = self.date_reader()
        changes = reservation_changes.parse(parsed_args)
        values = lease_requests.to_update(parsed_args, date_reader, changes)
        found = self.find(parsed_args.name_or_id)
        if changes:
            values["reservations"] = changes.resolved(self.manager(), found)
            self.name_networks_by_id(values["reservations"])
        if parsed_args.as_far_as_possible:
            return self._extend(found, values, parsed_args)
        if parsed_args.hold:
            return self._hold(found, self.manager().changes(found, **values), parsed_args)
        if parsed_args.dry_run:
            return self._show_request(found, self.manager().changes(found, **values), parsed_args)
        with date_reader.explained_start(values.get("start_date")):
            try:
                changed = self.manager().update(found, **values)
            except exception.BlazarClientException as refusal:
                if refusals.is_shortage(refusal) and self.on_terminal(parsed_args):
                    self.explain_change(found, self.manager().changes(found, **values))
                raise
        return self.columns_of(self.settled(changed, parsed_args, values), parsed_args)

    def _check_options(self, parsed_args: argparse.Namespace) -> None:
        """Exit with an error if some options cannot be given together."""
        given = [each for each in _DECIDED_BY_OFFER if getattr(parsed_args, each)]
        if parsed_args.offer and given:
            names = ", ".join(map(lease_options.option_of, given))
            self._refuse(_("--offer decides the change; leave out %s") % names)
        if parsed_args.as_far_as_possible and not (parsed_args.end_date or parsed_args.prolong_for):
            self._refuse(_("--as-far-as-possible needs --end-date or --prolong-for"))
        if parsed_args.as_far_as_possible and parsed_args.hold:
            self._refuse(_("--hold cannot be given together with --as-far-as-possible"))
        if parsed_args.ttl is not None and not parsed_args.hold:
            self._refuse(_("--ttl needs --hold"))

    def _commit(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the lease after the change that an offer holds."""
        found = self.find(parsed_args.name_or_id)
        offer_id = utils.find_resource_id_by_name_or_id(
            self.get_client(), "offer", parsed_args.offer, self.name_key, self.id_pattern
        )
        if parsed_args.dry_run:
            return self._show_request(found, {"offer_id": offer_id}, parsed_args)
        changed = self.manager().commit_change(found, offer_id)
        return self.columns_of(self.settled(changed, parsed_args, {}), parsed_args)

    def _hold(
        self, found: str, body: Record, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of an offer for a change, after how to use it."""
        if parsed_args.dry_run:
            asked = body if parsed_args.ttl is None else {**body, "ttl_seconds": parsed_args.ttl}
            return self._show_request(found, asked, parsed_args, "POST", "/offers")
        offer = self.get_client().offer.create_for_lease(found, body, ttl_seconds=parsed_args.ttl)
        self.print_to_stderr(
            _(
                "What the change needs is held until %(expires_at)s UTC;"
                " lease update %(lease_id)s --offer %(id)s makes the change"
            )
            % offer
        )
        self.is_quiet = False
        return self.columns_of(offer, parsed_args)

    def _show_request(
        self, found: str, body: Record, parsed_args: argparse.Namespace, method: str = "PUT", below: str = ""
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of a request that a dry run does not send."""
        self.is_quiet = False
        self.print_to_stderr(
            _("Nothing was sent. The request would be a %(method)s to %(path)s with:")
            % {"method": method, "path": f"/leases/{found}{below}"}
        )
        return self.columns_in_utc(body, parsed_args)

    def _extend(
        self, found: str, values: Record, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of a lease that is extended as far as possible."""
        wanted = self.manager().changes(found, **values)
        changed = self.manager().extend_as_far_as_possible(found, wanted, dry_run=parsed_args.dry_run)
        end = wanted["end_date"]
        reached = changed["end_date"].replace("T", " ")[: len("2031-01-01 10:00")]
        if end not in (dates.NOW, reached):
            self.print_to_stderr(
                _("The lease cannot last until %(end)s UTC; it ends at %(reached)s UTC")
                % {"end": end, "reached": reached}
            )
        if parsed_args.dry_run:
            self.is_quiet = False
            self.print_to_stderr(_("Nothing was changed. The lease would be:"))
            return self.columns_in_utc(changed, parsed_args)
        return self.columns_of(self.settled(changed, parsed_args, values), parsed_args)


class SetLease(UpdateLease):
    """Change a lease."""

    deprecated = True
