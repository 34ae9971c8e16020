"""Commands for hosts and their resource properties."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from blazarclient import command, registering, terminal
from blazarclient.base import Record, Records
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import capabilities, host_options

HOST_ID_PATTERN = r"^[0-9]+$"
"""Pattern of a whole host id."""


class _HostCommand(command.ReservationCommand):
    resource = "host"
    name_key = "hypervisor_hostname"
    id_pattern = HOST_ID_PATTERN


class ListHosts(_HostCommand, command.ListCommand):
    """List hosts that can be reserved."""

    plural = _("hosts")
    has_extra_keys = True
    list_columns = ("id", "hypervisor_hostname", "vcpus", "memory_mb", "local_gb")
    sort_by = "hypervisor_hostname"


class ShowHost(_HostCommand, command.ShowCommand):
    """Show a host."""


class CreateHost(_HostCommand, command.CreateCommand):
    """Register one or more hypervisors as hosts that can be reserved."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        capabilities.add_extra(parser, _("an extra capability (repeatable)"))
        host_options.add_bulk_options(parser)
        self._refuse = parser.error
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the hypervisor to *parser*."""
        parser.add_argument("name", metavar="HOST", nargs="?", help=_("host name or id of the hypervisor"))

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code, which is 1 if a host could not be registered."""
        problem = host_options.conflict(parsed_args)
        if problem:
            self._refuse(problem)
        return super().run(parsed_args)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new host, or of the result of a bulk registration."""
        if parsed_args.name is None:
            return self._create_many(parsed_args)
        values = {"name": parsed_args.name} | capabilities.given(parsed_args)
        if parsed_args.dry_run:
            self.print_to_stderr(_("Nothing was sent. The request would be a POST to /os-hosts with:"))
            return self.columns_in_utc(values, parsed_args)
        return self.created(self.manager().create(**values), parsed_args)

    def _create_many(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        selected = host_options.selected_hosts(parsed_args, self.app)
        known = {each["hypervisor_hostname"] for each in self.manager().list()}
        skipped = [each for each in selected if each in known]
        hosts = {
            name: {**values, **capabilities.given(parsed_args)}
            for name, values in selected.items()
            if name not in known
        }
        if not selected:
            self.print_to_stderr(_("No hosts found."))
        if parsed_args.dry_run:
            self.print_to_stderr(_("Nothing was sent. %d host(s) would be registered:") % len(hosts))
            requested = [{**values, "name": name} for name, values in hosts.items()]
            return self.columns_in_utc({"hosts": requested, "skipped": skipped}, parsed_args)
        manager = self.manager()
        outcome = registering.register(
            hosts,
            lambda name, values: manager.create(**{**values, "name": name}),
            parallel=parsed_args.parallel,
            print_progress=self.print_to_stderr,
        )
        self.exit_code = 1 if outcome.failed else 0
        self.print_to_stderr(
            _("%(registered)d host(s) registered, %(skipped)d already registered, %(failed)d failed")
            % {
                "registered": len(outcome.registered),
                "skipped": len(skipped),
                "failed": len(outcome.failed),
            }
        )
        return self.columns_in_utc(
            {
                "registered": sorted(outcome.registered, key=terminal.natural),
                "skipped": skipped,
                "failed": [{"name": name, "error": error} for name, error in outcome.failed.items()],
            },
            parsed_args,
        )


class UpdateHost(_HostCommand, capabilities.SetCapabilities):
    """Set extra capabilities of a host."""


class SetHost(UpdateHost):
    """Set extra capabilities of a host."""

    deprecated = True


class UnsetAttributesHost(_HostCommand, capabilities.UnsetCapabilities):
    """Remove extra capabilities of a host."""


class DeleteHost(_HostCommand, command.DeleteCommand):
    """Unregister hosts, so that they can no longer be reserved."""


class ListHostProperties(_HostCommand, command.ListCommand):
    """List resource properties, which requirements on hosts can use."""

    plural = _("resource properties")
    sort_by = "property"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--detail", action="store_true", help=_("also show visibility and values"))
        parser.add_argument(
            "--all", action="store_true", help=_("include private properties; operators only")
        )
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the default columns."""
        return ("property", "private", "property_values") if parsed_args.detail else ("property",)

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the properties."""
        found: Records = self.manager().list_properties(detail=parsed_args.detail, all=parsed_args.all)
        return found


class ShowHostProperty(_HostCommand, command.ShowCommand):
    """Show a resource property and its values."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the property to *parser*."""
        _add_property(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        return self.columns_of(self.manager().get_property(parsed_args.property_name), parsed_args)


class UpdateHostProperty(_HostCommand, command.UpdateCommand):
    """Make a resource property private or public."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        group = parser.add_mutually_exclusive_group(required=True)
        group.add_argument(
            "--private", action="store_true", help=_("make the property visible to operators only")
        )
        group.add_argument("--public", action="store_true", help=_("make the property visible to all users"))
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the property to *parser*."""
        _add_property(parser)

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Change the visibility and return the property."""
        found: Record = self.manager().set_property(parsed_args.property_name, private=parsed_args.private)
        return found

    def success_message(self, parsed_args: argparse.Namespace) -> str:
        """Return the message about the change."""
        names = {"resource": self.resource, "name": parsed_args.property_name}
        return _("Updated %(resource)s property: %(name)s") % names


class ListHostCapabilities(ListHostProperties):
    """List resource properties, which requirements on hosts can use."""

    deprecated = True


class ShowHostCapability(ShowHostProperty):
    """Show a resource property and its values."""

    deprecated = True


class UpdateHostCapability(UpdateHostProperty):
    """Make a resource property private or public."""

    deprecated = True


def _add_property(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("property_name", metavar="PROPERTY_NAME", help=_("name of a resource property"))
