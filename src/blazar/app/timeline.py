"""Use case: show over time which resources the caller's leases and those of others use, for calendars."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import numpy as np

from blazar.app.properties import hidden_names
from blazar.app.questions import Question, format_minutes, group, parse_question
from blazar.app.visible_facts import read_visible_facts
from blazar.booking.context import Context
from blazar.booking.visibility import visible_to
from blazar.domain.booking_rows import Mask, Numbers
from blazar.domain.busy_times import BusyTimes, Steps, all_minutes, count_in_groups
from blazar.domain.dates import format_date
from blazar.domain.errors import InvalidParameter
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.ranges import Ranges
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

MOST_ROWS: Final = 1000
"""The most resources of one answer with a row for each."""
_STATES: Final = ("mine", "project", "taken", "maintenance", "cleaning", "failed")
"""If several apply to a resource at the same time, the first one counts."""


def get_timeline(context: Context, caller: Caller, query: JsonObject, with_ids: bool) -> JsonObject:
    """Return how many resources are in which state over time, in groups, or the state of each resource.

    About leases of other projects, the answer discloses only that a resource is taken. If reservations of a
    type hold parts of resources, a resource counts as held as soon as a part of it is.

    Args:
        context: The context.
        caller: The caller; may name the same properties as in a request for a lease.
        query: As for free amounts; ``resources`` asks for a row for each resource instead of groups.
        with_ids: Whether such rows have the ids of their resources.

    Returns:
        ``region``, ``resource_type``, ``from``, ``to``, and ``groups`` or ``resources`` with ``intervals``.

    Raises:
        BadRequest: The query is invalid.
    """
    question, is_by_resource = parse_question(context, query), _parse_flag(query)
    hidden = hidden_names(context, caller)
    index = context.indexes[question.plugin.collection]
    if question.requirement.conditions:
        index.prepare(question.requirement)
    with index.searching() as everything:
        availability = visible_to(context, question.plugin.collection, everything, caller.project_id)
        facts = read_visible_facts(availability, hidden).of_type(question.plugin)
        question.check(facts)
        wanted = availability.matching(question.requirement) & facts.exists
        ids = {each: availability.resource_at(each).id for each in np.flatnonzero(wanted).tolist()}
        times = BusyTimes.read(availability.bookings, wanted, question.minutes)
        # After the bookings, so that each reservation among them has its owner.
        owners, maintenances = _owners(context, caller, question.window.start)
        mine = [key for key, user in owners.items() if user == caller.user_id]
        codes = {
            state: availability.bookings.owner_codes(each).astype(np.int64)
            for state, each in (("mine", mine), ("project", owners), ("maintenance", maintenances))
        }
    kinds = _kinds(question, times, codes, wanted & ~facts.reservable)
    answer = {
        "region": context.settings.region,
        "resource_type": question.plugin.resource_type,
        "from": format_date(question.window.start),
        "to": format_date(question.window.end),
    }
    if is_by_resource:
        return {**answer, "resources": _list_rows(question, kinds, ids, len(wanted), with_ids)}
    groups = group(facts, wanted, question.group_by)
    steps = question.coarsen(count_in_groups(kinds, groups.group_of, len(groups.values), question.minutes))
    found = zip(groups.values, groups.count(wanted), steps, strict=True)
    return {
        **answer,
        "groups": [
            {"value": value, "total": total, "intervals": _count_views(question, each, total)}
            for value, total, each in found
        ],
    }


def _parse_flag(query: JsonObject) -> bool:
    text = query.get("resources", "false")
    if text not in ("true", "false"):
        raise InvalidParameter("resources", "must be true or false")
    if text == "true" and query.get("group_by") is not None:
        raise InvalidParameter("group_by", "cannot be used together with resources")
    return text == "true"


def _owners(
    context: Context, caller: Caller, start: datetime
) -> tuple[Mapping[ReservationId, str | None], Sequence[ReservationId]]:
    """Return the reservations of the caller's project with their users, and maintenances from *start* on."""
    with context.store.read() as transaction:
        maintenances = [each.owner for each in transaction.maintenances.list(ending_after=start)]
        if not caller.project_id:
            return {}, maintenances
        return transaction.allocations.holders_of(caller.project_id), maintenances


def _kinds(
    question: Question, times: BusyTimes, codes: Mapping[str, Numbers], failed: Mask
) -> Sequence[Ranges]:
    """Return the ranges for each state; each has those of the states before it as well."""
    kept = times.ranges(with_cleaning=True)
    return [
        times.ranges(with_cleaning=False, owners=codes["mine"]),
        times.ranges(with_cleaning=False, owners=codes["project"]),
        times.ranges(with_cleaning=False, without=codes["maintenance"]),
        times.ranges(with_cleaning=False),
        kept,
        kept.of(~failed) + all_minutes(failed, question.minutes),
    ]


def _count_views(question: Question, steps: Steps, total: int) -> list[JsonObject]:
    counts = np.diff(steps.numbers, axis=0, prepend=0)
    times = _bounds(question, steps)
    return [
        {
            "start_date": start,
            "end_date": end,
            "free": total - sum(numbers),
            **dict(zip(_STATES, numbers, strict=True)),
        }
        for start, end, numbers in zip(times[:-1], times[1:], counts.T.tolist(), strict=True)
    ]


def _list_rows(
    question: Question, kinds: Sequence[Ranges], ids: Mapping[int, ResourceId], length: int, with_ids: bool
) -> list[JsonObject]:
    """Return a row for each resource. Raises InvalidParameter if there are too many.

    The order of the rows has no meaning, and is the same on every manager.
    """
    if len(ids) > MOST_ROWS:
        raise InvalidParameter(
            "resources", f"there are {len(ids)}, at most {MOST_ROWS} are possible; set a filter or group_by"
        )
    places = sorted(ids, key=lambda each: hashlib.blake2b(ids[each].encode()).digest())
    row_of = np.full(length, -1, np.intp)
    row_of[places] = np.arange(len(places))
    steps = question.coarsen(count_in_groups(kinds, row_of, len(places), question.minutes))
    return [
        {
            "row": number,
            **({"id": ids[place]} if with_ids else {}),
            "intervals": _state_views(question, own),
        }
        for number, (place, own) in enumerate(zip(places, steps, strict=True), 1)
    ]


def _state_views(question: Question, steps: Steps) -> list[JsonObject]:
    """Return the intervals in which a resource is not free."""
    times = _bounds(question, steps)
    # The index of the first state that applies is the number of states that do not.
    states = (len(_STATES) - steps.numbers.sum(axis=0)).tolist()
    return [
        {"start_date": start, "end_date": end, "state": _STATES[state]}
        for start, end, state in zip(times[:-1], times[1:], states, strict=True)
        if state < len(_STATES)
    ]


def _bounds(question: Question, steps: Steps) -> Sequence[str]:
    return format_minutes(question.minutes, np.append(steps.minutes, question.minutes.count))
