"""The comparison of resource types in a plan, as a section of its document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from blazar.planning.document import Items, Paragraph, Section, Table
from blazar.planning.goals import FLAVOR, HOST, INSTANCE, PLUGIN_NAMES
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
    days = asked.duration / timedelta(days=1)
    return Section(
        "Resource type",
        [
            Paragraph(_advice(plan)),
            Paragraph(f"The cost of {asked.servers} servers with {size} for {days:g} days from now:"),
            Table(
                ("type", "enabled", "hosts", "blocked for others", "not needed", "at most", "possible now"),
                [
                    (
                        each.resource_type,
                        "yes" if each.is_enabled else f"no: add {PLUGIN_NAMES[each.resource_type]}",
                        each.hosts or "-",
                        ", ".join(f"{amount} {key}" for key, amount in each.blocked.items()) or "-",
                        f"{each.unused_percent:g} %" if each.blocked else "-",
                        f"{each.most} servers" if each.most else "-",
                        each.problem or "yes",
                    )
                    for each in plan.costs
                ],
            ),
            Items([f"{key}: {text}." for key, text in TRADE_OFFS.items()]),
        ],
    )


def _advice(plan: Plan) -> str:
    if plan.goal is None or plan.goal_type is None:
        return "No goal was named: --goal dedicated, burst or flavors recommends a type."
    cost = next(each for each in plan.costs if each.resource_type == plan.goal_type)
    text = f"For the goal {plan.goal}, reserve with {plan.goal_type}."
    if cost.blocked:
        others = [each for each in plan.costs if each is not cost and each.blocked]
        compared = "; ".join(f"{each.resource_type} {each.unused_percent:g} %" for each in others)
        text += f" Of what it blocks for others, {cost.unused_percent:g} % is not needed by these servers"
        text += f" ({compared})." if compared else "."
    return text
