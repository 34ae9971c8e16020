"""What all commands have in common: the client, look-up by name, output, errors.

A command is one class, for ``blazar`` and for ``openstack reservation`` alike. Other distributions may
build theirs on these classes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cliff import command, lister, show

from blazarclient import clock, exception, rendering, utils
from blazarclient.base import Record, Records
from blazarclient.i18n import _

UUID_PATTERN = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
"""What an id of a lease looks like, from its first to its last character."""
ANY_PATTERN = r".*"
"""For resources that have no name: everything is an id."""


class ReservationCommand(command.Command):
    """Base of all commands.

    Attributes:
        resource: Which manager of the client it is about, and what messages call it.
        name_key: Under which key such a thing has its name.
        id_pattern: What an id looks like, from its first to its last character.
    """

    auth_required = True
    resource = "lease"
    name_key = "name"
    id_pattern = UUID_PATTERN

    def get_client(self) -> Any:
        """Return the client of the application that runs this command."""
        app: Any = self.app
        manager = getattr(app, "client_manager", None)
        return app.client if manager is None else manager.reservation

    def manager(self) -> Any:
        """Return the client's manager of this command's resource."""
        return getattr(self.get_client(), self.resource)

    def find(self, name_or_id: str) -> str:
        """Return the id of what a user calls by name or id.

        Raises:
            NotFound: Nothing has that name.
            NoUniqueMatch: Several have it.
        """
        return utils.find_resource_id_by_name_or_id(
            self.get_client(), self.resource, name_or_id, self.name_key, self.id_pattern
        )

    def tell(self, message: str) -> None:
        """Write a line to the standard error, where no program reads data."""
        print(message, file=self.app.stderr)

    def say(self, message: str) -> None:
        """Write a line to the standard output."""
        print(message, file=self.app.stdout)

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code; errors of the service say their status and the request."""
        try:
            code: int = super().run(parsed_args)
            return code
        except exception.BlazarClientException as error:
            error.args = (explain(error),)
            raise


class ListCommand(ReservationCommand, lister.Lister):
    """Base of commands that list.

    Attributes:
        list_columns: The columns shown if nobody asks for others, and the keys of what is listed.
        sort_by: The key by which rows are sorted if nobody asks for another.
    """

    list_columns: tuple[str, ...] = ()
    sort_by = "id"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with ``--sort-by``."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--sort-by",
            metavar="<column>[:asc|:desc],...",
            default=self.sort_by,
            help=_("keys by which rows are sorted, default %s; an empty one keeps the order of the service")
            % self.sort_by,
        )
        return parser

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return what is to be listed."""
        records: Records = self.manager().list()
        return records

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns shown if nobody names others."""
        return self.list_columns

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Any]]:
        """Return the columns and the rows."""
        records = sorted_by(self.fetch(parsed_args), parsed_args.sort_by, self.columns(parsed_args))
        columns = self.columns(parsed_args)
        if parsed_args.columns:
            columns = tuple(dict.fromkeys(parsed_args.columns))
            known = {key for each in records for key in each}.union(self.columns(parsed_args))
            for unknown in [each for each in columns if each not in known]:
                raise exception.CommandError(
                    _("There is no column %(name)r; there are: %(known)s")
                    % {"name": unknown, "known": ", ".join(sorted(known))}
                )
        form = parsed_args.formatter
        return columns, [
            tuple(rendering.list_cell(each.get(key), form) for key in columns) for each in records
        ]

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[Any]]
    ) -> int:
        """Print the rows; an empty table is a word on the standard error."""
        rows = list(data)
        if not rows and parsed_args.formatter == "table" and not parsed_args.print_empty:
            self.tell(_("There are none."))
            return 0
        code: int = super().produce_output(parsed_args, column_names, rows)
        return code


