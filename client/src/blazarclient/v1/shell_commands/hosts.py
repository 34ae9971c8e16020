"""Commands about hosts and their resource properties."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _

HOST_ID_PATTERN = r"[0-9]+"
"""What an id of a host looks like, from its first to its last character."""


class _OfAHost(command.ReservationCommand):
    resource = "host"
    name_key = "hypervisor_hostname"
    id_pattern = HOST_ID_PATTERN


class ListHosts(_OfAHost, command.ListCommand):
    """List hosts that can be reserved."""

    list_columns = ("id", "hypervisor_hostname", "vcpus", "memory_mb", "local_gb")
    sort_by = "hypervisor_hostname"


class ShowHost(_OfAHost, command.ShowCommand):
    """Show a host."""


class CreateHost(_OfAHost, command.CreateCommand):
    """Register a hypervisor as a host that can be reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        _add_extra(parser, "<key>=<value>", _("an extra capability (repeat it for several)"))
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know the hypervisor."""
        parser.add_argument("name", metavar="HOST", help=_("host name or id of the hypervisor"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new host."""
        values = {"name": parsed_args.name} | _extra(parsed_args)
        return self.created(self.manager().create(**values), parsed_args)


class UpdateHost(_OfAHost, command.UpdateCommand):
    """Set extra capabilities of a host."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        _add_extra(parser, "<key>=<value>", _("an extra capability to set (repeat it for several)"))
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Set them, and return the host."""
        return _update(self, parsed_args, _extra(parsed_args))


class SetHost(UpdateHost):
    """Set extra capabilities of a host."""

    deprecated = True


class UnsetAttributesHost(_OfAHost, command.UpdateCommand):
    """Remove extra capabilities of a host."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        _add_extra(parser, "<key>", _("an extra capability to remove (repeat it for several)"))
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Remove them, and return the host."""
        return _update(self, parsed_args, dict.fromkeys(parsed_args.extra))


UnsetAttributeHost = UnsetAttributesHost


class DeleteHost(_OfAHost, command.DeleteCommand):
    """Give hosts back to ordinary use."""


class ListHostProperties(_OfAHost, command.ListCommand):
    """List the resource properties that hosts can be asked for by."""

    sort_by = "property"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--detail", action="store_true", help=_("show who sees them, and their values"))
        parser.add_argument("--all", action="store_true", help=_("list private ones, too; for operators"))
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns shown if nobody names others."""
        return ("property", "private", "property_values") if parsed_args.detail else ("property",)

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the properties."""
        found: Records = self.manager().list_properties(detail=parsed_args.detail, all=parsed_args.all)
        return found


class ShowHostProperty(_OfAHost, command.ShowCommand):
    """Show a resource property and the values that hosts have for it."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know the property."""
        _add_property(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        return self.columns_of(self.manager().get_property(parsed_args.property_name), parsed_args)


class UpdateHostProperty(_OfAHost, command.UpdateCommand):
    """Make a resource property private or public."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        group = parser.add_mutually_exclusive_group(required=True)
        group.add_argument("--private", action="store_true", help=_("only operators see it"))
        group.add_argument("--public", action="store_true", help=_("everybody sees it"))
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know the property."""
        _add_property(parser)

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Make it so, and return the property."""
        found: Record = self.manager().set_property(parsed_args.property_name, private=parsed_args.private)
        return found

    def done(self, parsed_args: argparse.Namespace) -> str:
        """Return the line that says what was done."""
        return _("Updated host property: %s") % (parsed_args.property_name,)


class ListHostCapabilities(ListHostProperties):
    """List the resource properties that hosts can be asked for by."""

    deprecated = True


class ShowHostCapability(ShowHostProperty):
    """Show a resource property and the values that hosts have for it."""

    deprecated = True


class UpdateHostCapability(UpdateHostProperty):
    """Make a resource property private or public."""

    deprecated = True


def _add_property(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("property_name", metavar="PROPERTY_NAME", help=_("name of a resource property"))


def _add_extra(parser: argparse.ArgumentParser, form: str, text: str) -> None:
    parser.add_argument("--extra", metavar=form, action="append", default=[], help=text)


def _extra(parsed_args: argparse.Namespace) -> dict[str, str]:
    """Return the extra capabilities; one without ``=`` is empty, and the last of several wins."""
    parts = (each.partition("=") for each in parsed_args.extra)
    return {key: value for key, _separator, value in parts}


def _update(it: _OfAHost, parsed_args: argparse.Namespace, values: Record) -> Record:
    if not values:
        raise exception.CommandError(_("There is nothing to change: give --extra"), code=400)
    changed: Record = it.manager().update(it.find(parsed_args.name_or_id), values)
    return changed
