"""Port: the API's requests to a manager, one method per use case.

Arguments and results are JSON values, so that they can be sent over a message bus. Objects in results have
the form of API v1 (``doc/openapi.json``); the API passes them on unchanged. A manager does not know about
HTTP.

Every method may raise any :class:`~blazar.domain.errors.BlazarError`; ``Unavailable`` if no manager
answers in time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from blazar.ports.feed_requests import FeedRequests
from blazar.ports.maintenance_requests import MaintenanceRequests
from blazar.ports.subscription_requests import SubscriptionRequests
from blazar.ports.usage_requests import UsageRequests

JsonObject = Mapping[str, object]

OLDEST_API = (1, 0)
"""The microversion of requests that name none."""

PROGRESS_SINCE = (1, 1)
"""First microversion in which leases are read with ``status_reason``, ``retry_at`` and ``held``."""


REASONS_SINCE = (1, 1)
"""First microversion in which the refusal of a new or changed lease has reasons and alternatives."""


CHANGES_SINCE = (1, 1)
"""First microversion in which a changed lease has ``changes``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request. ``token`` is the user's own; it is never stored or shown by ``repr``."""

    user_id: str | None
    project_id: str | None
    roles: tuple[str, ...] = ()
    request_id: str = ""
    global_request_id: str | None = None
    token: str | None = None
    sees_private_properties: bool = False
    """True if the caller may see private resource properties, also in requirements, and reasons of health."""
    api_version: tuple[int, int] = OLDEST_API
    """The microversion of the request."""

    def __repr__(self) -> str:
        return f"Caller(user_id={self.user_id!r}, project_id={self.project_id!r}, roles={self.roles!r})"


_RequestsT = TypeVar("_RequestsT")


class RequestsKey(Generic[_RequestsT]):
    """Names the requests about one resource type that managers serve, and gives them their type.

    A Protocol declares them, as :class:`Manager` does those of the core. No other has a method of that name.
    """

    def __init__(self, protocol: Any) -> None:
        """Create the key of a Protocol."""
        self.protocol = protocol

    def on(self, manager: Manager) -> _RequestsT:
        """Return *manager* as the server of these requests; every manager serves those of all types."""
        return cast("_RequestsT", manager)


def list_methods(protocol: Any) -> list[str]:
    """Return the names of the requests that a Protocol declares or inherits."""
    declaring = [each for each in protocol.__mro__ if getattr(each, "_is_protocol", False)]
    return [name for each in declaring for name in vars(each) if not name.startswith("_")]


