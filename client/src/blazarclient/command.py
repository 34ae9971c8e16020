"""Base classes of commands: client, lookup by name, output, errors.

Each command is a class that both ``blazar`` and ``openstack reservation`` use. Other distributions may
derive commands from these classes.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cliff import command, lister, show
from keystoneauth1 import exceptions as ksa_exceptions

from blazarclient import advice, clock, columns, exception, rendering, terminal, utils
from blazarclient.base import Record, Records
from blazarclient.i18n import _

UUID_PATTERN = utils.UUID
"""Pattern of a whole lease id."""
ANY_PATTERN = r".*"
"""Pattern of a whole id of resources without a name: everything is an id."""


class ReservationCommand(command.Command):
    """Base of all commands.

    Attributes:
        resource: Name of the manager in the client, also used in messages.
        name_key: Key of the resource's name.
        id_pattern: Pattern of a whole id.
    """

    auth_required = True
    resource = "lease"
    name_key = "name"
    id_pattern = UUID_PATTERN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, which refuses abbreviated options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        return parser

    def get_client(self) -> Any:
        """Return the client of the program that runs this command."""
        app: Any = self.app
        manager = getattr(app, "client_manager", None)
        return app.client if manager is None else manager.reservation

    def manager(self) -> Any:
        """Return the manager of this command's resource."""
        return getattr(self.get_client(), self.resource)

    def find(self, name_or_id: str) -> str:
        """Return the id of the resource with a name or id.

        Raises:
            NotFound: No resource has the name.
            NoUniqueMatch: More than one resource has the name.
        """
        return utils.find_resource_id_by_name_or_id(
            self.get_client(), self.resource, name_or_id, self.name_key, self.id_pattern
        )

    def print_to_stderr(self, message: str) -> None:
        """Print a line to standard error, which never contains data."""
        print(message, file=self.app.stderr)

    def print_to_stdout(self, message: str) -> None:
        """Print a line to standard output."""
        print(message, file=self.app.stdout)

    def on_terminal(self, parsed_args: argparse.Namespace) -> terminal.Terminal | None:
        """Return the terminal that the table is printed to, or None for other formats and destinations."""
        if parsed_args.formatter != "table":
            return None
        return terminal.of(self.app.stdout, clock.local_zone())

    @contextmanager
    def coloured_output(self, parsed_args: argparse.Namespace) -> Iterator[None]:
        """Colour the table that is printed inside this context, if it is printed to a terminal."""
        screen, stdout = self.on_terminal(parsed_args), self.app.stdout
        if screen is None:
            yield
            return
        self.app.stdout = table = io.StringIO()
        try:
            yield
        finally:
            self.app.stdout = stdout
        stdout.write(screen.coloured(table.getvalue()))

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code; complete the messages of errors."""
        try:
            code: int = super().run(parsed_args)
            return code
        except exception.BlazarClientException as error:
            error.args = (advice.explain(error),)
            raise
        except ksa_exceptions.ClientException as error:
            line = advice.explain_transport_error(error)
            if line is None:
                raise
            raise exception.CommandError(line) from error


class ListCommand(ReservationCommand, lister.Lister):
    """Base of commands that list.

    Attributes:
        list_columns: Default columns, which are keys of the listed objects.
        sort_by: Default sort key.
        plural: Name of the listed objects, in the plural.
        has_extra_keys: Whether the objects may have any key, as extra capabilities are keys.
    """

    plural = "leases"
    has_extra_keys = False
    list_columns: tuple[str, ...] = ()
    sort_by = "id"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with ``--sort-by``."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--sort-by",
            metavar="<column>[:asc|:desc],...",
            default=self.sort_by,
            help=_("sort keys, default %s; an empty string keeps the order of the service") % self.sort_by,
        )
        return parser

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the objects to list."""
        records: Records = self.manager().list()
        return records

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the default columns."""
        return self.list_columns

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Any]]:
        """Return the columns and the rows."""
        screen = self.on_terminal(parsed_args)
        shown = self.columns(parsed_args)
        records = columns.ordered(
            self.fetch(parsed_args),
            parsed_args.sort_by,
            shown,
            is_natural=screen is not None,
            accepts_any=self.has_extra_keys,
        )
        records = records if screen is None else screen.rows(records)
        if parsed_args.columns:
            shown = columns.chosen(parsed_args.columns, shown, records)
        form = parsed_args.formatter
        return shown, [tuple(rendering.list_cell(each.get(key), form) for key in shown) for each in records]

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[Any]]
    ) -> int:
        """Print the rows; for an empty table, print a message to standard error."""
        rows = list(data)
        if not rows and parsed_args.formatter == "table" and not parsed_args.print_empty:
            self.print_to_stderr(_("No %s found.") % self.plural)
            return 0
        with self.coloured_output(parsed_args):
            code: int = super().produce_output(parsed_args, column_names, rows)
        return code


class ShowCommand(ReservationCommand, show.ShowOne):
    """Base of commands that show one object."""

    exit_code = 0

    def columns_of(
        self, record: Record, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the sorted keys of *record*, and its values for the output format."""
        screen = self.on_terminal(parsed_args)
        return self.columns_in_utc(record if screen is None else screen.localized(record), parsed_args)

    def columns_in_utc(
        self, record: Record, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the same as :meth:`columns_of`, but with unchanged dates also on a terminal."""
        form = parsed_args.formatter
        keys = sorted(record)
        return keys, [rendering.cell(record[key], form, key) for key in keys]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with the positional argument."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        self.add_positional(parser)
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the name or id of the object to *parser*."""
        add_name_or_id(parser, self.resource)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        return self.columns_of(self.manager().get(self.find(parsed_args.name_or_id)), parsed_args)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Sequence[Any]
    ) -> int:
        """Print the object."""
        with self.coloured_output(parsed_args):
            code: int = super().produce_output(parsed_args, column_names, data)
        return code

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code."""
        return super().run(parsed_args) or self.exit_code


class CreateCommand(ShowCommand):
    """Base of commands that create an object and show it."""

    def created(
        self, record: Record, parsed_args: argparse.Namespace, resource: str | None = None
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Print that *record*, by default of this command's resource, was created; return columns and values.

        The message goes to standard error if the output format is for programs.
        """
        message = _("Created a new %s:") % (resource or self.resource)
        if parsed_args.formatter in rendering.HUMAN:
            self.print_to_stdout(message)
        else:
            self.print_to_stderr(message)
        return self.columns_of(record, parsed_args)


