"""The use cases as one object, for the API or the RPC server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from blazar.app import availability, catalogue, free_amounts, leases, offers, resources, timeline
from blazar.booking.context import Context
from blazar.domain.errors import BadRequest
from blazar.domain.lease import Owner
from blazar.plugins.floatingips import use_cases as floatingips
from blazar.plugins.hosts import lists as host_lists
from blazar.plugins.hosts import properties
from blazar.plugins.hosts import use_cases as hosts
from blazar.ports.manager import Caller, JsonObject, Manager


class ManagerService:
    """Implements :class:`blazar.ports.manager.Manager`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def list_leases(
        self, caller: Caller, project_id: str | None, page: JsonObject | None = None
    ) -> Sequence[JsonObject]:
        """Return the leases of a project, or of all projects for None; or a page of them."""
        if page is None:
            return leases.list_leases(self._context, project_id)
        return leases.list_lease_page(self._context, project_id, page)

    def get_lease(self, caller: Caller, lease_id: str) -> JsonObject:
        """Return a lease."""
        return leases.get_lease(self._context, caller, lease_id)

    def create_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Create a lease and return it. Raises Unavailable if this manager's clock is wrong."""
        self._context.clock_guard.check()
        create = offers.commit_offer if "offer_id" in body else leases.create_lease
        return create(self._context, caller, body)

    def create_lease_once(self, caller: Caller, key: str, body: JsonObject) -> JsonObject:
        """Create a lease, or return the one created with this key. Raises Unavailable like the above."""
        self._context.clock_guard.check()
        create = offers.commit_offer_once if "offer_id" in body else leases.create_lease_once
        return create(self._context, caller, key, body)

    def preview_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Return what a new lease would reserve. Raises Unavailable as for a new lease."""
        self._context.clock_guard.check()
        return leases.preview_lease(self._context, caller, body)

    def update_lease(self, caller: Caller, lease_id: str, body: JsonObject) -> JsonObject:
        """Change a lease and return it."""
        return leases.update_lease(self._context, caller, lease_id, body)

    def update_owned_lease(
        self, caller: Caller, lease_id: str, owner: JsonObject, body: JsonObject
    ) -> JsonObject:
        """Change a lease of this owner and return it."""
        return leases.update_lease(self._context, caller, lease_id, body, _parse_owner(owner))

    def delete_lease(self, caller: Caller, lease_id: str) -> None:
        """Delete a lease."""
        leases.delete_lease(self._context, caller, lease_id)

    def delete_owned_lease(self, caller: Caller, lease_id: str, owner: JsonObject) -> None:
        """Delete a lease of this owner."""
        leases.delete_lease(self._context, caller, lease_id, _parse_owner(owner))

    def list_lease_allocations(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        """Return the resources that a lease's reservations hold."""
        return leases.list_lease_allocations(self._context, lease_id)

    def search_time_slots(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Return time slots in which reservations could be made."""
        return availability.search_time_slots(self._context, caller, body)

    def create_offer(self, caller: Caller, key: str | None, body: JsonObject) -> JsonObject:
        """Hold resources for a short time. Raises Unavailable if this manager's clock is wrong."""
        self._context.clock_guard.check()
        if key is None:
            return {"offer": offers.create_offer(self._context, caller, body), "is_replayed": False}
        return offers.create_offer_once(self._context, caller, key, body)

    def list_offers(self, caller: Caller) -> Sequence[JsonObject]:
        """Return the open offers of the caller's project."""
        return offers.list_offers(self._context, caller)

    def get_offer(self, caller: Caller, offer_id: str) -> JsonObject:
        """Return an offer."""
        return offers.get_offer(self._context, caller, offer_id)

    def delete_offer(self, caller: Caller, offer_id: str) -> None:
        """Release what an offer holds."""
        offers.delete_offer(self._context, caller, offer_id)

    def list_lease_history(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        """Return what happened to a lease."""
        return leases.list_lease_history(self._context, lease_id)

    def get_catalogue(self, caller: Caller) -> JsonObject:
        """Return what the caller can reserve."""
        return catalogue.get_catalogue(self._context, caller)

    def list_free_amounts(self, caller: Caller, query: JsonObject, known: Sequence[str] = ()) -> JsonObject:
        """Return the numbers of free resources over time."""
        return free_amounts.list_free_amounts(self._context, caller, query, known)

    def get_timeline(self, caller: Caller, query: JsonObject, with_ids: bool) -> JsonObject:
        """Return in which state resources are over time."""
        return timeline.get_timeline(self._context, caller, query, with_ids)

    def list_hosts(self, caller: Caller, page: JsonObject | None = None) -> Sequence[JsonObject]:
        """Return the registered hosts, or a page of them."""
        return host_lists.list_hosts(self._context, caller, page)

    def get_host(self, caller: Caller, host_id: str) -> JsonObject:
        """Return a host."""
        return hosts.get_host(self._context, caller, host_id)

    def create_host(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Register a hypervisor."""
        return hosts.create_host(self._context, body)

    def update_host(self, caller: Caller, host_id: str, body: JsonObject) -> JsonObject:
        """Set or remove extra capabilities."""
        return hosts.update_host(self._context, caller, host_id, body)

    def delete_host(self, caller: Caller, host_id: str) -> None:
        """Remove a host from the service, so that Nova uses it normally again."""
        hosts.delete_host(self._context, host_id)

    def list_floatingips(self, caller: Caller, page: JsonObject | None = None) -> Sequence[JsonObject]:
        """Return the registered floating IPs, or a page of them."""
        return floatingips.list_floatingips(self._context, page)

    def get_floatingip(self, caller: Caller, floatingip_id: str) -> JsonObject:
        """Return a floating IP."""
        return floatingips.get_floatingip(self._context, floatingip_id)

    def create_floatingip(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Register an address."""
        return floatingips.create_floatingip(self._context, body)

    def delete_floatingip(self, caller: Caller, floatingip_id: str) -> None:
        """Remove an address from the service, so that the operator can use it otherwise."""
        floatingips.delete_floatingip(self._context, floatingip_id)

    def list_resources(self, caller: Caller, collection: str) -> Sequence[JsonObject]:
        """Return the registered resources of a plugin's collection."""
        return resources.list_resources(self._context, collection)

    def get_resource(self, caller: Caller, collection: str, resource_id: str) -> JsonObject:
        """Return a registered resource."""
        return resources.get_resource(self._context, collection, resource_id)

    def create_resource(self, caller: Caller, collection: str, body: JsonObject) -> JsonObject:
        """Register a resource."""
        return resources.create_resource(self._context, collection, body)

    def update_resource(
        self, caller: Caller, collection: str, resource_id: str, body: JsonObject
    ) -> JsonObject:
        """Change a registered resource."""
        return resources.update_resource(self._context, collection, resource_id, body)

    def delete_resource(self, caller: Caller, collection: str, resource_id: str) -> None:
        """Remove a registered resource."""
        resources.delete_resource(self._context, collection, resource_id)

    def list_allocations(
        self,
        caller: Caller,
        lease_id: str | None,
        reservation_id: str | None,
        page: JsonObject | None = None,
    ) -> Sequence[JsonObject]:
        """Return the allocations of each host, or of each host of a page."""
        return host_lists.list_allocations(self._context, lease_id, reservation_id, page)

    def get_allocations(
        self, caller: Caller, host_id: str, lease_id: str | None, reservation_id: str | None
    ) -> JsonObject:
        """Return a host's allocations."""
        return hosts.get_allocations(self._context, host_id, lease_id, reservation_id)

    def list_resource_properties(self, caller: Caller, include_private: bool) -> Sequence[JsonObject]:
        """Return each property that any host has."""
        return properties.list_resource_properties(self._context, include_private)

    def update_resource_property(self, caller: Caller, name: str, private: bool | None) -> JsonObject:
        """Make a property private or public."""
        return properties.update_resource_property(self._context, name, private)


def _parse_owner(owner: JsonObject) -> Owner:
    """Return the owner that an API expects; values of other types belong to no lease.

    Raises:
        BadRequest: A key is missing or unknown, so nothing can be checked.
    """
    if owner.keys() != {"project_id", "user_id"}:
        raise BadRequest("The expected owner needs project_id and user_id")
    return Owner(**cast("dict[str, str | None]", owner))


if TYPE_CHECKING:

    def _witness(service: ManagerService) -> Manager:
        return service
