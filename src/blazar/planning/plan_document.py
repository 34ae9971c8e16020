"""A plan as a document for operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from blazar.domain.dates import format_date
from blazar.domain.wording import first_few
from blazar.planning.allocation_table import AllocationRow, ClassAmounts
from blazar.planning.commands import Command
from blazar.planning.document import Code, Document, Items, Paragraph, Part, Section, Table
from blazar.planning.load import Load
from blazar.planning.loss import AffectedReservation, Loss
from blazar.planning.nova_document import nova_section
from blazar.planning.plan import Plan
from blazar.planning.policy_document import policy_section
from blazar.planning.recommendation import Demand, Recommendation
from blazar.planning.types_document import types_section

_SHOWN = 20
"""The most reservations of a list that are shown; JSON has all."""


SECTIONS: Final = ("capacity", "loss", "recommendation", "type", "policy", "commands", "nova")
"""The keys of the sections, in their order."""


def plan_document(plan: Plan) -> Document:
    """Return a plan as a document."""
    sections = (
        _table_section(plan),
        _loss_section(plan.loss),
        _recommendation_section(plan),
        types_section(plan),
        policy_section(plan),
        Section("Commands", _commands("Leases", plan.lease_commands)),
        nova_section(plan.nova),
    )
    return Document(
        f"Capacity plan of {format_date(plan.made_at)} UTC",
        [replace(each, key=key) for each, key in zip(sections, SECTIONS, strict=True)],
    )


def _table_section(plan: Plan) -> Section:
    until = format_date(plan.horizon_end)
    return Section(
        "Capacity allocation",
        [
            Paragraph(
                f"Hosts by zone, rack and type, from now until {until} UTC. Headroom is the number of usable"
                " reservable hosts that are free throughout that time."
            ),
            Table(
                (
                    *("zone", "rack", "host type", "hosts", "general", "reservable", "unusable"),
                    *("reserved now", "peak", "mean", "headroom", "overcommit"),
                ),
                [_row(each) for each in (*plan.rows, plan.total)],
            ),
            Paragraph("Amounts that can be allocated, with overcommit, and what servers use of them:"),
            Table(
                ("pool", "class", "total", "with overcommit", "used", "used %"),
                [
                    *(_amounts("general", each) for each in plan.total.general_amounts),
                    *(_amounts("reservable", each) for each in plan.total.reservable_amounts),
                ],
            ),
        ],
    )


def _row(row: AllocationRow) -> Sequence[object]:
    return (
        *(row.zone, row.rack, row.kind, row.total, row.general, row.reservable, row.unusable),
        *(row.reserved_now, row.peak, row.mean, row.headroom, _overcommit(row)),
    )


def _overcommit(row: AllocationRow) -> str:
    ratios: dict[str, set[float]] = {}
    for each in (*row.general_amounts, *row.reservable_amounts):
        ratios.setdefault(each.resource_class, set()).update((each.lowest_ratio, each.highest_ratio))
    return ", ".join(
        f"{key} {'-'.join(f'{each:g}' for each in sorted({min(found), max(found)}))}"
        for key, found in ratios.items()
    )


def _amounts(pool: str, amounts: ClassAmounts) -> Sequence[object]:
    is_general = pool == "general"
    return (
        *(pool, amounts.resource_class, amounts.total, amounts.capacity),
        *((amounts.used, percent(amounts)) if is_general else ("-", "-")),
    )


def percent(amounts: ClassAmounts) -> float:
    """Return how much of what can be allocated is used, in per cent."""
    return round(100 * amounts.used / amounts.capacity, 1) if amounts.capacity else 0.0


def _loss_section(loss: Loss | None) -> Section:
    if loss is None:
        return Section("Loss of the largest failure domain", [Paragraph("No host is reservable.")])
    parts: list[Part] = [
        Paragraph(
            f"If {loss.domain} fails now, {loss.reservable} reservable hosts and {loss.general} hosts of the"
            f" general pool are lost. Of the reservations in the horizon, {len(loss.placed)} get other hosts;"
            f" {len(loss.not_placed)} do not, for lack of free hosts that they accept."
        )
    ]
    if loss.not_placed:
        parts.append(affected_table(loss.not_placed))
    if loss.general_left:
        parts.append(
            Paragraph(
                "The rest of the general pool would have to hold all of its servers: "
                + ", ".join(f"{each.resource_class} {percent(each):g} %" for each in loss.general_left)
                + " of what can be allocated."
            )
        )
    return Section("Loss of the largest failure domain", parts)


def affected_table(affected: Sequence[AffectedReservation]) -> Table:
    """Return a table of reservations with the hosts that they lose."""
    return Table(
        ("lease", "name", "project", "type", "from", "to", "hosts"),
        [
            (
                *(each.lease_id, each.lease_name, each.project_id or "-", each.resource_type),
                *(format_date(each.start), format_date(each.end), first_few(list(each.hosts))),
            )
            for each in affected[:_SHOWN]
        ],
    )


def _recommendation_section(plan: Plan) -> Section:
    found, demand = plan.recommendation, plan.recommendation.demand
    parts: list[Part] = [
        Paragraph(_size(found)),
        Table(
            ("demand, in hosts", "peak", "95 % of the time at most", "mean"),
            [
                (f"since {format_date(plan.habits.since)}", *_figures(demand.past)),
                ("booked ahead", *_figures(demand.booked)),
                *([("refused", *_figures(demand.refused))] if demand.number_refused else ()),
                *([("expected", demand.expected, "-", "-")] if demand.expected else ()),
            ],
        ),
        Paragraph(
            f"It is based on {plan.habits.leases} leases that were created in this time, with an assumed"
            f" growth of {demand.growth_percent:g} %. Of {plan.habits.deleted} further leases that have been"
            " deleted, only what they held is known." + _refused(demand)
        ),
        Items(_moves(found)),
    ]
    return Section("Recommendation", [*parts, *_commands("Hosts", plan.host_commands)])


def _figures(load: Load) -> tuple[float, float, float]:
    return round(load.peak, 2), round(load.usual, 2), round(load.mean, 2)


def _refused(demand: Demand) -> str:
    """Return a sentence about the requests that were refused for lack of free hosts."""
    if not demand.number_refused:
        return " No request was refused for lack of free hosts."
    return (
        f" Requests that were refused for lack of free hosts: {demand.number_refused}. The table has what"
        " they would have used, up to the end of the horizon. The recommendation does not count them, because"
        " lessees may have taken something else instead."
    )


def _size(found: Recommendation) -> str:
    needed = found.demand.needed
    if not found.demand.is_known:
        return (
            f"No host was reserved, none is booked, and no demand was given, so that no host is to be moved;"
            f" {found.present} usable hosts are reservable. Name the hosts that you expect to be reserved at"
            " the same time with --demand."
        )
    return (
        f"Keep {found.target} usable hosts reservable; there are {found.present}. That is the demand of"
        f" {needed} hosts and a headroom of {found.headroom}, as many as the largest failure"
        " domain of the freepool has, or one if there is only one domain."
    )


def _moves(found: Recommendation) -> Sequence[str]:
    after = ", ".join(f"{each.resource_class} {percent(each):g} %" for each in found.general_after)
    texts = [
        f"Into the freepool: {_names(each.name for each in found.move_in)}",
        f"Out of the freepool: {_names(each.name for each in found.move_out)}",
        f"The general pool then uses {after or 'nothing'} of what can be allocated;"
        f" the limit is {found.general_limit_percent:g} %",
    ]
    if found.lacking:
        emptied = _names(f"{each.name} ({each.servers} servers)" for each in found.to_empty)
        texts.append(
            f"{found.lacking} more hosts are needed that the general pool cannot spare; to empty first:"
            f" {emptied}"
        )
    return texts


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    return first_few(listed, _SHOWN) if listed else "none"


def _commands(what: str, commands: Sequence[Command]) -> list[Part]:
    if not commands:
        return []
    text = "\n".join(f"# {each.purpose}\n{each.line}" for each in commands)
    return [Paragraph(f"{what}:"), Code("sh", text)]