class UpdateCommand(ShowCommand):
    """Base of commands that change an object; they print a message or, with a format, the object."""

    is_quiet = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, without a default format."""
        parser = super().get_parser(prog_name)
        for action in parser._actions:
            if action.dest == "formatter":
                action.default = None
                action.help = _("print the changed object in this format instead of a message")
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Change the object and return it."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the changed object."""
        return self.columns_of(self.change(parsed_args), parsed_args)

    def success_message(self, parsed_args: argparse.Namespace) -> str:
        """Return the message about the change."""
        return _("Updated %(resource)s: %(name)s") % {
            "resource": self.resource,
            "name": parsed_args.name_or_id,
        }

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code."""
        self.is_quiet = parsed_args.formatter is None and not parsed_args.columns
        parsed_args.formatter = parsed_args.formatter or "table"
        return super().run(parsed_args)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Sequence[Any]
    ) -> int:
        """Print the message or the object."""
        if self.is_quiet:
            self.print_to_stdout(self.success_message(parsed_args))
            return 0
        code: int = super().produce_output(parsed_args, column_names, data)
        return code


class DeleteCommand(ReservationCommand):
    """Base of commands that delete objects; if one cannot be deleted, they continue with the others."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with the names or ids of the objects."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        add_name_or_id(parser, self.resource, nargs="+")
        parser.add_argument(
            "--ignore-not-found",
            action="store_true",
            help=_("succeed if a resource does not exist"),
        )
        return parser

    def delete(self, found: str, parsed_args: argparse.Namespace) -> None:
        """Delete the object with the id *found*."""
        self.manager().delete(found)

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Return 0 if all objects were deleted, else 1."""
        names = parsed_args.name_or_id
        if len(names) == 1:
            self._delete(names[0], parsed_args)
            return 0
        return max([self._try_to_delete(each, parsed_args) for each in names])

    def _try_to_delete(self, name_or_id: str, parsed_args: argparse.Namespace) -> int:
        try:
            self._delete(name_or_id, parsed_args)
        except exception.BlazarClientException as error:
            self.print_to_stderr(f"{name_or_id}: {advice.explain(error)}")
            return 1
        return 0

    def _delete(self, name_or_id: str, parsed_args: argparse.Namespace) -> None:
        try:
            self.delete(self.find(name_or_id), parsed_args)
        except exception.NotFound:
            if not parsed_args.ignore_not_found:
                raise
            self.print_to_stderr(_("%(resource)s not found: %(name)s") % self._names(name_or_id))
        else:
            self.print_deleted(name_or_id, parsed_args)

    def print_deleted(self, name_or_id: str, parsed_args: argparse.Namespace) -> None:
        """Print that the object was deleted."""
        self.print_to_stdout(_("Deleted %(resource)s: %(name)s") % self._names(name_or_id))

    def _names(self, name_or_id: str) -> Mapping[str, str]:
        return {"resource": self.resource, "name": name_or_id}


def add_name_or_id(parser: argparse.ArgumentParser, resource: str, **more: Any) -> None:
    """Add the name or id of a resource to *parser*."""
    parser.add_argument(
        "name_or_id", metavar=resource.upper(), help=_("name or id of a %s") % resource, **more
    )


def present() -> tuple[Any, Any]:
    """Return the current time and the user's time zone, as arguments of functions in ``dates``."""
    return clock.now(), clock.local_zone()
