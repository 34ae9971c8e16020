"""Use cases of resources that operators register for plugins: list, register, change, remove, allocations."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from blazar.app.properties import hidden_names
from blazar.booking.cloud_errors import cloud_errors_as_conflicts
from blazar.booking.context import Context
from blazar.booking.resources import delete_stored, insert_stored
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.views import JsonObject, allocation_view, health_view, resource_view
from blazar.domain.errors import Conflict, InvalidParameter, NotFound
from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.capabilities import RegistersResources
from blazar.ports.allocations import BookedWindow
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_LONGEST_NAME = 255


def list_resources(context: Context, caller: Caller, collection: str) -> Sequence[JsonObject]:
    """Return the registered resources of a collection, by name. Raises NotFound."""
    plugin_of(context, collection)
    hidden = hidden_names(context, caller)
    with context.store.read() as transaction:
        return [_read_view(each, caller, hidden) for each in transaction.plugin_resources.list(collection)]


def get_resource(context: Context, caller: Caller, collection: str, resource_id: str) -> JsonObject:
    """Return a registered resource. Raises NotFound."""
    plugin_of(context, collection)
    hidden = hidden_names(context, caller)
    with context.store.read() as transaction:
        return _read_view(_get(transaction, collection, resource_id), caller, hidden)


@cloud_errors_as_conflicts()
def create_resource(context: Context, collection: str, body: JsonObject) -> JsonObject:
    """Register a resource and return it.

    Raises:
        BadRequest, NotFound, Conflict: The plugin refuses it.
        Conflict: A resource of this name is already registered.
    """
    resource = plugin_of(context, collection).register(context.cloud, body)
    _insert(context, collection, (resource,))
    return resource_view(resource)


@cloud_errors_as_conflicts()
def create_resources(context: Context, collection: str, body: JsonObject) -> Sequence[JsonObject]:
    """Register all resources of one request, or none, and return them. Raises as :func:`create_resource`."""
    registered = plugin_of(context, collection).register_all(context.cloud, body)
    _insert(context, collection, registered)
    return [resource_view(each) for each in registered]


def _insert(context: Context, collection: str, registered: Sequence[PluginResource]) -> None:
    """Store resources. Raises Conflict if one of them is already registered."""
    for each in registered:
        _check_name(each, collection)
    insert_stored(context, registered)


@cloud_errors_as_conflicts()
def update_resource(context: Context, collection: str, resource_id: str, body: JsonObject) -> JsonObject:
    """Change a registered resource and return it.

    Raises:
        BadRequest, NotFound, Conflict: The plugin refuses the change, or no such resource is registered.
        Conflict: A lease holds the resource, now or later.
    """
    plugin = plugin_of(context, collection)

    def once(attempt: int) -> PluginResource:
        with context.store.read() as transaction:
            before = _get(transaction, collection, resource_id)
        after = plugin.change(context.cloud, before, body)
        if (after.collection, after.name) != (before.collection, before.name):
            raise ValueError(f"the plugin of {collection} renames a resource")
        now = context.clock.now()
        with context.store.begin() as transaction:
            transaction.allocations.purge_released(now - context.settings.leases.cleaning_time)
            # A concurrent search or change that relied on the old facts must fail, and so must this one.
            transaction.allocations.claim({before.id: before.generation})
            if transaction.allocations.count_on(before.id):
                raise _reserved(before)
            transaction.plugin_resources.put(after, now)
            reschedule_missing(context, transaction)
            transaction.commit()
        return after

    changed = retrying(context, once)
    context.waker.wake()
    return resource_view(changed)


@cloud_errors_as_conflicts()
def delete_resource(context: Context, collection: str, resource_id: str) -> None:
    """Remove a resource from the registered ones.

    Raises:
        NotFound: No such resource is registered.
        Conflict: A lease holds it, now or later, or the plugin refuses.
    """
    plugin = plugin_of(context, collection)
    with context.store.read() as transaction:
        resource = _get(transaction, collection, resource_id)
    plugin.check_removable(context.cloud, resource)
    if not delete_stored(context, resource):
        raise _reserved(resource)


def list_resource_allocations(
    context: Context, collection: str, lease_id: str | None, reservation_id: str | None
) -> Sequence[JsonObject]:
    """Return the allocations of each registered resource of a collection, by name. Raises NotFound."""
    plugin_of(context, collection)
    with context.store.read() as transaction:
        found = transaction.plugin_resources.list(collection)
        booked = transaction.allocations.list_booked(
            now=context.clock.now(), lease_id=lease_id, reservation_id=reservation_id
        )
    by_resource: dict[str, list[BookedWindow]] = {}
    for each in booked:
        by_resource.setdefault(each.resource_id, []).append(each)
    return [allocation_view(each.id, by_resource.get(each.id, [])) for each in found]


def get_resource_allocations(
    context: Context, collection: str, resource_id: str, lease_id: str | None, reservation_id: str | None
) -> JsonObject:
    """Return the allocations of a registered resource. Raises NotFound."""
    plugin_of(context, collection)
    with context.store.read() as transaction:
        resource = _get(transaction, collection, resource_id)
        booked = transaction.allocations.list_booked(
            now=context.clock.now(),
            resource_id=resource.id,
            lease_id=lease_id,
            reservation_id=reservation_id,
        )
    return allocation_view(resource.id, booked)


def plugin_of(context: Context, collection: str) -> RegistersResources:
    """Return the plugin that registers the resources of a collection. Raises NotFound."""
    for plugin in context.plugins.values():
        if plugin.collection == collection and isinstance(plugin, RegistersResources):
            return plugin
    raise NotFound(f"No enabled plugin registers resources of the collection {collection[:64]}")


def _get(transaction: Transaction, collection: str, resource_id: str) -> PluginResource:
    for found in transaction.plugin_resources.get_many([ResourceId(resource_id)]):
        if found.collection == collection:
            return found
    raise NotFound(f"No resource of {collection} has the id {resource_id[:64]}")


def _read_view(resource: PluginResource, caller: Caller, hidden: Collection[str]) -> JsonObject:
    return {**health_view(resource.diagnosis, caller), **resource_view(resource, hidden)}


def _reserved(resource: PluginResource) -> Conflict:
    return Conflict(f"{resource.name} is reserved, now or later, or is being cleaned")


def _check_name(resource: PluginResource, collection: str) -> None:
    if resource.collection != collection:
        raise ValueError(f"the plugin of {collection} describes a resource of {resource.collection}")
    if not 0 < len(resource.name) <= _LONGEST_NAME or "\x00" in resource.name:
        raise InvalidParameter("name", f"must have 1 to {_LONGEST_NAME} characters, and no NUL")
