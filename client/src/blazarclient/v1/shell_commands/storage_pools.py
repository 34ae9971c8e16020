"""Commands for storage pools and their resource properties."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, exception
from blazarclient.base import Record
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import capabilities, hosts


class _StoragePoolCommand(command.ReservationCommand):
    resource = "storage_pool"


class ListStoragePools(_StoragePoolCommand, command.ListCommand):
    """List storage pools whose capacity can be reserved."""

    plural = _("storage pools")
    has_extra_keys = True
    list_columns = ("id", "name", "amounts", "reservable")
    sort_by = "name"


class ShowStoragePool(_StoragePoolCommand, command.ShowCommand):
    """Show a storage pool, by its id or its name in Cinder."""


class CreateStoragePool(_StoragePoolCommand, command.CreateCommand):
    """Register a storage pool of Cinder, so that its capacity can be reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        _add_changes(parser, _("an extra capability (repeatable)"))
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the name of the pool to *parser*."""
        parser.add_argument("name", metavar="NAME", help=_("name of the pool in Cinder, host@backend#pool"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new pool."""
        return self.created(self.manager().create(parsed_args.name, **_changes(parsed_args)), parsed_args)


class UpdateStoragePool(_StoragePoolCommand, command.UpdateCommand):
    """Change the capacity or the extra capabilities of a storage pool that is not reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        _add_changes(parser, _("an extra capability to set (repeatable)"))
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Change the pool and return it."""
        return _update(self, parsed_args, _changes(parsed_args))


class UnsetStoragePool(_StoragePoolCommand, command.UpdateCommand):
    """Remove extra capabilities of a storage pool that is not reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        text = _("an extra capability to remove (repeatable)")
        capabilities.add_extra(parser, text, "<key>")
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Remove the capabilities and return the pool."""
        return _update(self, parsed_args, dict.fromkeys(parsed_args.extra))


class DeleteStoragePool(_StoragePoolCommand, command.DeleteCommand):
    """Unregister storage pools, so that they can no longer be reserved."""


class ListStoragePoolProperties(_StoragePoolCommand, hosts.ListHostProperties):
    """List resource properties, which requirements on storage pools can use."""


class ShowStoragePoolProperty(_StoragePoolCommand, hosts.ShowHostProperty):
    """Show a resource property of storage pools and its values."""


class UpdateStoragePoolProperty(_StoragePoolCommand, hosts.UpdateHostProperty):
    """Make a resource property of storage pools private or public."""


def _add_changes(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument(
        "--gibibytes", metavar="GIB", type=int, help=_("the capacity that can be reserved, in GiB")
    )
    sole_use = parser.add_mutually_exclusive_group()
    sole_use.add_argument(
        "--sole-use",
        action="store_true",
        default=None,
        help=_("allow reservations of the whole pool; it must have no volumes of other users"),
    )
    sole_use.add_argument(
        "--no-sole-use",
        dest="sole_use",
        action="store_false",
        default=None,
        help=_("allow only reservations of parts of the pool"),
    )
    capabilities.add_extra(parser, text)


def _changes(parsed_args: argparse.Namespace) -> Record:
    """Return the keys of a request."""
    own = {"gibibytes": parsed_args.gibibytes, "sole_use": parsed_args.sole_use}
    return capabilities.given(parsed_args) | {key: value for key, value in own.items() if value is not None}


def _update(pool_command: _StoragePoolCommand, parsed_args: argparse.Namespace, values: Record) -> Record:
    if not values:
        raise exception.CommandError(_("No change is given"), code=400)
    changed: Record = pool_command.manager().update(pool_command.find(parsed_args.name_or_id), values)
    return changed
