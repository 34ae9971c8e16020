"""Use cases of resource properties: the names of the extra capabilities of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from blazar.booking.context import Context
from blazar.booking.views import JsonObject, property_view
from blazar.booking.visibility import visibility_rules, visible_to
from blazar.domain.plugin_resources import ResourceProperty
from blazar.domain.requirements import Requirement
from blazar.plugins.hosts.errors import PropertyNotFound
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_NONE: Final[frozenset[str]] = frozenset()


def list_resource_properties(context: Context, caller: Caller, include_private: bool) -> Sequence[JsonObject]:
    """Return each property that at least one host has, with its values, sorted by name.

    If private properties are omitted, so are those of hosts that are only for other projects.
    """
    with context.store.read() as transaction:
        found = transaction.of(HOST_STORE).list_properties()
    if not include_private and visibility_rules(context, HOST_STORE.collection):
        shown = _values_of_visible(context, caller)
        found = tuple(
            (each, tuple(value for value in values if (each.name, value) in shown)) for each, values in found
        )
    return [
        {"property": each.name, "private": each.is_private, "values": list(values)}
        for each, values in found
        if values and (include_private or not each.is_private)
    ]


def _values_of_visible(context: Context, caller: Caller) -> frozenset[tuple[str, str]]:
    """Return the properties, with their values, of the hosts that exist for the caller."""
    collection = HOST_STORE.collection
    with context.indexes[collection].searching() as everything:
        availability = visible_to(context, collection, everything, caller.project_id)
        visible = np.flatnonzero(availability.matching(Requirement())).tolist()
        properties = [availability.resource_at(each).properties for each in visible]
    return frozenset((name, str(value)) for each in properties for name, value in each.items())


def update_resource_property(context: Context, name: str, private: bool | None) -> JsonObject:
    """Hide or show a property (None: no change) and return it. Raises PropertyNotFound."""
    with context.store.begin() as transaction:
        found = _get(transaction, name)
        if private is not None and private != found.is_private:
            transaction.of(HOST_STORE).set_property_private(name, private, context.clock.now())
            found = _get(transaction, name)
        transaction.commit()
    return property_view(found)


def hidden_properties(transaction: Transaction, caller: Caller) -> frozenset[str]:
    """Return the names of the properties that are hidden from the caller."""
    if caller.sees_private_properties:
        return _NONE
    return transaction.plugin_resources.private_names()


def _get(transaction: Transaction, name: str) -> ResourceProperty:
    found = transaction.of(HOST_STORE).find_property(name)
    if found is None:
        raise PropertyNotFound(name[:255])
    return found
