"""Commands for dongles: ``openstack reservation dongle …``, built on the client's base classes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from blazarclient import command
from blazarclient.base import Record, Records, many, one, path


class DongleManager:
    """The dongles of a service."""

    def __init__(self, client: Any) -> None:
        self._sender = client.lease.request_manager

    def list(self, sort_by: str | None = None) -> Records:
        """Return all dongles."""
        return many(self._sender.get("/dongles")[1], "dongles", sort_by)

    def get(self, dongle_id: str) -> Record:
        """Return a dongle."""
        return one(self._sender.get(path("dongles", dongle_id))[1], "dongle")

    def create(self, body: Mapping[str, str]) -> Record:
        """Register a dongle and return it."""
        return one(self._sender.post("/dongles", body=body)[1], "dongle")

    def update(self, dongle_id: str, body: Mapping[str, str]) -> Record:
        """Change a dongle and return it."""
        return one(self._sender.put(path("dongles", dongle_id), body=body)[1], "dongle")

    def delete(self, dongle_id: str) -> None:
        """Remove a dongle."""
        self._sender.delete(path("dongles", dongle_id))


class _DongleCommand(command.ReservationCommand):
    resource = "dongle"

    def manager(self) -> DongleManager:
        """Return the dongles of the service."""
        return DongleManager(self.get_client())

    def find(self, name_or_id: str) -> str:
        """Return the id of the dongle with this serial number or id."""
        found = [each["id"] for each in self.manager().list() if name_or_id in (each["id"], each["name"])]
        return str(found[0]) if found else name_or_id


class ListDongles(_DongleCommand, command.ListCommand):
    """List dongles."""

    plural = "dongles"
    list_columns = ("id", "name", "product", "drawer", "reservable")
    sort_by = "name"


class ShowDongle(_DongleCommand, command.ShowCommand):
    """Show a dongle, by its id or serial number."""


class CreateDongle(_DongleCommand, command.CreateCommand):
    """Register a dongle, so that it can be reserved."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the serial number, the product and the drawer to *parser*."""
        parser.add_argument("serial", metavar="SERIAL", help="the serial number")
        parser.add_argument("--product", metavar="PRODUCT", required=True, help="the product that it enables")
        parser.add_argument("--drawer", metavar="DRAWER", help="where it is kept")

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new dongle."""
        body = {"serial": parsed_args.serial, "product": parsed_args.product}
        if parsed_args.drawer:
            body["drawer"] = parsed_args.drawer
        return self.created(self.manager().create(body), parsed_args)


class DeleteDongle(_DongleCommand, command.DeleteCommand):
    """Remove dongles, so that they can no longer be reserved."""


class SetDongle(_DongleCommand, command.UpdateCommand):
    """Change the product or the drawer of a dongle that is not reserved."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the name and the changes to *parser*."""
        super().add_positional(parser)
        parser.add_argument("--product", metavar="PRODUCT", help="the product that it enables")
        parser.add_argument("--drawer", metavar="DRAWER", help="where it is kept")

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Change the dongle and return it."""
        given = {"product": parsed_args.product, "drawer": parsed_args.drawer}
        changes = {key: value for key, value in given.items() if value is not None}
        return self.manager().update(self.find(parsed_args.name_or_id), changes)
