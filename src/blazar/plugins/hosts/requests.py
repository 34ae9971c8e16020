"""Port: the API's requests to a manager about hosts, their allocations and their resource properties.

They follow the rules of :mod:`blazar.ports.manager`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from blazar.ports.manager import Caller, JsonObject, RequestsKey


class HostRequests(Protocol):
    """The requests."""

    def list_hosts(self, caller: Caller, page: JsonObject | None = None) -> Sequence[JsonObject]:
        """Return the registered hosts; extra capabilities are among the other keys.

        A *page* is as in :meth:`blazar.ports.manager.Manager.list_leases`, here and in the other lists.
        """

    def get_host(self, caller: Caller, host_id: str) -> JsonObject:
        """Return a host. Raises HostNotFound."""

    def create_host(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Register a hypervisor and return it."""

    def update_host(self, caller: Caller, host_id: str, body: JsonObject) -> JsonObject:
        """Set extra capabilities, or remove those whose value is null; return the host."""

    def delete_host(self, caller: Caller, host_id: str) -> None:
        """Remove a host from the service, so that Nova uses it normally again."""

    def list_allocations(
        self,
        caller: Caller,
        lease_id: str | None,
        reservation_id: str | None,
        page: JsonObject | None = None,
    ) -> Sequence[JsonObject]:
        """Return the allocations of each host, or of each host of a page.

        Returns:
            ``{"resource_id", "reservations": [{"id", "lease_id", "start_date", "end_date"}]}``.
        """

    def get_allocations(
        self, caller: Caller, host_id: str, lease_id: str | None, reservation_id: str | None
    ) -> JsonObject:
        """Return the allocations of one host. Raises HostNotFound."""

    def list_resource_properties(self, caller: Caller, include_private: bool) -> Sequence[JsonObject]:
        """Return ``{"property", "private", "values"}`` of each property that a host has, by name."""

    def update_resource_property(self, caller: Caller, name: str, private: bool | None) -> JsonObject:
        """Make a property private or public (None: no change) and return it. Raises PropertyNotFound."""


REQUESTS: Final[RequestsKey[HostRequests]] = RequestsKey(HostRequests)
