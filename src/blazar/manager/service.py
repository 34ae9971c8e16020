"""The use cases as one object, for the API or the RPC server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from blazar.app import availability, catalogue, free_amounts, leases, offers, resources, timeline
from blazar.booking.context import Context
from blazar.domain.errors import BadRequest
from blazar.domain.lease import Owner
from blazar.plugins.floatingips import use_cases as floatingips
from blazar.plugins.hosts import lists as host_lists
from blazar.plugins.hosts import properties
from blazar.plugins.hosts import use_cases as hosts
from blazar.ports.manager import Caller, JsonObject, Manager

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _use_case(
    function: Callable[Concatenate[Context, _Arguments], _Result],
) -> Callable[Concatenate[ManagerService, _Arguments], _Result]:
    """Return the method for a use case."""

    @wraps(function)
    def method(service: ManagerService, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return function(service.context, *args, **kwargs)

    return method


def _same_for_all(
    function: Callable[Concatenate[Context, _Arguments], _Result],
) -> Callable[Concatenate[ManagerService, Caller, _Arguments], _Result]:
    """Return the method for a use case that does not depend on the caller."""

    @wraps(function)
    def method(
        service: ManagerService, caller: Caller, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Result:
        return function(service.context, *args, **kwargs)

    return method


class ManagerService:
    """Implements :class:`blazar.ports.manager.Manager`, which describes the methods."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def list_leases(
        self, caller: Caller, project_id: str | None, page: JsonObject | None = None
    ) -> Sequence[JsonObject]:
        """Return the leases of a project, or of all projects for None; or a page of them."""
        if page is None:
            return leases.list_leases(self.context, project_id)
        return leases.list_lease_page(self.context, project_id, page)

    get_lease = _use_case(leases.get_lease)

    def create_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Create a lease and return it. Raises Unavailable if this manager's clock is wrong."""
        self.context.clock_guard.check()
        create = offers.commit_offer if "offer_id" in body else leases.create_lease
        return create(self.context, caller, body)

    def create_lease_once(self, caller: Caller, key: str, body: JsonObject) -> JsonObject:
        """Create a lease, or return the one created with this key. Raises Unavailable like the above."""
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

    update_lease = _use_case(leases.update_lease)

    def update_owned_lease(
        self, caller: Caller, lease_id: str, owner: JsonObject, body: JsonObject
    ) -> JsonObject:
        """Change a lease of this owner and return it."""
        return leases.update_lease(self.context, caller, lease_id, body, _parse_owner(owner))

    delete_lease = _use_case(leases.delete_lease)

    def delete_owned_lease(self, caller: Caller, lease_id: str, owner: JsonObject) -> None:
        """Delete a lease of this owner."""
        leases.delete_lease(self.context, caller, lease_id, _parse_owner(owner))

    list_lease_allocations = _same_for_all(leases.list_lease_allocations)
    list_lease_resources = _same_for_all(leases.list_lease_resources)
    list_lease_history = _same_for_all(leases.list_lease_history)

    search_time_slots = _use_case(availability.search_time_slots)
    get_catalogue = _use_case(catalogue.get_catalogue)
    list_free_amounts = _use_case(free_amounts.list_free_amounts)
    get_timeline = _use_case(timeline.get_timeline)

    def create_offer(self, caller: Caller, key: str | None, body: JsonObject) -> JsonObject:
        """Hold resources for a short time. Raises Unavailable if this manager's clock is wrong."""
        self.context.clock_guard.check()
        if key is None:
            return {"offer": offers.create_offer(self.context, caller, body), "is_replayed": False}
        return offers.create_offer_once(self.context, caller, key, body)

    list_offers = _use_case(offers.list_offers)
    get_offer = _use_case(offers.get_offer)
    delete_offer = _use_case(offers.delete_offer)

    list_hosts = _use_case(host_lists.list_hosts)
    get_host = _use_case(hosts.get_host)
    create_host = _same_for_all(hosts.create_host)
    update_host = _use_case(hosts.update_host)
    delete_host = _same_for_all(hosts.delete_host)
    list_allocations = _same_for_all(host_lists.list_allocations)
    get_allocations = _same_for_all(hosts.get_allocations)
    list_resource_properties = _same_for_all(properties.list_resource_properties)
    update_resource_property = _same_for_all(properties.update_resource_property)

    list_floatingips = _same_for_all(floatingips.list_floatingips)
    get_floatingip = _same_for_all(floatingips.get_floatingip)
    create_floatingip = _same_for_all(floatingips.create_floatingip)
    delete_floatingip = _same_for_all(floatingips.delete_floatingip)

    list_resources = _same_for_all(resources.list_resources)
    get_resource = _same_for_all(resources.get_resource)
    create_resource = _same_for_all(resources.create_resource)
    update_resource = _same_for_all(resources.update_resource)
    delete_resource = _same_for_all(resources.delete_resource)


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
