"""Use case: ask how many resources are free over time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence

from blazar.app.properties import hidden_names
from blazar.app.questions import Question, format_minutes, group, parse_question
from blazar.app.request_work import request_work
from blazar.app.visible_facts import read_visible_facts
from blazar.booking.context import Context
from blazar.booking.visibility import visibility_key, visible_to
from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.busy_times import BusyTimes, Minutes, Steps
from blazar.domain.capacity import Demand, encode_group
from blazar.domain.dates import format_date
from blazar.domain.expressions import render
from blazar.domain.need import Need
from blazar.domain.slot_times import SlotTimes
from blazar.plugins.capabilities import HasCatalogueEntry, StatesNeed
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

_FORM = 3
"""The number of the format of the answers, so that a tag of an older format never matches."""


def list_free_amounts(
    context: Context, caller: Caller, query: JsonObject, known: Collection[str] = ()
) -> JsonObject:
    """Return the numbers of free resources over time, in groups; nothing is reserved.

    Args:
        context: The context.
        caller: The caller; may name the same properties as in a request for a lease.
        query: ``resource_type``, and optionally ``from``, ``to``, ``filter``, ``group_by``, ``unit`` and
            ``resolution``.
        known: The tags of answers that the caller has.

    Returns:
        ``etag``; if that tag is not known, also ``region``, ``resource_type``, ``from``, ``to``, ``groups``.

    Raises:
        BadRequest: The query is invalid.
        NotFound, Conflict: The flavor in ``unit`` does not exist for the caller, or cannot be reserved.
    """
    question = parse_question(context, query)
    need = _need_of_unit(context, caller, question)
    hidden = hidden_names(context, caller)
    index = context.indexes[question.plugin.collection]
    if question.requirement.conditions:
        index.prepare(question.requirement)
    with index.searching() as everything:
        collection, project_id = question.plugin.collection, caller.project_id
        availability = visible_to(context, collection, everything, project_id)
        facts = read_visible_facts(availability, hidden).of_type(question.plugin)
        question.check_unit(facts)
        question.check(facts)
        version = [index.version(), *visibility_key(context, collection, project_id)]
        tag = _tag_of(context, question, need, version)
        if tag in known:
            return {"etag": tag}
        wanted = availability.matching(question.requirement) & facts.reservable
        if need is not None:
            wanted &= availability.matching(need.requirement)
        times = _read_bookings(availability, wanted, need, question.minutes)
    groups = group(facts, wanted, question.group_by)
    totals = times.totals(groups.group_of, len(groups.values))
    steps = question.coarsen(times.count_busy(groups.group_of, len(groups.values)))
    return {
        "etag": tag,
        "region": context.settings.region,
        "resource_type": question.plugin.resource_type,
        "from": format_date(question.window.start),
        "to": format_date(question.window.end),
        "groups": [
            {"value": value, "total": total, "steps": _step_views(question, each, total)}
            for value, total, each in zip(groups.values, totals, steps, strict=True)
        ],
    }


def _need_of_unit(context: Context, caller: Caller, question: Question) -> Need | None:
    """Return the need of a unit of the size in the question; None without one. Raises as the plugin does."""
    plugin = question.plugin
    if not question.unit or not isinstance(plugin, HasCatalogueEntry) or not isinstance(plugin, StatesNeed):
        return None
    body = {**dict.fromkeys(plugin.request_keys), **question.unit, **plugin.change_need(1)}
    work = request_work(context, caller, caller.project_id)
    spec = work.look_up(plugin, work.new_reservation_id(0), plugin.parse(body))
    return plugin.need(spec)


def _read_bookings(
    availability: Availability, wanted: Mask, need: Need | None, minutes: Minutes
) -> BusyTimes | SlotTimes:
    """Return copies of the bookings of the wanted resources. Call it with the index's lock."""
    if need is None or need.demand is None:
        return BusyTimes.read(availability.bookings, wanted, minutes)
    return SlotTimes.read(availability.bookings, availability.inventories(), wanted, need.demand, minutes)


def _step_views(question: Question, steps: Steps, total: int) -> list[JsonObject]:
    times, free = format_minutes(question.minutes, steps.minutes), (total - steps.numbers[0]).tolist()
    return [{"time": time, "free": number} for time, number in zip(times, free, strict=True)]


def _tag_of(context: Context, question: Question, need: Need | None, version: Sequence[object]) -> str:
    """Return a string that changes whenever the answer does, and is the same on every manager.

    The present only matters if the period has begun: resources released late are not free until now.
    """
    begun = question.minutes.begun
    decisive = [
        _FORM,
        *version,
        question.plugin.resource_type,
        context.settings.region,
        question.minutes.first,
        question.minutes.count,
        question.minutes.cleaning,
        begun,
        question.resolution,
        render(question.requirement),
        question.group_by,
        # A flavor may have been replaced by another one of the same id.
        None if need is None or need.demand is None else [render(need.requirement), *_parts(need.demand)],
    ]
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:32]


def _parts(demand: Demand) -> Sequence[object]:
    """Return a demand as JSON, in an order that does not depend on the process."""
    return [
        demand.amounts,
        sorted(demand.required_traits),
        sorted(demand.forbidden_traits),
        [encode_group(each) for each in demand.groups],
        demand.is_isolated,
    ]
