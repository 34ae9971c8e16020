"""The commands that show what can be reserved, and how much of it is free."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from blazarclient import chart, clock, exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _
from blazarclient.v1.shell_commands.region_commands import RegionsCommand

_LONGEST_DAYS = 366
_KINDS = ("type", "property", "zone", "limit", "quota")


class ShowCatalogue(RegionsCommand):
    """Show what can be reserved: types, properties with the number of resources, zones, limits, quotas."""

    resource = "catalogue"
    plural = _("things to reserve")
    list_columns = ("kind", "name", "value")
    sort_by = ""

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the parts of the catalogue as rows."""
        answers = self.answers(parsed_args, lambda client: client.catalogue.get())
        rows = [each | {"region": name} for name, found in answers.items() for each in _rows(found)]
        # The order of each kind is that of the service.
        return sorted(rows, key=lambda row: _KINDS.index(row["kind"]))


class ShowCalendar(RegionsCommand):
    """Show how many hosts are free in the next days, as a chart; in other formats, as numbers."""

    resource = "timeline"
    plural = _("resources")
    list_columns = ("value", "start_date", "end_date", "free", "total", "mine")
    sort_by = ""
    _found: Record

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "requirement",
            nargs="?",
            metavar="<requirement>",
            help=_("show only resources that satisfy it, in quotes: 'gpu=a100,memory_mb>=65536'"),
        )
        parser.add_argument(
            "--days", type=int, default=7, metavar="<n>", help=_("length of the period, default 7")
        )
        parser.add_argument("--group-by", metavar="<property>", help=_("one row for each of its values"))
        parser.add_argument(
            "--resource-type",
            metavar="<type>",
            default="physical:host",
            help=_("type of reservation, default physical:host"),
        )
        return parser

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the intervals of all groups."""
        if not 1 <= parsed_args.days <= _LONGEST_DAYS:
            raise exception.CommandError(_("--days: must be from 1 to %d") % _LONGEST_DAYS)
        before = clock.now() + timedelta(days=parsed_args.days)
        answers = self.answers(
            parsed_args,
            lambda client: client.timeline.get(
                parsed_args.resource_type,
                before=before,
                requirement=parsed_args.requirement,
                group_by=parsed_args.group_by,
            ),
        )
        self._found = _joined(answers)
        return [
            {**one, "region": name, "value": each["value"], "total": each["total"]}
            for name, found in answers.items()
            for each in found["groups"]
            for one in each["intervals"]
        ]

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[Any]]
    ) -> int:
        """Print the chart, or the numbers if another format or columns are requested."""
        if parsed_args.formatter != "table" or parsed_args.columns or not self._found["groups"]:
            return super().produce_output(parsed_args, column_names, data)
        levels = chart.levels_for(getattr(self.app.stdout, "encoding", None))
        for line in chart.draw(self._found, clock.local_zone(), levels):
            self.print_to_stdout(line)
        return 0


def _joined(answers: Mapping[str, Record]) -> Record:
    """Return one answer with the groups of all regions; with regions, their names are part of the values."""
    groups = [
        each | {"value": " ".join(filter(None, (name, _value(each["value"])))) or None}
        for name, found in answers.items()
        for each in found["groups"]
    ]
    start = min(found["from"] for found in answers.values())
    return {"from": start, "to": max(found["to"] for found in answers.values()), "groups": groups}


def _value(found: object) -> str:
    return "" if found is None else str(found)


def _rows(found: Record) -> Records:
    """Return the parts of a catalogue as rows."""
    rows = [("type", each["resource_type"], each["reservable"]) for each in found["resource_types"]]
    names = Counter(each["property"] for each in found["properties"])
    for each in _own_first(found["properties"]):
        # Resources of several collections may have properties of the same name.
        types = f" [{', '.join(each['resource_types'])}]" if names[each["property"]] > 1 else ""
        rows.append(("property", each["property"], f"{_values(each)}{types}"))
    rows += [("zone", each["name"], each["reservable"]) for each in found["availability_zones"]]
    named = {name: value for name, value in found["limits"].items() if name not in ("rules", "quotas")}
    rows += [("limit", name, value) for name, value in named.items()]
    # Services without usage rules do not list them.
    rows += [("rule", each["name"], each["summary"]) for each in found["limits"].get("rules", ())]
    rows += [("quota", each["name"], _quota(each)) for each in found["limits"]["quotas"]]
    return [{"kind": kind, "name": name, "value": value} for kind, name, value in rows]


def _own_first(properties: Records) -> Records:
    """Return properties that an operator has set before the built-in ones."""
    return sorted(properties, key=lambda each: bool(each["built_in"]))


def _values(found: Record) -> str:
    return ", ".join(f"{chart.label(each['value'])} ({each['reservable']})" for each in found["values"])


def _quota(found: Record) -> str:
    if found["limit"] is None:
        return str(found["used"])
    return _("%(used)s of %(limit)s") % found
