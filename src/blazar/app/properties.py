"""Use cases of resource properties: the names under which hosts have extra capabilities."""

from __future__ import annotations

from collections.abc import Sequence

from blazar.booking.context import Context
from blazar.booking.views import JsonObject, property_view
from blazar.domain.errors import PropertyNotFound
from blazar.domain.hosts import ResourceProperty
from blazar.ports.store import Transaction


def list_resource_properties(context: Context, include_private: bool) -> Sequence[JsonObject]:
    """Return each property that some host has, with its values, by name."""
    with context.store.read() as transaction:
        found = transaction.hosts.list_properties()
    return [
        {"property": each.name, "private": each.is_private, "values": list(values)}
        for each, values in found
        if include_private or not each.is_private
    ]


def update_resource_property(context: Context, name: str, private: bool | None) -> JsonObject:
    """Hide or show a property (None: leave it) and return it. Raises PropertyNotFound."""
    with context.store.begin() as transaction:
        found = _get(transaction, name)
        if private is not None and private != found.is_private:
            transaction.hosts.set_property_private(name, private, context.clock.now())
            found = _get(transaction, name)
        transaction.commit()
    return property_view(found)


def _get(transaction: Transaction, name: str) -> ResourceProperty:
    found = transaction.hosts.find_property(name)
    if found is None:
        raise PropertyNotFound(name[:255])
    return found
