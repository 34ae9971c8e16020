"""The commands of the client with which a plan is carried out."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.domain.dates import format_date, minute_of
from blazar.planning.goals import FLAVOR, HOST, TypeCost
from blazar.planning.hosts import UNKNOWN, PlannedHost
from blazar.planning.recommendation import Recommendation

_NAMES: Mapping[str, str] = {HOST: "team-hosts", FLAVOR: "reserved-flavor"}
_OTHER_NAME = "burst"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line and its purpose."""

    purpose: str
    line: str


def lease_commands(
    costs: Sequence[TypeCost], now: datetime, duration: timedelta, notice: timedelta
) -> tuple[Command, ...]:
    """Return a command for each resource type that creates a lease as early as possible.

    If it is possible now, the lease starts when the command is run. Without a flavor, there is no command
    for the type that needs one.
    """
    present = minute_of(now)
    return tuple(
        _lease_command(each, each.possible_from or present, duration, notice, present)
        for each in costs
        if each.body.get("flavor_id") != ""
    )


def host_commands(recommendation: Recommendation, rack_property: str) -> tuple[Command, ...]:
    """Return the commands that move the recommended hosts."""
    return (
        *(_register(each, rack_property) for each in recommendation.move_in),
        *(
            Command(
                purpose=f"return {each.name} to the general pool",
                line=shlex.join(["openstack", "reservation", "host", "delete", each.name]),
            )
            for each in recommendation.move_out
        ),
    )


def _register(host: PlannedHost, rack_property: str) -> Command:
    words = ["openstack", "reservation", "host", "create", host.name]
    if host.rack != UNKNOWN:
        words += ["--extra", f"{rack_property}={host.rack}"]
    return Command(purpose=f"make {host.name} reservable", line=shlex.join(words))


def _lease_command(
    cost: TypeCost, start: datetime, duration: timedelta, notice: timedelta, present: datetime
) -> Command:
    words, end = ["openstack", "reservation", "lease", "create"], start + duration
    words += ["--start-date", "now" if start == present else format_date(start)]
    words += ["--end-date", format_date(end)]
    if timedelta(0) < notice < duration:
        words += ["--before-end-date", format_date(end - notice)]
    words += ["--reservation", ",".join(_pairs(cost.body)), _NAMES.get(cost.resource_type, _OTHER_NAME)]
    purpose = f"reserve with {cost.resource_type}"
    if cost.problem:
        purpose += f" (not possible: {cost.problem})"
    return Command(purpose=purpose, line=shlex.join(words))


def _pairs(body: Mapping[str, object]) -> Iterator[str]:
    for key, value in body.items():
        if value is None:
            yield f"{key}=None"
        elif isinstance(value, str | int):
            yield f"{key}={value}" if value != "" else f'{key}=""'
        else:
            yield f"{key}={json.dumps(value)}"
