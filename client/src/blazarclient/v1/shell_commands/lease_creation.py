"""The command that creates a lease: from a description, an offer, or an alternative to a refused one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import requests
from keystoneauth1 import exceptions as ksa_exceptions

from blazarclient import command, dates, exception, free_times, lease_requests, refusals, utils
from blazarclient.base import Record
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import lease_options
from blazarclient.v1.shell_commands.lease_commands import ShowAfterWaitCommand

_DECIDED_BY_OFFER = (
    *("start_date", "end_date", "duration", "before_end_date", "reservations", "physical_reservations"),
    *("events", "from_file", "availability_zone", "same", "spread"),
)
"""Arguments that cannot be given together with an offer."""


def _has_same_name(lease: Record, created: Record) -> bool:
    return (
        lease["name"] == created["name"]
        and lease["id"] != created["id"]
        and lease.get("project_id") == created.get("project_id")
    )


def _arguments(body: Record) -> Record:
    """Return the arguments of the library for the body of a request."""
    return {
        "name": body["name"],
        "start": body["start_date"],
        "end": body["end_date"],
        "reservations": body["reservations"],
        "before_end": body.get("before_end_date"),
    }


class CreateLease(command.CreateCommand, ShowAfterWaitCommand):
    """Create a lease."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        lease_options.add_create_options(parser)
        self._refuse = parser.error
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code."""
        has_name = parsed_args.from_file or parsed_args.offer or parsed_args.take is not None
        if parsed_args.name is None and not has_name and not getattr(self.app, "interactive_mode", False):
            self._refuse(_("the following arguments are required: LEASE"))
        return super().run(parsed_args)

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the name, which a file can give instead, to *parser*."""
        parser.add_argument("name", metavar="LEASE", nargs="?", help=_("name of the new lease"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new lease."""
        problem = free_times.contradiction(parsed_args)
        if problem is not None:
            self._refuse(problem)
        if parsed_args.take is not None:
            return self._take(parsed_args)
        if parsed_args.offer:
            return self._commit(parsed_args)
        date_reader = self.date_reader()
        if parsed_args.earliest or parsed_args.between is not None:
            return self._create_in_free_time(parsed_args, date_reader)
        lease = lease_requests.to_create(parsed_args, date_reader)
        self._prepare(lease)
        if parsed_args.dry_run:
            return self.columns_in_utc(self._preview(lease, parsed_args), parsed_args)
        with date_reader.explained_start(lease["start"]):
            try:
                created = self._send(lease, parsed_args)
            except exception.BlazarClientException as refusal:
                self._explain(refusal, lease, parsed_args)
                raise
        return self._show_result(created, lease_requests.body(lease), parsed_args)

    def _create_in_free_time(
        self, parsed_args: argparse.Namespace, date_reader: lease_requests.DateReader
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of a lease, or an offer, in the first free time."""
        described = lease_requests.without_dates(parsed_args, date_reader)
        period = free_times.period(parsed_args, described, date_reader)
        lease = {key: described[key] for key in ("name", "reservations", "events")}
        self._prepare(lease)

        def send(slot: Record) -> Record:
            dated = {**lease, "start": slot["start_date"], "end": slot["end_date"]}
            if parsed_args.dry_run:
                found: Record = self.manager().preview(**dated)
                return found
            return self._send(dated, parsed_args, explained=True)

        availability = self.get_client().availability
        with self.explained(parsed_args):
            created = free_times.first_granted(availability, period, lease["reservations"], send)
        if parsed_args.dry_run:
            self.print_to_stderr(_("Nothing was created. The lease would be:"))
            return self.columns_in_utc(created, parsed_args)
        # The start of the lease may be the current minute, as if it had been sent as now.
        return self._show_result(created, {"start_date": dates.NOW}, parsed_args)

    def _prepare(self, lease: Record) -> None:
        """Replace names of networks by ids; warn if the lease has no reservations."""
        self.name_networks_by_id(lease["reservations"])
        if not lease["reservations"]:
            self.print_to_stderr(
                _("Warning: the lease has no reservations and will reserve nothing; --reservation adds one")
            )

    def _send(self, lease: Record, parsed_args: argparse.Namespace, *, explained: bool = False) -> Record:
        """Return the new lease or, with ``--hold``, the new offer."""
        if parsed_args.hold:
            asked = {key: value for key, value in lease.items() if key != "events"}
            offer: Record = self.get_client().offer.create(**asked, ttl_seconds=parsed_args.ttl)
            return offer
        created: Record = self.manager().create(**lease, **({"explained": True} if explained else {}))
        return created

    def _show_result(
        self, created: Record, sent: Record, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of a new lease, or of an offer after how to use it."""
        if not parsed_args.hold:
            return self._show_new(created, sent, parsed_args)
        self.print_to_stderr(
            _("The resources are held until %(expires_at)s UTC; lease create --offer %(id)s makes the lease")
            % created
        )
        return self.created(created, parsed_args, "offer")

    def _preview(self, lease: Record, parsed_args: argparse.Namespace) -> Record:
        """Return what would be reserved, or the request if the service cannot tell."""
        try:
            found: Record = self.manager().preview(**lease)
        except exception.BlazarClientException as refusal:
            if refusal.code != requests.codes.not_acceptable:
                self.print_alternatives(refusal)
                raise
            self.print_to_stderr(_("Nothing was created. The request would be a POST to /leases with:"))
            return lease_requests.body(lease)
        self.print_to_stderr(_("Nothing was created. The lease would be:"))
        return found

    def _explain(
        self, refusal: exception.BlazarClientException, lease: Record, parsed_args: argparse.Namespace
    ) -> None:
        """On a terminal, print why too little is available, and what is possible instead.

        API 1.0 does not say why; a dry run of API 1.1 does. A dry run is the same request, so a service that
        does not know dry runs must not get it: one with only API 1.0 refuses the version.
        """
        if refusal.kwargs.get("reasons") and self.on_terminal(parsed_args):
            self.print_alternatives(refusal)
            return
        if not refusals.is_shortage(refusal) or not self.on_terminal(parsed_args):
            return
        try:
            self.manager().preview(**lease)
        except exception.BlazarClientException as explained:
            self.print_alternatives(explained)
        except ksa_exceptions.ClientException:
            return

    def _take(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Create the leases of an alternative, and return the columns and the values of the last one."""
        bodies = refusals.take(self.get_client(), parsed_args.take)
        if parsed_args.dry_run:
            return self._preview_all(bodies, parsed_args)
        *first, last = bodies
        for body in first:
            created = self._create(body)
            self.print_to_stderr(_("Created lease %s; the next one follows it") % created["id"])
        return self._show_new(self._create(last), last, parsed_args)

    def _create(self, body: Record) -> Record:
        """Return the new lease for the body of a request."""
        created: Record = self.manager().create(**_arguments(body))
        return created

    def _preview_all(
        self, bodies: Sequence[Record], parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return what the last lease of an alternative would be; print when the ones before it would be."""
        *first, last = bodies
        for body in first:
            found = self._preview(_arguments(body), parsed_args)
            self.print_to_stderr(_("from %(start_date)s to %(end_date)s UTC, then another one") % found)
        return self.columns_in_utc(self._preview(_arguments(last), parsed_args), parsed_args)

    def _commit(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the lease that is made from an offer."""
        given = [each for each in _DECIDED_BY_OFFER if getattr(parsed_args, each)]
        if given:
            self._refuse(
                _("--offer decides all but the name; leave out %s")
                % ", ".join(map(lease_options.option_of, given))
            )
        found = utils.find_resource_id_by_name_or_id(
            self.get_client(), "offer", parsed_args.offer, self.name_key, self.id_pattern
        )
        if parsed_args.dry_run:
            self.print_to_stderr(_("Nothing was sent. The request would be a POST to /leases with:"))
            return self.columns_in_utc({"offer_id": found, "name": parsed_args.name}, parsed_args)
        return self._show_new(self.manager().commit(found, parsed_args.name), {}, parsed_args)

    def _show_new(
        self, created: Record, sent: Record, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        # Programs read pipes; for them, the list of all leases would be a waste.
        if self.on_terminal(parsed_args):
            self._warn_of_duplicate_names(created)
        return self.created(self.settled(created, parsed_args, sent), parsed_args)

    def _warn_of_duplicate_names(self, created: Record) -> None:
        """Warn if the project has other leases with the same name, which commands need ids for."""
        try:
            leases = self.manager().list()
        except (exception.BlazarClientException, ksa_exceptions.ClientException):
            return
        same = [each["id"] for each in leases if _has_same_name(each, created)]
        if same:
            self.print_to_stderr(
                _("Warning: %(count)d other lease(s) have the name %(name)r; use ids in commands")
                % {"count": len(same), "name": created["name"]}
            )