class ShowCommand(ReservationCommand, show.ShowOne):
    """Base of commands that show one object."""

    exit_code = 0

    def columns_of(
        self, record: Record, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the keys of *record*, sorted, and its values as the format shows them."""
        form = parsed_args.formatter
        keys = sorted(record)
        return keys, [rendering.cell(record[key], form, key) for key in keys]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with the name or id of what is shown."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        self.add_positional(parser)
        return parser

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Let *parser* know what is shown."""
        add_name_or_id(parser, self.resource)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        return self.columns_of(self.manager().get(self.find(parsed_args.name_or_id)), parsed_args)

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return the exit code."""
        return super().run(parsed_args) or self.exit_code


class CreateCommand(ShowCommand):
    """Base of commands that create an object and show it."""

    def created(self, record: Record, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Say that *record* is new, where it does no harm, and return what :meth:`columns_of` does."""
        message = _("Created a new %s:") % self.resource
        if parsed_args.formatter in rendering.HUMAN:
            self.say(message)
        else:
            self.tell(message)
        return self.columns_of(record, parsed_args)


class UpdateCommand(ShowCommand):
    """Base of commands that change an object: they say so in a line, or show it if a format is asked for."""

    is_quiet = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, in which no format is the default."""
        parser = super().get_parser(prog_name)
        for action in parser._actions:
            if action.dest == "formatter":
                action.default = None
                action.help = _("show what was changed, in this format; without, a line says that it was")
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Make the change and return the object as it is then."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values, of which the line takes no notice."""
        return self.columns_of(self.change(parsed_args), parsed_args)

    def done(self, parsed_args: argparse.Namespace) -> str:
        """Return the line that says what was done."""
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
        """Print the line or the object."""
        if self.is_quiet:
            self.say(self.done(parsed_args))
            return 0
        code: int = super().produce_output(parsed_args, column_names, data)
        return code


class DeleteCommand(ReservationCommand):
    """Base of commands that delete; what cannot be deleted does not keep the rest from being."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with the names or ids of what is deleted."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        add_name_or_id(parser, self.resource, nargs="+")
        parser.add_argument(
            "--ignore-not-found",
            action="store_true",
            help=_("take what is not there as deleted"),
        )
        return parser

    def delete(self, found: str, parsed_args: argparse.Namespace) -> None:
        """Delete what has the id *found*."""
        self.manager().delete(found)

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Return 0 if everything could be deleted, else 1."""
        names = parsed_args.name_or_id
        if len(names) == 1:
            self._delete(names[0], parsed_args)
            return 0
        return max([self._try_to_delete(each, parsed_args) for each in names])

    def _try_to_delete(self, name_or_id: str, parsed_args: argparse.Namespace) -> int:
        try:
            self._delete(name_or_id, parsed_args)
        except exception.BlazarClientException as error:
            self.tell(f"{name_or_id}: {explain(error)}")
            return 1
        return 0

    def _delete(self, name_or_id: str, parsed_args: argparse.Namespace) -> None:
        try:
            self.delete(self.find(name_or_id), parsed_args)
        except exception.NotFound:
            if not parsed_args.ignore_not_found:
                raise
            self.tell(_("There is no %(resource)s %(name)s") % self._names(name_or_id))
        else:
            self.report(name_or_id, parsed_args)

    def report(self, name_or_id: str, parsed_args: argparse.Namespace) -> None:
        """Say that it is deleted."""
        self.say(_("Deleted %(resource)s: %(name)s") % self._names(name_or_id))

    def _names(self, name_or_id: str) -> Mapping[str, str]:
        return {"resource": self.resource, "name": name_or_id}


def add_name_or_id(parser: argparse.ArgumentParser, resource: str, **more: Any) -> None:
    """Let *parser* take the name or id of a resource."""
    parser.add_argument(
        "name_or_id", metavar=resource.upper(), help=_("name or id of a %s") % resource, **more
    )


def explain(error: exception.BlazarClientException) -> str:
    """Return the text of an error, of the service's with its status and the id of the request."""
    request_id = error.kwargs.get("request_id")
    if "request_id" not in error.kwargs:
        return str(error)
    return f"{error} (HTTP {error.code}{', ' + request_id if request_id else ''})"


def sorted_by(records: Records, wanted: str, columns: Iterable[str]) -> Records:
    """Return *records* sorted by keys, the first one first, each with ``:desc`` for the other way round.

    Raises:
        CommandError: There is no such column.
    """
    known = {key for each in records for key in each}.union(columns)
    for each in reversed([each for each in wanted.split(",") if each]):
        key, _separator, direction = each.partition(":")
        if key not in known or direction not in ("", "asc", "desc"):
            raise exception.CommandError(_("Invalid sort option %s") % each)
        records = sorted(records, key=_sort_key(key), reverse=direction == "desc")
    return records


def _sort_key(key: str) -> Callable[[Record], tuple[bool, bool, Any]]:
    def of(record: Record) -> tuple[bool, bool, Any]:
        value = record.get(key)
        is_number = isinstance(value, int | float)
        return value is not None, not is_number, value if is_number or value is None else str(value)

    return of


def present() -> tuple[Any, Any]:
    """Return now and the user's time zone, as ``dates`` wants them."""
    return clock.now(), clock.local_zone()
