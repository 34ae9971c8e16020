"""Use cases of resource properties: the names of the extra capabilities of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blazar.booking.context import Context
from blazar.booking.views import JsonObject, property_view
from blazar.domain.plugin_resources import ResourceProperty
from blazar.plugins.hosts.errors import PropertyNotFound
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_NONE: Final[frozenset[str]] = frozenset()


def list_resource_properties(context: Context, include_private: bool) -> Sequence[JsonObject]:
    """Return each property that at least one host has, with its values, sorted by name."""
    with context.store.read() as transaction:
        found = transaction.of(HOST_STORE).list_properties()
    return [
        {"property": each.name, "private": each.is_private, "values": list(values)}
        for each, values in found
        if include_private or not each.is_private
    ]


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
    return private_properties(transaction)


def private_properties(transaction: Transaction) -> frozenset[str]:
    """Return the names of the private properties."""
    return frozenset(each.name for each in transaction.of(HOST_STORE).all_properties() if each.is_private)


def _get(transaction: Transaction, name: str) -> ResourceProperty:
    found = transaction.of(HOST_STORE).find_property(name)
    if found is None:
        raise PropertyNotFound(name[:255])
    return found
