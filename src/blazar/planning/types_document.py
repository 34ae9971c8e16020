"""The comparison of resource types in a plan, as a section of its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from blazar.domain.dates import format_date
from blazar.planning.document import Items, Paragraph, Section, Table
from blazar.planning.goals import FLAVOR, HOST, INSTANCE, PLUGIN_NAMES, TypeCost
from blazar.planning.plan import Plan

TRADE_OFFS: Final[Mapping[str, str]] = {
    HOST: (
        "whole hosts from the freepool: no neighbours, all devices and the overcommit of the host for the"
        " team alone; what its servers do not need is lost to others, and lessees place servers with a hint"
    ),
    INSTANCE: (
        "slots of a size that the request names: they share hosts with other reservations, so little is lost;"
        " servers need the flavor of the reservation, and there are no snapshots before the end"
    ),
    FLAVOR: (
        "slots of a flavor of the cloud, with its traits and extra specs as far as Placement counts them; as"
        " cheap as slots of any size, and users know what they get; only for flavors that exist"
    ),
}
"""What each resource type is good for, and its price."""


def types_section(plan: Plan) -> Section:
    """Return the section."""
    asked = plan.asked
    size = f"{asked.vcpus} vCPU, {asked.memory_mb} MB and {asked.disk_gb} GB"
    if asked.flavor is not None:
        size = f"flavor {asked.flavor.name} ({size})"
    days = f"{asked.duration / timedelta(days=1):g} days"
    cost = f"The cost of {asked.servers} servers with {size} for {days}, as early as possible in the horizon:"
    columns = (
        "type",
        "enabled",
        "hosts",
        "blocked for others",
        "not needed of it",
        "at most",
        "possible from",
    )
    return Section(
        "Resource type",
        [
            Paragraph(_advice(plan)),
            Paragraph(cost),
            Table(columns, [_row(each) for each in plan.costs]),
            Items([f"{key}: {text}." for key, text in TRADE_OFFS.items()]),
        ],
    )


def _row(cost: TypeCost) -> Sequence[object]:
    return (
        cost.resource_type,
        "yes" if cost.is_enabled else f"no: add {PLUGIN_NAMES[cost.resource_type]}",
        cost.hosts or "-",
        ", ".join(f"{key} {amount}" for key, amount in cost.blocked.items()) or "-",
        _shares(cost) or "-",
        f"{cost.most} servers" if cost.most else "-",
        cost.problem if cost.possible_from is None else format_date(cost.possible_from),
    )


def _shares(cost: TypeCost) -> str:
    return ", ".join(f"{key} {share:g} %" for key, share in cost.not_needed.items())


def _advice(plan: Plan) -> str:
    if plan.goal is None or plan.goal_type is None:
        return "No goal was named: --goal dedicated, burst or flavors recommends a type."
    cost = next(each for each in plan.costs if each.resource_type == plan.goal_type)
    text = f"For the goal {plan.goal}, reserve with {plan.goal_type}."
    if not cost.blocked:
        return text
    blocked = "; ".join(f"{each.resource_type}: {_shares(each)}" for each in plan.costs if each.blocked)
    return f"{text} Blocked for others, but not needed by these servers: {blocked}."
