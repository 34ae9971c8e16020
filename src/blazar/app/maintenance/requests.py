"""Requests about maintenance: which resources, and for which period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

import numpy as np

from blazar.app.leases.limits import check_conditions
from blazar.booking.cloud_errors import cloud_errors_as_conflicts
from blazar.booking.context import Context, Plugin
from blazar.booking.views import JsonObject
from blazar.domain.dates import counted_as_now, format_date, minute_of, parse_date
from blazar.domain.errors import InvalidParameter, InvalidPeriod, InvalidRequirement, MissingParameter
from blazar.domain.expressions import parse
from blazar.domain.lease import ResourceId
from blazar.domain.maintenance import OPEN_END, Maintenance, MaintenanceStatus
from blazar.domain.requirements import unknown_keys
from blazar.domain.wording import first_few
from blazar.plugins.capabilities import HasPool
from blazar.ports.manager import Caller


def parse_maintenance(context: Context, caller: Caller, body: JsonObject) -> Maintenance:
    """Return the requested maintenance, without its resources."""
    now = context.clock.now()
    resource_type = str(body.get("resource_type") or next(iter(context.plugins)))
    plugin = context.plugin_for(resource_type)
    leaves_pool = body.get("leave_pool") is True
    if leaves_pool and not isinstance(plugin, HasPool):
        raise InvalidParameter("leave_pool", f"resources of {resource_type} are in no pool")
    start = counted_as_now(parse_date("start_date", body.get("start_date", "now"), now), now)
    if start < minute_of(now):
        raise InvalidPeriod(f"start_date: {format_date(start)} UTC is past; it is {format_date(now)} UTC now")
    end = _parse_end(body.get("end_date"), now)
    if end <= max(start, now):
        raise InvalidPeriod("end_date: must be later than start_date, and in the future")
    return Maintenance(
        id=context.new_id(),
        resource_type=resource_type,
        resource_ids=(),
        reason=str(body.get("reason") or ""),
        start=start,
        end=end,
        leaves_pool=leaves_pool,
        created_at=now,
        user_id=caller.user_id,
    )


def _parse_end(value: object, now: datetime) -> datetime:
    if value is None:
        return OPEN_END
    end = counted_as_now(parse_date("end_date", value, now), now)
    if end >= OPEN_END:
        raise InvalidPeriod("end_date: is too far in the future; without it, the maintenance has no end")
    return end


def select_resources(context: Context, plugin: Plugin, body: JsonObject) -> tuple[ResourceId, ...]:
    """Return the resources that satisfy every selection in a body.

    Raises:
        MissingParameter: There is no selection.
        InvalidParameter, InvalidRequirement: A name, property or aggregate does not exist, or no resource is
            selected.
    """
    selections = [key for key in ("resources", "filter", "aggregate") if body.get(key) is not None]
    if not selections:
        raise MissingParameter("resources", "filter", "aggregate")
    chosen = _by_filter(context, plugin, body.get("filter"))
    if body.get("resources") is not None:
        chosen &= _by_name(context, plugin, "resources", cast("Sequence[str]", body["resources"]))
    if body.get("aggregate") is not None:
        chosen &= _by_aggregate(context, plugin, str(body["aggregate"]))
    if not chosen:
        raise InvalidParameter(selections[-1], "selects no resource")
    return tuple(sorted(chosen))


def _by_filter(context: Context, plugin: Plugin, text: object) -> set[ResourceId]:
    requirement = parse(text, field="filter")
    check_conditions(context.settings.leases.limits, [requirement])
    with context.indexes[plugin.collection].searching() as availability:
        unknown = unknown_keys(requirement, availability.known_facts())
        if unknown:
            raise InvalidRequirement("filter", f"no resource has a property named {', '.join(unknown)}")
        found = np.flatnonzero(availability.matching(requirement)).tolist()
        return {availability.resource_at(each).id for each in found}


def _by_name(context: Context, plugin: Plugin, field: str, names: Sequence[str]) -> set[ResourceId]:
    with context.store.read() as transaction:
        found = transaction.maintenances.find_names(plugin.collection, names)
    unknown = [each[:64] for each in names if each not in found]
    if unknown:
        raise InvalidParameter(field, f"not registered: {first_few(unknown)}")
    return set(found.values())


def _by_aggregate(context: Context, plugin: Plugin, name: str) -> set[ResourceId]:
    if not isinstance(plugin, HasPool):
        raise InvalidParameter("aggregate", f"resources of {plugin.resource_type} are in no aggregates")
    with cloud_errors_as_conflicts():
        members = plugin.find_by_aggregate(context.cloud, name)
    if members is None:
        raise InvalidParameter("aggregate", f"the cloud has no aggregate {name[:64]}")
    with context.store.read() as transaction:
        return set(transaction.maintenances.find_names(plugin.collection, members).values())


def changed_maintenance(context: Context, before: Maintenance, body: JsonObject) -> Maintenance:
    """Return a maintenance with the changes of a body."""
    now = context.clock.now()
    if before.status_at(now) is MaintenanceStatus.ENDED:
        raise InvalidParameter("maintenance_id", "the maintenance has ended")
    after = before
    if "end_date" in body:
        end = _parse_end(body["end_date"], now)
        if end < minute_of(now):
            raise InvalidPeriod(f"end_date: {format_date(end)} UTC is past; it is {format_date(now)} UTC now")
        after = replace(after, end=end)
    if body.get("reason") is not None:
        after = replace(after, reason=str(body["reason"]))
    if body.get("remove_resources") is not None:
        plugin = context.plugin_for(before.resource_type)
        names = cast("Sequence[str]", body["remove_resources"])
        removed = _by_name(context, plugin, "remove_resources", names)
        if not removed <= set(before.resource_ids):
            raise InvalidParameter("remove_resources", "names a resource that is not under this maintenance")
        left = tuple(each for each in before.resource_ids if each not in removed)
        if not left:
            raise InvalidParameter("remove_resources", "names all resources; end the maintenance instead")
        after = replace(after, resource_ids=left)
    return after
