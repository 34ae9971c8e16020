"""``blazar-manage plan``: a capacity plan from the data of the cloud."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Any, Final

from oslo_config import cfg

from blazar.booking.context import Context
from blazar.cmd.manage.rendering import json_text
from blazar.cmd.nova_conf import read_nova_conf
from blazar.domain.errors import InvalidParameter
from blazar.manager.plugins import load_usage_rules
from blazar.planning.document import Document, as_html, as_markdown
from blazar.planning.goals import Asked, Goal, flavor_named
from blazar.planning.plan import PlanRequest, make_plan
from blazar.planning.plan_document import SECTIONS, plan_document
from blazar.planning.reading import Grouping

MARKDOWN, JSON, HTML = "markdown", "json", "html"
_DAY: Final = timedelta(days=1)
_MOST_DAYS: Final = 3650
_SIZES: Final = {"servers": 10, "vcpus": 2, "memory_mb": 4096, "disk_gb": 20}


def add_parsers(parsers: Any) -> None:
    """Add the sub-command."""
    parser = parsers.add_parser("plan", help="plan reservable capacity from the data of the cloud")
    parser.add_argument("--goal", choices=[each.value for each in Goal], help="recommend a type for a goal")
    parser.add_argument("--flavor", help="name or id of the flavor of the servers; instead of their sizes")
    for key, default in _SIZES.items():
        option = "--" + key.replace("_", "-")
        text = "number of servers to reserve" if key == "servers" else "size of each server"
        parser.add_argument(option, type=int, metavar="N", help=f"{text}; {default}")
    parser.add_argument(
        "--days", type=int, default=7, metavar="N", help="for how long to reserve them, in days; 7"
    )
    add_periods(parser)
    parser.add_argument(
        "--demand",
        type=int,
        default=0,
        metavar="N",
        help="how many hosts you expect to be reserved at the same time; 0 for what is recorded alone",
    )
    parser.add_argument("--growth", type=float, default=0, metavar="PERCENT", help="assumed growth; 0")
    parser.add_argument(
        "--general-limit",
        type=float,
        default=80,
        metavar="PERCENT",
        help="how much of its capacity the general pool may use after hosts have left it; 80",
    )
    add_grouping(parser)
    parser.add_argument("--nova-conf", metavar="FILE", help="nova.conf of a nova-scheduler, to compare it")
    parser.add_argument(
        "--only",
        action="append",
        choices=SECTIONS,
        default=[],
        help="print only this section, not with -f json; repeatable",
    )
    add_document_format(parser)
    parser.set_defaults(run=lambda context, arguments: plan(with_rules(context), arguments))


def add_periods(parser: Any) -> None:
    """Add the options for the time that a command considers."""
    parser.add_argument(
        "--horizon-days", type=int, default=30, metavar="N", help="how far ahead bookings count, in days; 30"
    )
    parser.add_argument(
        "--history-days", type=int, default=90, metavar="N", help="how far back leases count, in days; 90"
    )


def add_grouping(parser: Any) -> None:
    """Add the options that say in which rack a host is, and of which type."""
    parser.add_argument(
        "--rack",
        metavar="PROPERTY",
        help="extra capability of hosts, or metadata key of aggregates, that names the rack; rack by default",
    )
    parser.add_argument(
        "--rack-aggregates", metavar="PATTERN", help="aggregates that are racks, such as 'rack-*'"
    )
    parser.add_argument(
        "--host-type",
        metavar="PROPERTY",
        help="extra capability that names the host type; the sizes by default",
    )


def add_document_format(parser: Any) -> None:
    """Add ``--format`` and ``--output``."""
    parser.add_argument(
        "-f", "--format", choices=(MARKDOWN, JSON, HTML), default=MARKDOWN, help=f"{MARKDOWN} by default"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")


def plan(context: Context, arguments: Any) -> int:
    """Print a plan; return 0.

    Raises:
        InvalidParameter: An argument is invalid; the message names it.
        CloudError: Nova or Placement cannot be read.
        OSError: The file cannot be written.
    """
    if arguments.only and arguments.format == JSON:
        raise InvalidParameter("--only", "JSON always has all parts")
    made = make_plan(
        context,
        PlanRequest(
            horizon=days(arguments, "horizon_days"),
            history=days(arguments, "history_days"),
            asked=_asked(context, arguments),
            grouping=grouping_of(arguments),
            goal=None if arguments.goal is None else Goal(arguments.goal),
            growth_percent=_percent(arguments, "growth"),
            expected_hosts=_expected(arguments.demand),
            general_limit_percent=_percent(arguments, "general_limit"),
            nova_conf=None if arguments.nova_conf is None else read_nova_conf(arguments.nova_conf),
        ),
    )
    show(arguments, made, plan_document(made).only(arguments.only))
    return 0


def show(arguments: Any, value: object, document: Document) -> None:
    """Print or write a result in the selected format: the value as JSON, or the document.

    Raises:
        OSError: The file cannot be written.
    """
    if arguments.format == JSON:
        text = json_text(jsonable(value))
    else:
        text = "\n".join(as_html(document) if arguments.format == HTML else as_markdown(document))
    if arguments.output:
        Path(arguments.output).write_text(f"{text}\n", encoding="utf-8")
    else:
        print(text)


def with_rules(context: Context) -> Context:
    """Return the context with the configured usage rules: some hosts may be for certain projects only."""
    return replace(context, rules=load_usage_rules(cfg.CONF, context.plugins.keys()))


def grouping_of(arguments: Any) -> Grouping:
    """Return how racks and host types are named."""
    return Grouping(
        rack_property=arguments.rack,
        rack_aggregates=arguments.rack_aggregates,
        kind_property=arguments.host_type,
    )


def days(arguments: Any, key: str) -> timedelta:
    """Return the duration of an option in days. Raises InvalidParameter."""
    number = getattr(arguments, key)
    if not 1 <= number <= _MOST_DAYS:
        raise InvalidParameter(_option(key), f"must be a number of days from 1 to {_MOST_DAYS}")
    return int(number) * _DAY


def jsonable(value: Any) -> Any:
    """Return a value as JSON; durations are in seconds, under names that end with it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _jsonable_object(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [jsonable(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    return value


def _jsonable_object(value: Any) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for each in dataclasses.fields(value):
        part = getattr(value, each.name)
        if isinstance(part, timedelta):
            found[f"{each.name}_seconds"] = part.total_seconds()
        else:
            found[each.name] = jsonable(part)
    return found


def _expected(number: int) -> int:
    if number < 0:
        raise InvalidParameter("--demand", "must be a number of hosts, 0 or more")
    return number


def _asked(context: Context, arguments: Any) -> Asked:
    given = {key: getattr(arguments, key) for key in _SIZES}
    for key, number in given.items():
        if number is not None and number < (0 if key == "disk_gb" else 1):
            raise InvalidParameter(_option(key), "must be a whole number above zero")
    duration = days(arguments, "days")
    if arguments.flavor is None:
        sizes = [_SIZES[key] if given[key] is None else given[key] for key in _SIZES]
        servers, vcpus, memory_mb, disk_gb = sizes
        return Asked(servers=servers, vcpus=vcpus, memory_mb=memory_mb, disk_gb=disk_gb, duration=duration)
    named = [_option(key) for key in _SIZES if key != "servers" and given[key] is not None]
    if named:
        raise InvalidParameter(named[0], "the sizes are those of --flavor; leave one of them out")
    flavor = flavor_named(context.cloud.flavors, arguments.flavor)
    return Asked(
        servers=given["servers"] or _SIZES["servers"],
        vcpus=flavor.vcpus,
        memory_mb=flavor.memory_mb,
        disk_gb=flavor.disk_gb + flavor.ephemeral_gb,
        duration=duration,
        flavor=flavor,
    )


def _percent(arguments: Any, key: str) -> float:
    number = float(getattr(arguments, key))
    if not 0 <= number <= 1000:
        raise InvalidParameter(_option(key), "must be from 0 to 1000 per cent")
    return number


def _option(key: str) -> str:
    return "--" + key.replace("_", "-")
