"""Bases of commands that send reservations, and of those that wait for a lease."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from keystoneauth1 import exceptions as ksa_exceptions

from blazarclient import (
    advice,
    clock,
    cloud_names,
    command,
    durations,
    exception,
    lease_requests,
    refusals,
    waiting,
)
from blazarclient.base import Record, Records


class RequestCommand(command.ReservationCommand):
    """Base of commands that send dates and reservations."""

    def date_reader(self) -> lease_requests.DateReader:
        """Return the parser of dates."""
        return lease_requests.DateReader(*command.present(), echo=self.print_to_stderr)

    def name_networks_by_id(self, given: Records) -> None:
        """Replace names of networks in reservations by ids."""
        for each in given:
            if each.get("network_id"):
                each["network_id"] = cloud_names.find_network(self.app, each["network_id"])

    @contextmanager
    def explained(self, parsed_args: argparse.Namespace) -> Iterator[None]:
        """On a terminal, print the reasons and alternatives of a refusal inside this context."""
        try:
            yield
        except exception.BlazarClientException as refusal:
            if self.on_terminal(parsed_args):
                self.print_alternatives(refusal)
            raise

    def print_alternatives(self, refusal: exception.BlazarClientException) -> None:
        """Print why a lease was refused, and what is possible instead, which ``lease create`` can take."""
        for line in refusals.lines(refusal):
            self.print_to_stderr(line)
        if refusal.kwargs.get("alternatives"):
            refusals.keep(self.get_client(), refusal.kwargs["alternatives"])

    def explain_change(self, found: str, changes: Record) -> None:
        """Print why a change of a lease was refused, and what is possible instead.

        API 1.0 does not say why; a dry run of API 1.1 does.
        """
        try:
            self.get_client().lease.preview_update(found, changes)
        except exception.BlazarClientException as explained:
            for line in refusals.lines(explained, of_change=True):
                self.print_to_stderr(line)
        except ksa_exceptions.ClientException:
            return


class WaitCommand(RequestCommand):
    """Base of commands that can wait for a lease."""

    def wait_options(self, parsed_args: argparse.Namespace) -> waiting.WaitOptions:
        """Return the timeout, clock and progress output of a wait."""
        return waiting.WaitOptions(
            timeout=durations.parse_seconds(parsed_args.timeout) if parsed_args.timeout else None,
            now=clock.now,
            pause=clock.pause,
            progress=self.app.stderr,
        )


class ShowAfterWaitCommand(WaitCommand, command.ShowCommand):
    """Base of commands that show a lease, with ``--wait`` after it has settled."""

    def settled(self, lease: Record, parsed_args: argparse.Namespace, sent: Record) -> Record:
        """Return the lease; with ``--wait``, after it has reached a stable status.

        If the lease is in ERROR or the timeout has passed, the lease is returned too, but the exit code is 1.
        """
        if not parsed_args.wait:
            return lease
        try:
            return waiting.until_settled(
                lambda: self.manager().get(lease["id"]),
                self.wait_options(parsed_args),
                lease_requests.transitional_statuses(sent),
            )
        except (exception.LeaseInError, exception.WaitTimeout) as error:
            self.print_to_stderr(advice.explain(error))
            self.exit_code = 1
            found: Record = self.manager().get(lease["id"])
            return found
