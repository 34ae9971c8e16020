"""Extra capabilities of registered resources: the option, and commands that set and remove some."""

from __future__ import annotations

import argparse

from blazarclient import command, exception
from blazarclient.base import Record
from blazarclient.i18n import _


def add_extra(parser: argparse.ArgumentParser, text: str, form: str = "<key>=<value>") -> None:
    """Add the repeatable option for capabilities to *parser*."""
    parser.add_argument("--extra", metavar=form, action="append", default=[], help=text)


def given(parsed_args: argparse.Namespace) -> dict[str, str]:
    """Return the capabilities; without ``=`` the value is empty, and the last duplicate wins."""
    parts = (each.partition("=") for each in parsed_args.extra)
    return {key: value for key, _separator, value in parts}


class SetCapabilities(command.UpdateCommand):
    """Base of commands that set capabilities."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        add_extra(parser, _("an extra capability to set (repeatable)"))
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Set the capabilities and return the resource."""
        return _update(self, parsed_args, given(parsed_args))


class UnsetCapabilities(command.UpdateCommand):
    """Base of commands that remove capabilities."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        add_extra(parser, _("an extra capability to remove (repeatable)"), "<key>")
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Remove the capabilities and return the resource."""
        return _update(self, parsed_args, dict.fromkeys(parsed_args.extra))


def _update(update_command: command.UpdateCommand, parsed_args: argparse.Namespace, values: Record) -> Record:
    if not values:
        raise exception.CommandError(_("No change is given; --extra is required"), code=400)
    found = update_command.find(parsed_args.name_or_id)
    changed: Record = update_command.manager().update(found, values)
    return changed
