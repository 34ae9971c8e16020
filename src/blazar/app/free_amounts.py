"""Use case: ask how many resources are free over time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping

from blazar.app.properties import hidden_names
from blazar.app.questions import Question, format_minutes, group, parse_question
from blazar.app.visible_facts import read_visible_facts
from blazar.booking.context import Context
from blazar.domain.busy_times import BusyTimes, Steps, count_in_groups
from blazar.domain.dates import format_date
from blazar.domain.expressions import render
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

_FORM = 1
"""The number of the format of the answers, so that a tag of an older format never matches."""


def list_free_amounts(
    context: Context, caller: Caller, query: JsonObject, known: Collection[str] = ()
) -> JsonObject:
    """Return the numbers of free resources over time, in groups; nothing is reserved.

    Args:
        context: The context.
        caller: The caller; may name the same properties as in a request for a lease.
        query: ``resource_type``, and optionally ``from``, ``to``, ``filter`` and ``group_by``.
        known: The tags of answers that the caller has.

    Returns:
        ``etag``; and if that is not known, ``region``, ``resource_type``, ``from``, ``to`` and ``groups``.

    Raises:
        BadRequest: The query is invalid.
    """
    question = parse_question(context, query)
    hidden = hidden_names(context, caller)
    index = context.indexes[question.plugin.collection]
    if question.requirement.conditions:
        index.prepare(question.requirement)
    with index.searching() as availability:
        facts = read_visible_facts(availability, hidden)
        question.check(facts)
        tag = _tag_of(context, question, index.version())
        if tag in known:
            return {"etag": tag}
        wanted = availability.matching(question.requirement) & facts.reservable
        times = BusyTimes.read(availability.bookings, wanted, question.minutes)
    groups = group(facts, wanted, question.group_by)
    busy = times.ranges(with_cleaning=True)
    steps = count_in_groups([busy], groups.group_of, len(groups.values), question.minutes)
    return {
        "etag": tag,
        "region": context.settings.region,
        "resource_type": question.plugin.resource_type,
        "from": format_date(question.window.start),
        "to": format_date(question.window.end),
        "groups": [
            {"value": value, "total": total, "steps": _step_views(question, each, total)}
            for value, total, each in zip(groups.values, groups.count(wanted), steps, strict=True)
        ],
    }


def _step_views(question: Question, steps: Steps, total: int) -> list[JsonObject]:
    times, free = format_minutes(question.minutes, steps.minutes), (total - steps.numbers[0]).tolist()
    return [{"time": time, "free": number} for time, number in zip(times, free, strict=True)]


def _tag_of(context: Context, question: Question, version: str) -> str:
    """Return a string that changes whenever the answer does, and is the same on every manager.

    The present only matters if the period has begun: resources that are released late are not free until now.
    """
    begun = question.minutes.begun
    decisive = [
        _FORM,
        version,
        question.plugin.resource_type,
        context.settings.region,
        question.minutes.first,
        question.minutes.count,
        question.minutes.cleaning,
        begun,
        render(question.requirement),
        question.group_by,
    ]
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:32]
