"""Use case: report how reserved resources were used in a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from blazar.app.properties import hidden_names
from blazar.app.visible_facts import rank_of, read_visible_facts
from blazar.booking.context import Context
from blazar.domain.dates import format_date, parse_date
from blazar.domain.errors import InvalidParameter, InvalidPeriod, MissingParameter
from blazar.domain.instants import moved
from blazar.domain.interval import Interval
from blazar.domain.usage.figures import Figure
from blazar.domain.usage.records import Holding, ResourceFacts
from blazar.domain.usage.sums import Group, Key, Steps, Unit, UnitSums, Usage, sum_usage
from blazar.ports.manager import Caller
from blazar.ports.usage import UsageFilter

JsonObject = Mapping[str, object]

LONGEST_SPAN: Final = timedelta(days=1830)
"""Five years."""
MOST_STEPS: Final = 1000
MOST_VALUES: Final = 100_000
"""The most steps, over all units of all groups."""
_DEFAULT_LENGTH: Final = timedelta(days=30)
"""The length of a period if a request names no start."""
_MINUTE: Final = timedelta(minutes=1)
_ZONE: Final = "availability_zone"
_BY_PROPERTY: Final = "property"
_KEYS: Final[Mapping[str, Key]] = {
    "project": lambda holding, facts: holding.project_id,
    "user": lambda holding, facts: holding.user_id,
    "zone": lambda holding, facts: facts.values.get(_ZONE),
    "host": lambda holding, facts: facts.name or holding.resource_id,
}
BY: Final = (*_KEYS, _BY_PROPERTY)
"""The kinds of groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    by: str
    property_name: str | None
    steps: Steps
    has_steps: bool
    resource_type: str | None

    @property
    def key(self) -> Key:
        """Return the function that assigns a holding to its group."""
        if self.property_name is None:
            return _KEYS[self.by]
        name = self.property_name

        def value(holding: Holding, facts: ResourceFacts) -> Group:
            return facts.values.get(name)

        return value


def get_usage(
    context: Context, caller: Caller, query: JsonObject, project_id: str | None, is_operator: bool
) -> JsonObject:
    """Return how reserved resources were used in a period, in groups.

    Args:
        context: The context.
        caller: The caller, from whom properties may be hidden.
        query: See :meth:`blazar.ports.usage_requests.UsageRequests.get_usage`.
        project_id: The only project whose usage is reported; None for all.
        is_operator: Whether the caller may group by properties that lessees do not see.

    Raises:
        BadRequest: A part of the query is missing or invalid.
    """
    now = context.clock.now()
    question = _parse(context, query, now)
    if question.property_name is not None:
        _check_property(context, caller, question.property_name, is_operator)
    which = UsageFilter(project_id=project_id, resource_type=question.resource_type)
    with context.store.read() as transaction:
        records = transaction.usage.read(question.steps.window, which, now)
    usage = sum_usage(records, question.steps, question.key, context.quota_units, now)
    if question.has_steps:
        _check_size(usage, question.steps)
    since = records.complete_since
    return {
        "by": question.by,
        "property": question.property_name,
        "from": format_date(question.steps.window.start),
        "to": format_date(question.steps.window.end),
        "complete_since": None if since is None else format_date(since + _MINUTE),
        "steps": _step_views(question.steps) if question.has_steps else [],
        "groups": [
            {
                "value": value,
                "amounts": [_amount_view(unit, sums, question) for unit, sums in sorted(units.items())],
            }
            for value, units in sorted(usage.items(), key=lambda each: rank_of(each[0]))
        ],
    }


def _amount_view(unit: Unit, sums: UnitSums, question: _Question) -> JsonObject:
    view: dict[str, object] = {
        "unit": unit.name,
        "resource_class": unit.resource_class or None,
        "hours": _hours_view(sums.totals()),
    }
    if question.has_steps:
        view["steps"] = [_hours_view(each) for each in sums.by_step()]
    return view


def _hours_view(hours: Mapping[Figure, float]) -> JsonObject:
    return {figure.value: hours[figure] for figure in Figure}


def _step_views(steps: Steps) -> Sequence[JsonObject]:
    return [
        {"start_date": format_date(each.start), "end_date": format_date(each.end)} for each in steps.windows()
    ]


def _parse(context: Context, query: JsonObject, now: datetime) -> _Question:
    if query.get("by") is None:
        raise MissingParameter("by")
    by = str(query["by"])
    if by not in BY:
        raise InvalidParameter("by", f"must be one of {', '.join(sorted(BY))}")
    property_name = query.get("property")
    if by == _BY_PROPERTY and not property_name:
        raise MissingParameter("property")
    if by != _BY_PROPERTY and property_name is not None:
        raise InvalidParameter("property", "is only possible with by=property")
    resource_type = query.get("resource_type")
    if resource_type is not None:
        context.plugin_for(str(resource_type))
    window = parse_window(query, now)
    return _Question(
        by=by,
        property_name=None if property_name is None else str(property_name),
        steps=_parse_steps(window, query.get("step")),
        has_steps=query.get("step") is not None,
        resource_type=None if resource_type is None else str(resource_type),
    )


def parse_window(query: JsonObject, now: datetime) -> Interval:
    """Return the period of a query: its keys ``from`` and ``to``, or their defaults.

    Raises:
        InvalidDate, InvalidPeriod: A date is invalid, or the period is reversed or too long.
    """
    end = parse_date("to", query.get("to", "now"), now)
    start = parse_date("from", query["from"], now) if "from" in query else moved(end, -_DEFAULT_LENGTH)
    if end <= start:
        raise InvalidPeriod("to: must be later than from")
    if end - start > LONGEST_SPAN:
        raise InvalidPeriod(f"to: must be at most {LONGEST_SPAN.days} days after from")
    return Interval(start, end)


def _parse_steps(window: Interval, step: object) -> Steps:
    if step is None:
        return Steps(window, window.duration)
    text = str(step)
    # The length is bounded because the conversion of long texts is slow.
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) > 0):
        raise InvalidParameter("step", "must be a whole number of minutes, at least 1")
    steps = Steps(window, int(text) * _MINUTE)
    if steps.count > MOST_STEPS:
        shortest = -(-window.duration // MOST_STEPS // _MINUTE)
        raise InvalidParameter(
            "step",
            f"gives {steps.count} steps, at most {MOST_STEPS} are possible; the shortest step for this period"
            f" is {shortest} minutes",
        )
    return steps


def _check_size(usage: Usage, steps: Steps) -> None:
    rows = sum(len(units) for units in usage.values())
    if rows * steps.count > MOST_VALUES:
        raise InvalidParameter(
            "step",
            f"{steps.count} steps of {rows} amounts are too many for one answer; at most"
            f" {MOST_VALUES // rows} steps are possible here: set a longer step, a shorter period or"
            " resource_type",
        )


def _check_property(context: Context, caller: Caller, name: str, is_operator: bool) -> None:
    """Raise InvalidParameter if the caller may not know the values of a property.

    Resources that had a property may be gone, so operators may name any property that is not hidden.
    """
    hidden = hidden_names(context, caller)
    if is_operator and name not in hidden:
        return
    if name in hidden or name not in set(_listed_names(context, hidden)):
        raise InvalidParameter("property", f"{name[:64]} is not a property of the catalogue")


def _listed_names(context: Context, hidden: frozenset[str]) -> Iterator[str]:
    """Yield the names of facts whose values every lessee may see."""
    for plugin in context.plugins.values():
        with context.indexes[plugin.collection].searching() as availability:
            facts = read_visible_facts(availability, hidden)
        yield from facts.listed(plugin)
