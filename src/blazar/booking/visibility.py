"""The resources that exist for a project: without those that usage rules keep for others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from blazar.booking.context import Context
from blazar.domain.availability import Availability
from blazar.domain.expressions import render
from blazar.domain.grouped_units import visible_part
from blazar.domain.lease import ResourceId
from blazar.domain.rules.rule import Kind, Rule
from blazar.domain.rules.visibility import hidden_resources, is_hidden


def visible_to(
    context: Context,
    collection: str,
    availability: Availability,
    project_id: str | None,
    kept: Collection[ResourceId] = (),
) -> Availability:
    """Return the resources of a collection that exist for a project.

    Args:
        context: The context.
        collection: The collection.
        availability: All of its resources.
        project_id: The project.
        kept: Resources that exist for it in any case, because it holds them.
    """
    if not context.rules:
        return availability
    hidden = hidden_resources(visibility_rules(context, collection), availability, project_id)
    if hidden is None or not np.any(hidden):
        return availability
    return visible_part(availability, ~hidden | availability.mask_of(kept))


def visibility_rules(context: Context, collection: str, *, enforced_only: bool = True) -> Sequence[Rule]:
    """Return the rules on who may see resources of a collection, in their order.

    A rule about one type of reservations is about all resources that they may hold, for all types.
    """
    types = {key for key, plugin in context.plugins.items() if plugin.collection == collection}
    return [
        each
        for each in context.rules.all
        if each.kind is Kind.ONLY_FOR
        and (each.is_enforced or not enforced_only)
        and (not each.scope.resource_types or not types.isdisjoint(each.scope.resource_types))
    ]


def visibility_key(context: Context, collection: str, project_id: str | None) -> Sequence[object]:
    """Return JSON that differs for two projects if they may see different resources of a collection."""
    return [
        [render(each.scope.resources), is_hidden(each, project_id)]
        for each in visibility_rules(context, collection)
    ]
