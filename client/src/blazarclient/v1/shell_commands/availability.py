"""The command that searches for free times."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

from blazarclient import dates, exception, refusals, regions, reservations
from blazarclient.base import Record, Records
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import lease_options
from blazarclient.v1.shell_commands.lease_commands import RequestCommand
from blazarclient.v1.shell_commands.region_commands import RegionsCommand

_DEFAULT_LIMIT = 5
_HOSTS = re.compile(r"(\d+)(?:-(\d+))?")


class SearchAvailability(RegionsCommand, RequestCommand):
    """Show when hosts, or the reservations of a lease, are free; nothing is reserved."""

    resource = "availability"
    plural = _("free times")
    list_columns = ("start_date", "end_date", "latest_start_date", "amounts")
    sort_by = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "requirement",
            nargs="?",
            metavar="<requirement>",
            help=_(
                "requirement for hosts, in quotes: 'gpu=a100,memory_mb>=65536'. Without it and "
                "--reservation: any host"
            ),
        )
        parser.add_argument("--hosts", metavar="<n or n-m>", help=_("number of hosts, default 1"))
        lease_options.add_reservations(
            parser, "--reservation", "reservations", _("a reservation, as for lease create")
        )
        parser.add_argument(
            "--prefer",
            metavar="<requirement>",
            action="append",
            default=[],
            help=_(
                "preferred requirement for the hosts: 'gpu=h100'. Repeatable, most important "
                "first; times at which all are met come first"
            ),
        )
        lease_options.add_groupings(parser)
        parser.add_argument(
            "--duration", metavar="<duration>", required=True, help=_("length of the lease: 8h, 1d12h, 2w")
        )
        parser.add_argument(
            "--min-duration",
            metavar="<duration>",
            help=_("show the longest free times, from this length up to --duration"),
        )
        parser.add_argument(
            "--after", metavar="<date>", help=_("earliest start, default now; forms: %s") % dates.FORMS
        )
        parser.add_argument(
            "--before", metavar="<date>", help=_("latest end, default 90 days after the earliest start")
        )
        parser.add_argument(
            "--most",
            action="store_true",
            help=_("rank by the number of resources instead of the earliest start"),
        )
        parser.add_argument("--limit", type=int, metavar="<n>", help=_("number of free times, default 5"))
        return parser

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the time slots, each with the additional key ``amounts``."""
        reader = self.date_reader()
        asked = self._reservations(parsed_args)
        options = {
            "min_duration": parsed_args.min_duration,
            "after": reader.read("after", parsed_args.after) if parsed_args.after else None,
            "before": reader.read("before", parsed_args.before) if parsed_args.before else None,
            "most": parsed_args.most,
            "limit": parsed_args.limit,
        }
        found = self.answers(
            parsed_args, lambda client: client.availability.search(asked, parsed_args.duration, **options)
        )
        if not all(each["complete"] for each in found.values()):
            self.print_to_stderr(_("The service stopped searching; there may be better times."))
        for answer in found.values():
            for summary in refusals.summaries(answer):
                self.print_to_stderr(_("Reason: %s") % summary)
        return [each | {"amounts": _amounts(each)} for each in _ranked(found, parsed_args)]

    def _reservations(self, parsed_args: argparse.Namespace) -> Records:
        asked = [reservations.to_create(each) for each in parsed_args.reservations]
        self.name_networks_by_id(asked)
        if parsed_args.requirement is not None or parsed_args.hosts is not None or not asked:
            asked.append(_hosts(parsed_args.requirement, parsed_args.hosts or "1"))
        elif parsed_args.prefer:
            raise exception.CommandError(_("--prefer is for hosts: add --hosts, or a requirement"), code=400)
        if parsed_args.prefer:
            asked[-1]["prefer"] = parsed_args.prefer
        groupings = {"same": parsed_args.same, "spread": parsed_args.spread}
        return list(reservations.grouped(asked, groupings))


def _ranked(found: Mapping[str, Record], parsed_args: argparse.Namespace) -> Records:
    """Return the time slots of all regions, best first; those of one service in its order."""
    if parsed_args.region is None:
        return [each for answer in found.values() for each in answer["slots"]]
    by = "longest" if parsed_args.min_duration else "most" if parsed_args.most else "earliest"
    return regions.ranked(found, by=by, limit=parsed_args.limit or _DEFAULT_LIMIT)


def _hosts(requirement: str | None, number: str) -> Record:
    """Return the reservation of a number of hosts, or of a range of numbers."""
    found = _HOSTS.fullmatch(number)
    if found is None:
        raise exception.CommandError(
            _("--hosts: %r is not a number such as 2, or a range such as 2-4") % number
        )
    least, most = int(found[1]), int(found[2] or found[1])
    return {
        "resource_type": "physical:host",
        "min": least,
        "max": most,
        "hypervisor_properties": "",
        "resource_properties": requirement or "",
    }


def _amounts(slot: Record) -> str:
    return ", ".join(map(_amount, slot["reservations"]))


def _amount(found: Record) -> str:
    """Return a number of resources and, in parentheses, the values for ``same`` and ``spread``."""
    values = [
        f"{group['property']}={each['value']}" + (f": {each['amount']}" if len(group["values"]) > 1 else "")
        for group in found.get("groups", ())
        for each in group["values"]
    ]
    details = f" ({', '.join(values)})" if values else ""
    return f"{found['amount']} {found['resource_type']}{details}"
