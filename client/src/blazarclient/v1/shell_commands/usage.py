"""The command that shows how reserved resources were used."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from blazarclient import clock, command, dates, exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _
from blazarclient.v1.shell_commands.lease_commands import RequestCommand

_HOURS: Final = ("reserved", "in_use", "idle", "no_show", "lost", "unknown")
_BY: Final = ("project", "user", "zone", "host")
_DIGITS: Final = 2
"""Digits of hours in tables; other formats have all."""


class ShowUsage(RequestCommand, command.ListCommand):
    """Show for how many hours resources were reserved, and how they were used."""

    resource = "usage"
    plural = _("usage in this period")
    list_columns = ("value", "unit", *_HOURS)
    sort_by = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        groups = parser.add_mutually_exclusive_group()
        groups.add_argument(
            "--by", choices=_BY, default="project", help=_("one row for each of these, default project")
        )
        groups.add_argument(
            "--property", metavar="<property>", help=_("one row for each of its values, such as rack")
        )
        start = parser.add_mutually_exclusive_group()
        start.add_argument(
            "--from", dest="start", metavar="<date>", help=_("start of the period; forms: %s") % dates.FORMS
        )
        start.add_argument(
            "--days",
            type=int,
            default=30,
            metavar="<n>",
            help=_("length of the period without --from, default 30"),
        )
        parser.add_argument("--to", dest="end", metavar="<date>", help=_("end of the period, default now"))
        parser.add_argument(
            "--step", metavar="<duration>", help=_("one row for each part of the period: 1d, 12h, 1w")
        )
        parser.add_argument(
            "--resource-type", metavar="<type>", help=_("count only reservations of this type")
        )
        parser.add_argument(
            "--project", metavar="<id>", help=_("count only this project, for operators; default: all")
        )
        parser.add_argument(
            "--resource-classes",
            action="store_true",
            help=_("also show hours of resource classes, such as VCPU"),
        )
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the default columns: those of steps and of resource classes only if they are requested."""
        group, unit, *hours = self.list_columns
        steps = ("start_date", "end_date") if parsed_args.step else ()
        classes = ("resource_class",) if parsed_args.resource_classes else ()
        return (group, *steps, unit, *classes, *hours)

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return a row for each group and unit, and for each step if they are requested."""
        found = self.manager().get(
            "property" if parsed_args.property else parsed_args.by,
            after=self._start(parsed_args),
            before=self._date("to", parsed_args.end),
            step=parsed_args.step,
            property=parsed_args.property,
            resource_type=parsed_args.resource_type,
            project_id=parsed_args.project,
        )
        since = found["complete_since"]
        if since is not None and since > found["from"]:
            message = _("Leases that ended or changed before %s UTC are not included.")
            self.print_to_stderr(message % since)
        is_table = parsed_args.formatter == "table"
        return [
            {key: _rounded(value) if is_table else value for key, value in row.items()}
            for row in _rows(found)
            if parsed_args.resource_classes or row["resource_class"] is None
        ]

    def _start(self, parsed_args: argparse.Namespace) -> str | datetime | None:
        if parsed_args.start:
            return self._date("from", parsed_args.start)
        if parsed_args.days < 1:
            raise exception.CommandError(_("--days: must be at least 1"))
        end = dates.parse(parsed_args.end, *command.present()) if parsed_args.end else clock.now()
        try:
            return end - timedelta(days=parsed_args.days)
        except OverflowError as error:
            raise exception.CommandError(_("--days: reaches back before the year 1")) from error

    def _date(self, name: str, text: str | None) -> str | None:
        return None if text is None else self.date_reader().read(name, text)


def _rows(found: Record) -> Iterator[Record]:
    for group in found["groups"]:
        for amount in group["amounts"]:
            of_amount = {
                "value": group["value"],
                "unit": amount["unit"],
                "resource_class": amount["resource_class"],
            }
            if "steps" not in amount:
                yield {**of_amount, **amount["hours"]}
                continue
            for step, hours in zip(found["steps"], amount["steps"], strict=True):
                yield {**of_amount, **step, **hours}


def _rounded(value: Any) -> Any:
    return round(value, _DIGITS) if isinstance(value, float) else value
