"""Methods of ``conn.reservation`` that need API 1.1: free times, offers, the catalogue, and calendars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from openstack import exceptions
from openstack import proxy as sdk_proxy

from blazarclient import base
from blazarclient.sdk.base_resource import reason
from blazarclient.sdk.resources import HeldResource, HistoryEntry, Lease, Offer

Document = dict[str, Any]
"""A response of the API without its outer key."""


class QueriesProxy(sdk_proxy.Proxy):
    """Methods that need API version 1.1; without it, the service answers with an ``HttpException``.

    If a lease is refused, ``error.response.json()`` of the exception has ``reasons`` and ``alternatives``.
    """

    def search_time_slots(self, reservations: Sequence[Mapping[str, Any]], **query: Any) -> Document:
        """Return the time slots in which reservations are possible together; nothing is reserved.

        Args:
            reservations: Reservations in the form of the API, as for a lease.
            query: Other keys of the request, such as ``duration_minutes``, ``earliest_start``,
                ``latest_end``, ``order`` and ``limit``.

        Returns:
            ``slots``, and ``complete``, false if there may be better slots.
        """
        return self._question("POST", "/availability/search", {"reservations": [*reservations], **query})

    def preview_lease(self, **attrs: Any) -> Document:
        """Return what :meth:`create_lease` would reserve for the same attributes; nothing is created."""
        found: Document = self._question("POST", "/leases", attrs, dry_run="true")["preview"]
        return found

    def preview_lease_update(self, lease: str | Lease, **attrs: Any) -> Document:
        """Return what :meth:`update_lease` would make of a lease; nothing is changed."""
        path = base.path("leases", Lease._get_id(lease))
        found: Document = self._question("PUT", path, attrs, dry_run="true")["preview"]
        return found

    def offers(self) -> Iterator[Offer]:
        """Yield the open offers of the project."""
        found: Iterator[Offer] = self._list(Offer)
        return found

    def get_offer(self, offer: str | Offer) -> Offer:
        """Return an offer, even if it was committed or has expired."""
        found: Offer = self._get(Offer, offer)
        return found

    def create_offer(self, **attrs: Any) -> Offer:
        """Hold the resources of a possible lease for a short time, and return the offer.

        The attributes are those of :meth:`create_lease`, in which ``name`` may be absent, and
        ``ttl_seconds``.
        """
        created: Offer = self._create(Offer, **attrs)
        return created

    def commit_offer(self, offer: str | Offer, name: str | None = None) -> Lease:
        """Make a lease from what an offer holds, and return it; its default name is that of the offer."""
        body = {"offer_id": Offer._get_id(offer)} | ({} if name is None else {"name": name})
        return Lease.existing(**self._question("POST", "/leases", body)["lease"])

    def create_lease_offer(self, lease: str | Lease, **attrs: Any) -> Offer:
        """Hold what a change of a lease needs for a short time, and return the offer.

        The attributes are those of :meth:`update_lease`, and ``ttl_seconds``.
        """
        path = base.path("leases", Lease._get_id(lease), "offers")
        return Offer.existing(**self._question("POST", path, attrs)["offer"])

    def commit_lease_offer(self, lease: str | Lease, offer: str | Offer) -> Lease:
        """Change a lease with what an offer for it holds, and return it."""
        path = base.path("leases", Lease._get_id(lease))
        return Lease.existing(**self._question("PUT", path, {"offer_id": Offer._get_id(offer)})["lease"])

    def delete_offer(self, offer: str | Offer, ignore_missing: bool = True) -> None:
        """Release what an offer holds."""
        self._delete(Offer, offer, ignore_missing=ignore_missing)

    def get_catalogue(self) -> Document:
        """Return what the caller can reserve, and the limits that apply."""
        found: Document = self._question("GET", "/catalogue")["catalogue"]
        return found

    def get_availability(self, resource_type: str = "physical:host", **query: str) -> Document:
        """Return the numbers of free resources over time, in groups.

        Args:
            resource_type: A resource type of the catalogue.
            query: ``from_`` and ``to``, ``filter``, ``group_by``, ``resolution`` and ``unit``, as in the API.
        """
        return self._question("GET", "/availability", **_parameters(resource_type, query))

    def get_timeline(self, resource_type: str = "physical:host", **query: str) -> Document:
        """Return which resources are taken, free, being cleaned or failed over time, for calendars.

        Args:
            resource_type: A type whose reservations hold whole resources.
            query: As for :meth:`get_availability`, without ``unit``; also ``resources``, the text ``true``.
        """
        return self._question("GET", "/timeline", **_parameters(resource_type, query))

    def get_usage(self, by: str = "project", **query: str) -> Document:
        """Return how reserved resources were used in a period, in groups.

        Args:
            by: The groups: ``project``, ``user``, ``zone``, ``host`` or ``property``.
            query: ``from_``, ``to``, ``step``, ``property``, ``resource_type`` and ``project_id``, as in
                the API.
        """
        given = {key.removesuffix("_"): value for key, value in query.items()}
        found: Document = self._question("GET", "/usage", by=by, **given)["usage"]
        return found

    def replace_resources(
        self, lease: str | Lease, reservation_id: str, resources: list[str], reason: str = ""
    ) -> dict[str, Any]:
        """Report broken resources of a reservation, by id, and return the lease with replacements."""
        path = base.path("leases", Lease._get_id(lease), "replacements")
        body = {"reservation_id": reservation_id, "resources": resources, "reason": reason}
        found: dict[str, Any] = self._question("POST", path, body)["lease"]
        return found

    def lease_history(self, lease: str | Lease) -> Iterator[HistoryEntry]:
        """Yield what happened to a lease, oldest first."""
        path = base.path("leases", Lease._get_id(lease), "history")
        for each in self._question("GET", path)["history"]:
            yield HistoryEntry.existing(**each)

    def lease_resources(self, lease: str | Lease) -> Iterator[HeldResource]:
        """Yield the resources that a lease holds now."""
        path = base.path("leases", Lease._get_id(lease), "allocations")
        for each in self._question("GET", path)["allocations"]:
            yield HeldResource.existing(**each)

    def _question(self, method: str, path: str, body: Any = None, **query: str) -> Document:
        """Return the response to a request of API 1.1, or raise its error with the service's message."""
        content = {} if body is None else {"json": body}
        response = self.request(path, method, params=query, headers=base.API_1_1, **content)
        exceptions.raise_from_response(response, reason(response))
        found: Document = response.json()
        return found


def _parameters(resource_type: str, query: Mapping[str, str]) -> dict[str, str]:
    """Return parameters of a request; ``from`` is a keyword of Python, and given as ``from_``."""
    return {"resource_type": resource_type} | {key.removesuffix("_"): value for key, value in query.items()}