class Manager(MaintenanceRequests, UsageRequests, FeedRequests, SubscriptionRequests, Protocol):
    """The use cases. The caller owns the results.

    A list may be a :class:`~blazar.domain.written_objects.WrittenObjects`. A manager also has the methods
    of the ``REQUESTS`` of each resource type.
    """

    def list_leases(
        self, caller: Caller, project_id: str | None, page: JsonObject | None = None
    ) -> Sequence[JsonObject]:
        """Return the leases of a project, or of all projects for None; or a page of them.

        Args:
            caller: The caller.
            project_id: The project.
            page: None for the complete list, in which the oldest come first. Otherwise ``limit``, a number,
                and optionally, as in the query of a request, ``marker``, ``sort`` and filters.

        Raises:
            InvalidParameter: A part of *page* is invalid.
        """

    def get_lease(self, caller: Caller, lease_id: str) -> JsonObject:
        """Return a lease. Raises LeaseNotFound."""

    def create_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Create a lease that belongs to the caller, and return it.

        With ``offer_id`` in its body, the lease gets the resources of that offer.
        """

    def create_lease_once(self, caller: Caller, key: str, body: JsonObject) -> JsonObject:
        """Create a lease, unless the caller has created one with this idempotency key before.

        Returns:
            ``lease``, as it was returned at its creation, and ``is_replayed``, which is true if it was
            created before. It may have been changed or deleted since.

        Raises:
            IdempotencyKeyReused: The earlier request was a different one.
        """

    def preview_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Return what :meth:`create_lease` would reserve for a body; nothing is created.

        Returns:
            ``start_date``, ``end_date``, ``before_end_date``, and ``reservations``, each with
            ``resource_type``, ``amount`` and the ids of the ``resources``.
        """

    def preview_update(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, body: JsonObject
    ) -> JsonObject:
        """Return what :meth:`update_owned_lease` would make of a lease; nothing is changed.

        Args:
            caller: The caller.
            lease_id: The lease.
            owner: As there; None if the owner is not to be checked.
            body: The change.

        Returns:
            As :meth:`preview_lease`.
        """

    def update_lease(self, caller: Caller, lease_id: str, body: JsonObject) -> JsonObject:
        """Change a lease and return it; a refused change changes nothing.

        The manager does not check the owner. Only for callers that have checked it, and for APIs and managers
        of different versions.
        """

    def update_owned_lease(
        self, caller: Caller, lease_id: str, owner: JsonObject, body: JsonObject
    ) -> JsonObject:
        """Change a lease and return it, after checking that it belongs to *owner*.

        Args:
            caller: The caller.
            lease_id: The lease.
            owner: ``project_id`` and ``user_id``, for which the API has checked its policy.
            body: The change.

        Raises:
            LeaseNotFound: Before any other error.
            OwnerMismatch: Before any error except LeaseNotFound; nothing was changed.
        """

    def delete_lease(self, caller: Caller, lease_id: str) -> None:
        """Record the deletion of a lease, and wait a bounded time until the lease is gone.

        The manager does not check the owner; see :meth:`update_lease`.
        """

    def delete_owned_lease(self, caller: Caller, lease_id: str, owner: JsonObject) -> None:
        """Do the same, after checking that the lease belongs to *owner*; see :meth:`update_owned_lease`."""

    def list_lease_allocations(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        """Return the resources that a lease's reservations hold. Raises LeaseNotFound.

        Returns:
            Each with ``reservation_id``, ``resource_type``, ``resource_id``, ``name``, ``amount``,
            ``start_date`` and ``end_date``.
        """

    def list_lease_resources(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        """Return each reservation of a lease with what it holds, and how to use that. Raises LeaseNotFound.

        Returns:
            Each with ``reservation_id``, ``resource_type``, ``status``, ``resources`` (with ``id``,
            ``name``, ``amount``, ``start_date`` and ``end_date``), and ``use``: what to name in requests to
            other services, None unless the reservation is active.
        """

    def search_time_slots(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Return time slots in which reservations could be made; nothing is reserved.

        Returns:
            ``{"slots": [{"start_date", "end_date", "latest_start_date", "reservations": [{"resource_type",
            "amount"}]}], "complete"}``; with ``lease_id`` in the body, the changes of that lease that are
            possible: ``{"id", "latest_end_date", "reservations", "slots"}``. The API checks access.
        """

    def create_offer(self, caller: Caller, key: str | None, body: JsonObject) -> JsonObject:
        """Hold the resources of a possible lease for a short time.

        Args:
            caller: The caller, whose project gets the offer.
            key: The idempotency key, as for :meth:`create_lease_once`; None for none.
            body: As for a lease, and ``ttl_seconds``.

        Returns:
            ``offer`` and ``is_replayed``.
        """

    def create_lease_offer(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, key: str | None, body: JsonObject
    ) -> JsonObject:
        """Hold what a change of a lease needs for a short time; the offer belongs to the lease's project.

        Args:
            caller: The caller.
            lease_id: The lease.
            owner: As for :meth:`update_owned_lease`; None if the owner is not to be checked.
            key: The idempotency key, as for :meth:`create_lease_once`; None for none.
            body: As for a change, and ``ttl_seconds``.

        Returns:
            ``offer`` and ``is_replayed``.
        """

    def commit_lease_offer(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, offer_id: str
    ) -> JsonObject:
        """Change a lease with what an offer for it holds, and return the lease.

        Args:
            caller: The caller.
            lease_id: The lease.
            owner: As for :meth:`update_owned_lease`; None if the owner is not to be checked.
            offer_id: The offer.

        Raises:
            OfferNotFound: There is no such offer for this lease.
        """

    def list_offers(self, caller: Caller) -> Sequence[JsonObject]:
        """Return the offers of the caller's project that can be committed, oldest first."""

    def get_offer(self, caller: Caller, offer_id: str) -> JsonObject:
        """Return an offer of the caller's project. Raises OfferNotFound."""

    def delete_offer(self, caller: Caller, offer_id: str) -> None:
        """Release what an offer of the caller's project holds. Raises OfferNotFound and OfferCommitted."""

    def list_lease_history(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        """Return what happened to a lease, oldest first. Raises LeaseNotFound.

        Returns:
            Each with ``time``, ``reservation_id`` (None for the lease) and ``text``.
        """

    def get_catalogue(self, caller: Caller, with_choices: bool = False) -> JsonObject:
        """Return what the caller can reserve, and within which limits. Raises Unavailable.

        Args:
            caller: The caller.
            with_choices: Ask the cloud for the objects that the caller can name in a request.
        """

    def list_free_amounts(self, caller: Caller, query: JsonObject, known: Sequence[str] = ()) -> JsonObject:
        """Return the numbers of free resources over time, in groups.

        Args:
            caller: The caller.
            query: ``resource_type``, and optionally ``from``, ``to``, ``filter`` and ``group_by``.
            known: The ``etag`` of earlier answers.

        Returns:
            ``etag``; unless it is among the known ones, also ``region``, ``resource_type``, ``from``, ``to``,
            and ``groups``, each with ``value``, ``total``, and ``steps`` of ``time`` and ``free``.

        Raises:
            BadRequest: A part of the query is invalid.
        """

    def get_timeline(self, caller: Caller, query: JsonObject, with_ids: bool) -> JsonObject:
        """Return in which state resources are over time.

        Args:
            caller: The caller.
            query: As for :meth:`list_free_amounts`, and ``resources``: a row for each resource.
            with_ids: Whether such rows have the ids of their resources.

        Raises:
            BadRequest: A part of the query is invalid.
        """

    def list_resources(self, caller: Caller, collection: str) -> Sequence[JsonObject]:
        """Return the resources that operators registered for a plugin, by name.

        Returns:
            Each with ``id``, ``name``, ``amounts``, ``reservable`` and the facts of the plugin.

        Raises:
            NotFound: No plugin registers resources of this collection.
        """

    def get_resource(self, caller: Caller, collection: str, resource_id: str) -> JsonObject:
        """Return one of them. Raises NotFound."""

    def create_resource(self, caller: Caller, collection: str, body: JsonObject) -> JsonObject:
        """Register a resource for a plugin and return it."""

    def create_resources(self, caller: Caller, collection: str, body: JsonObject) -> Sequence[JsonObject]:
        """Register all resources of one request, or none, and return them."""

    def update_resource(
        self, caller: Caller, collection: str, resource_id: str, body: JsonObject
    ) -> JsonObject:
        """Change a registered resource that is not reserved, and return it."""

    def delete_resource(self, caller: Caller, collection: str, resource_id: str) -> None:
        """Remove a registered resource that is not reserved."""

    def list_resource_allocations(
        self, caller: Caller, collection: str, lease_id: str | None, reservation_id: str | None
    ) -> Sequence[JsonObject]:
        """Return the present and future allocations of each registered resource, by name of the resource.

        Args:
            caller: The caller.
            collection: The collection.
            lease_id: If given, only allocations of this lease, also past ones.
            reservation_id: If given, only allocations of this reservation, also past ones.

        Returns:
            Each with ``resource_id``, and ``reservations`` with ``id``, ``lease_id``, ``start_date`` and
            ``end_date``.

        Raises:
            NotFound: No plugin registers resources of this collection.
        """

    def get_resource_allocations(
        self,
        caller: Caller,
        collection: str,
        resource_id: str,
        lease_id: str | None,
        reservation_id: str | None,
    ) -> JsonObject:
        """Return the allocations of one of them. Raises NotFound."""

    def list_collection_properties(
        self, caller: Caller, collection: str, include_private: bool
    ) -> Sequence[JsonObject]:
        """Return the properties of the registered resources of a collection, by name.

        Returns:
            Each with ``property``, ``private`` and ``values``.

        Raises:
            NotFound: No plugin registers resources of this collection.
        """

    def update_collection_property(
        self, caller: Caller, collection: str, name: str, private: bool | None
    ) -> JsonObject:
        """Make one of them private or public (None: no change), and return it. Raises NotFound."""
