"""Use cases of the properties of resources that operators register for plugins: list, make private."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from blazar.app.resources import plugin_of
from blazar.booking.context import Context
from blazar.booking.views import JsonObject, property_view
from blazar.domain.errors import NotFound
from blazar.domain.plugin_resources import ResourceProperty
from blazar.domain.requirements import text_of
from blazar.ports.store import Transaction


def list_collection_properties(
    context: Context, collection: str, include_private: bool
) -> Sequence[JsonObject]:
    """Return each property that at least one resource has, with its values, by name. Raises NotFound."""
    plugin_of(context, collection)
    values: dict[str, set[str]] = defaultdict(set)
    with context.store.read() as transaction:
        known = transaction.plugin_resources.list_properties(collection)
        for each in transaction.plugin_resources.list(collection):
            for name in each.properties:
                value = each.facts[name]
                values[name].update([] if value is None else [text_of(value)])
    return [
        {"property": each.name, "private": each.is_private, "values": sorted(values[each.name])}
        for each in known
        if each.name in values and (include_private or not each.is_private)
    ]


def update_collection_property(
    context: Context, collection: str, name: str, private: bool | None
) -> JsonObject:
    """Hide or show a property (None: no change) and return it. Raises NotFound."""
    plugin_of(context, collection)
    with context.store.begin() as transaction:
        found = _get(transaction, collection, name)
        if private is not None and private != found.is_private:
            now = context.clock.now()
            transaction.plugin_resources.set_property_private(collection, name, private, now)
            found = _get(transaction, collection, name)
        transaction.commit()
    return property_view(found)


def _get(transaction: Transaction, collection: str, name: str) -> ResourceProperty:
    for each in transaction.plugin_resources.list_properties(collection):
        if each.name == name:
            return each
    raise NotFound(f"No resource of {collection} has a property named {name[:255]}")
