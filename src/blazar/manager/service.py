"""The use cases as one object, for the API or the RPC server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from blazar.app import (
    availability,
    catalogue,
    collection_properties,
    feeds,
    free_amounts,
    leases,
    maintenance,
    offers,
    resources,
    subscriptions,
    timeline,
    usage,
)
from blazar.booking.context import Context
from blazar.booking.serving import TypeService, same_for_all, use_case
from blazar.domain.errors import BadRequest
from blazar.domain.lease import Owner
from blazar.ports.manager import Caller, JsonObject, Manager, list_methods
from blazar.resource_types import load_parts

SERVICES: Final[tuple[TypeService, ...]] = load_parts("service", TypeService)


class ManagerService:
    """Implements :class:`blazar.ports.manager.Manager`, which describes the methods."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._of_types = {
            method: getattr(server, method)
            for each in SERVICES
            for server in [each.make(context)]
            for method in list_methods(each.requests.protocol)
        }

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method of a resource type. Raises AttributeError if no type has it."""
        method: Callable[..., Any] | None = self.__dict__.get("_of_types", {}).get(name)
        if method is None:
            raise AttributeError(name)
        return method

    def list_leases(
        self, caller: Caller, project_id: str | None, page: JsonObject | None = None
    ) -> Sequence[JsonObject]:
        """Return the leases of a project, or of all projects for None; or a page of them."""
        if page is None:
            return leases.list_leases(self.context, project_id)
        return leases.list_lease_page(self.context, project_id, page)

    get_lease = use_case(leases.get_lease)

    def create_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Create a lease and return it. Raises Unavailable if this manager's clock is wrong."""
        self.context.clock_guard.check()
        create = offers.commit_offer if "offer_id" in body else leases.create_lease
        return create(self.context, caller, body)

    def create_lease_once(self, caller: Caller, key: str, body: JsonObject) -> JsonObject:
        """Create a lease, or return the one created with this key. Raises as :meth:`create_lease`."""
        self.context.clock_guard.check()
        create = offers.commit_offer_once if "offer_id" in body else leases.create_lease_once
        return create(self.context, caller, key, body)

    def preview_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Return what a new lease would reserve. Raises Unavailable as for a new lease."""
        self.context.clock_guard.check()
        return leases.preview_lease(self.context, caller, body)

    def preview_update(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, body: JsonObject
    ) -> JsonObject:
        """Return what a change would make of a lease of this owner; None for any owner."""
        expected = None if owner is None else _parse_owner(owner)
        return leases.preview_update(self.context, caller, lease_id, body, expected)

    update_lease = use_case(leases.update_lease)

    def update_owned_lease(
        self, caller: Caller, lease_id: str, owner: JsonObject, body: JsonObject
    ) -> JsonObject:
        """Change a lease of this owner and return it."""
        return leases.update_lease(self.context, caller, lease_id, body, _parse_owner(owner))

    delete_lease = use_case(leases.delete_lease)

    def delete_owned_lease(self, caller: Caller, lease_id: str, owner: JsonObject) -> None:
        """Delete a lease of this owner."""
        leases.delete_lease(self.context, caller, lease_id, _parse_owner(owner))

    list_lease_allocations = same_for_all(leases.list_lease_allocations)
    list_lease_resources = same_for_all(leases.list_lease_resources)
    list_lease_history = same_for_all(leases.list_lease_history)

    search_time_slots = use_case(availability.search_time_slots)
    get_catalogue = use_case(catalogue.get_catalogue)
    list_free_amounts = use_case(free_amounts.list_free_amounts)
    get_timeline = use_case(timeline.get_timeline)

    def create_offer(self, caller: Caller, key: str | None, body: JsonObject) -> JsonObject:
        """Hold resources for a short time. Raises Unavailable if this manager's clock is wrong."""
        self.context.clock_guard.check()
        if key is None:
            return {"offer": offers.create_offer(self.context, caller, body), "is_replayed": False}
        return offers.create_offer_once(self.context, caller, key, body)

    def create_lease_offer(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, key: str | None, body: JsonObject
    ) -> JsonObject:
        """Hold what a change of a lease of this owner needs; None for any owner."""
        expected = None if owner is None else _parse_owner(owner)
        if key is None:
            made = offers.create_lease_offer(self.context, caller, lease_id, body, expected)
            return {"offer": made, "is_replayed": False}
        return offers.create_lease_offer_once(self.context, caller, lease_id, key, body, expected)

    def commit_lease_offer(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, offer_id: str
    ) -> JsonObject:
        """Make the change of an offer to a lease of this owner; None for any owner."""
        expected = None if owner is None else _parse_owner(owner)
        return leases.commit_offered_change(self.context, caller, lease_id, offer_id, expected)

    list_offers = use_case(offers.list_offers)
    get_offer = use_case(offers.get_offer)
    delete_offer = use_case(offers.delete_offer)

    create_maintenance = use_case(maintenance.create_maintenance)
    list_maintenances = use_case(maintenance.list_maintenances)
    get_maintenance = use_case(maintenance.get_maintenance)
    update_maintenance = use_case(maintenance.update_maintenance)
    delete_maintenance = use_case(maintenance.delete_maintenance)

    get_usage = use_case(usage.get_usage)

    create_feed = use_case(feeds.create_feed)
    list_feeds = use_case(feeds.list_feeds)
    get_feed = use_case(feeds.get_feed)
    delete_feed = use_case(feeds.delete_feed)
    get_calendar = use_case(feeds.get_calendar)

    list_subscriptions = use_case(subscriptions.list_subscriptions)
    get_subscription = use_case(subscriptions.get_subscription)
    create_subscription = use_case(subscriptions.create_subscription)
    update_subscription = use_case(subscriptions.update_subscription)
    delete_subscription = use_case(subscriptions.delete_subscription)
    test_subscription = use_case(subscriptions.test_subscription)
    list_subscription_deliveries = use_case(subscriptions.list_subscription_deliveries)

    list_resources = use_case(resources.list_resources)
    get_resource = use_case(resources.get_resource)
    create_resource = same_for_all(resources.create_resource)
    create_resources = same_for_all(resources.create_resources)
    update_resource = same_for_all(resources.update_resource)
    delete_resource = same_for_all(resources.delete_resource)
    list_resource_allocations = same_for_all(resources.list_resource_allocations)
    get_resource_allocations = same_for_all(resources.get_resource_allocations)
    list_collection_properties = same_for_all(collection_properties.list_collection_properties)
    update_collection_property = same_for_all(collection_properties.update_collection_property)


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
