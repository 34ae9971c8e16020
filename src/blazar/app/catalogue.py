"""Use case: list what a caller can reserve, and the limits that apply."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import numpy as np

from blazar.app.availability import LONGEST_SPAN
from blazar.app.listed_rules import list_usage_rules
from blazar.app.properties import hidden_names, private_names
from blazar.app.visible_facts import (
    VisibleFacts,
    eligibility_of,
    public_facts,
    rank_of,
    read_visible_facts,
)
from blazar.booking.at_end import end_texts_of
from blazar.booking.context import Context, Plugin
from blazar.booking.visibility import visible_to
from blazar.domain.errors import CloudError
from blazar.domain.expressions import render
from blazar.domain.quotas import UNLIMITED, amounts
from blazar.domain.requirements import Fact
from blazar.plugins.capabilities import HasCatalogueEntry, ListsChoices, StatesNeed
from blazar.ports.compute import Lessee
from blazar.ports.enforcement import LimitsDuration
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

_logger = logging.getLogger(__name__)

_ZONE: Final = "availability_zone"
_MINUTE: Final = timedelta(minutes=1)


def get_catalogue(context: Context, caller: Caller, with_choices: bool = False) -> JsonObject:
    """Return what the caller can reserve.

    Resources that cannot be reserved now, or are only for other projects, are not counted. Private properties
    are only listed for callers who may see them; other callers may still reserve resources that have one.

    Args:
        context: The context.
        caller: The caller.
        with_choices: Ask the cloud for the objects that the caller can name in a request.

    Returns:
        ``region``, ``resource_types``, ``properties``, ``availability_zones``, ``limits``, the times that
        matter for reservations, in minutes, and the ``subscription_kinds`` that are enabled.

    Raises:
        Unavailable: The limits of the caller's project cannot be read now.
    """
    hidden = hidden_names(context, caller)
    plugins = [context.plugins[each] for each in sorted(context.plugins)]
    facts: dict[str, VisibleFacts] = {}
    for collection in sorted({each.collection for each in plugins}):
        with context.indexes[collection].searching() as everything:
            availability = visible_to(context, collection, everything, caller.project_id)
            shared = read_visible_facts(availability, hidden)
            for plugin in plugins:
                if plugin.collection == collection:
                    facts[plugin.resource_type] = shared.of_type(plugin)
    private = private_names(context) if caller.sees_private_properties else frozenset()
    leases = context.settings.leases
    return {
        "region": context.settings.region,
        "resource_types": [
            {
                **_type_view(each, facts[each.resource_type]),
                "choices": _choices(context, caller, each) if with_choices else None,
            }
            for each in plugins
        ],
        "properties": _list_properties(plugins, facts, private),
        "availability_zones": _list_zones(plugins, facts),
        "limits": _limits_view(context, caller),
        "cleaning_time_minutes": leases.cleaning_time // _MINUTE,
        "before_end_lead_minutes": leases.before_end_lead // _MINUTE,
        "longest_period_days": LONGEST_SPAN.days,
        "subscription_kinds": sorted(context.settings.notices.channels),
    }


def _type_view(plugin: Plugin, facts: VisibleFacts) -> JsonObject:
    keys = plugin.request_keys if isinstance(plugin, HasCatalogueEntry) else None
    return {
        "resource_type": plugin.resource_type,
        "keys": None if keys is None else list(keys),
        "unit": plugin.quota_unit.name,
        "unit_keys": list(plugin.unit_keys) if isinstance(plugin, HasCatalogueEntry) else [],
        "has_count": isinstance(plugin, StatesNeed),
        "reservable": int(np.count_nonzero(facts.reservable)),
        "end_texts": [
            {"key": each.key, "value": each.value, "text": each.text, "before_end": each.is_before_end}
            for each in end_texts_of(plugin)
        ],
    }


def _choices(context: Context, caller: Caller, plugin: Plugin) -> Mapping[str, object] | None:
    """Return the objects that the caller can name, by key; None if the cloud does not return them."""
    if not isinstance(plugin, ListsChoices):
        return {}
    lessee = Lessee(project_id=caller.project_id or "", token=caller.token)
    try:
        return plugin.list_choices(context.cloud.compute_for(lessee))
    except CloudError as error:
        _logger.warning("cannot list the choices of a type: type=%s reason=%s", plugin.resource_type, error)
        return None


def _list_properties(
    plugins: Sequence[Plugin], facts: Mapping[str, VisibleFacts], private: frozenset[str]
) -> list[JsonObject]:
    """Return each property by name, once for all types whose reservations can hold the same resources."""
    found: dict[tuple[str, str, object], list[str]] = {}
    for plugin in plugins:
        for name in facts[plugin.resource_type].listed(plugin):
            key = name, plugin.collection, render(eligibility_of(plugin))
            found.setdefault(key, []).append(plugin.resource_type)
    built_in = {name for plugin in plugins for name in public_facts(plugin)}
    return [
        {
            "property": name,
            "resource_types": types,
            "built_in": name in built_in,
            "private": name in private,
            "values": [
                {"value": value, "reservable": number}
                for value, number in _count_values(facts[types[0]], name)
            ],
        }
        for (name, _, _), types in sorted(found.items())
    ]


def _count_values(facts: VisibleFacts, name: str) -> Sequence[tuple[Fact, int]]:
    """Return the number of reservable resources with each value of a property, in the order of lists."""
    distinct, codes = facts.columns.values(name)
    numbers = np.bincount(codes[facts.reservable & (codes >= 0)], minlength=len(distinct)).tolist()
    present = np.unique(codes[facts.exists & (codes >= 0)]).tolist()
    return sorted(((distinct[each], numbers[each]) for each in present), key=lambda each: rank_of(each[0]))


def _list_zones(plugins: Sequence[Plugin], facts: Mapping[str, VisibleFacts]) -> list[JsonObject]:
    numbers: dict[str, int] = {}
    for collection in sorted({each.collection for each in plugins if _ZONE in public_facts(each)}):
        of_types = [facts[each.resource_type] for each in plugins if each.collection == collection]
        every = replace(
            of_types[0],
            exists=np.logical_or.reduce([each.exists for each in of_types]),
            reservable=np.logical_or.reduce([each.reservable for each in of_types]),
        )
        for value, number in _count_values(every, _ZONE):
            if value:
                numbers[str(value)] = numbers.get(str(value), 0) + number
    return [{"name": name, "reservable": numbers[name]} for name in sorted(numbers)]


def _limits_view(context: Context, caller: Caller) -> JsonObject:
    limits = context.settings.leases.limits
    longest = _longest_lease(context, caller.project_id)
    return {
        "longest_lease_minutes": None if longest is None else longest // _MINUTE,
        "reservations_per_lease": limits.reservations or None,
        "conditions_per_lease": limits.conditions or None,
        "amount_per_lease": limits.amount or None,
        "rules": list_usage_rules(context, caller),
        "quotas": _list_quotas(context, caller.project_id) if caller.project_id else [],
    }


def _longest_lease(context: Context, project_id: str | None) -> timedelta | None:
    """Return the longest lease that all filters that return a limit allow; None for no limit."""
    found = [
        each.longest_lease(project_id)
        for each in context.filters.values()
        if isinstance(each, LimitsDuration)
    ]
    return min((each for each in found if each is not None), default=None)


def _list_quotas(context: Context, project_id: str) -> list[JsonObject]:
    """Return the used amounts and the limits of a project by name. Raises Unavailable."""
    limits = {} if context.limits is None else context.limits.get(project_id)
    now = context.clock.now()
    with context.store.read() as transaction:
        reserved = transaction.quotas.reserved(project_id, now)
    used = amounts(reserved, context.quota_units, now)
    return [_quota_view(each, used.get(each, 0), limits.get(each)) for each in sorted({*limits, *used})]


def _quota_view(name: str, used: int, limit: int | None) -> JsonObject:
    limit = None if limit == UNLIMITED else limit
    return {
        "name": name,
        "used": used,
        "limit": limit,
        "left": None if limit is None else max(0, limit - used),
    }
