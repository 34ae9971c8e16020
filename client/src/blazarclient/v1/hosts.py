"""Hosts and their resource properties."""

from __future__ import annotations

from typing import Any

from blazarclient.base import Record, Records, all_pages, one, path
from blazarclient.i18n import _
from blazarclient.v1 import allocations, properties

_COLLECTION = "os-hosts"


class ComputeHostClientManager(properties.PropertyClientManager):
    """Hosts that can be reserved, and their resource properties."""

    collection = _COLLECTION

    def create(self, name: str, **kwargs: Any) -> Record:
        """Register a host and return it.

        Args:
            name: Host name or id of the hypervisor.
            kwargs: Extra capabilities.
        """
        _response, body = self.request_manager.post("/os-hosts", body={"name": name} | kwargs)
        return one(body, "host")

    def get(self, host_id: str) -> Record:
        """Return a host."""
        _response, body = self.request_manager.get(path(_COLLECTION, host_id))
        return one(body, "host")

    def update(self, host_id: str, values: Record) -> Record | str:
        """Change a host and return it; if *values* is empty, return a message.

        Args:
            host_id: Id of the host.
            values: Extra capabilities; None removes a capability.
        """
        if not values:
            return _("Nothing to update.")
        _response, body = self.request_manager.put(path(_COLLECTION, host_id), body=values)
        return one(body, "host")

    def delete(self, host_id: str) -> None:
        """Unregister a host, so that it can no longer be reserved."""
        self.request_manager.delete(path(_COLLECTION, host_id))

    def list(self, sort_by: str | None = None) -> Records:
        """Return all hosts, sorted by the key *sort_by* if given."""
        return all_pages(self.request_manager, path(_COLLECTION), "hosts", sort_by)

    def get_allocation(
        self, host_id: str, *, lease_id: str | None = None, reservation_id: str | None = None
    ) -> Record:
        """Return ``{"resource_id": ..., "reservations": [...]}`` of a host, like ``allocation.get``."""
        filters = {"lease_id": lease_id, "reservation_id": reservation_id}
        return allocations.of_one(self.request_manager, _COLLECTION, host_id, filters)

    def list_allocations(
        self,
        sort_by: str | None = None,
        *,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> Records:
        """Return the result of :meth:`get_allocation` for every host, like ``allocation.list``."""
        filters = {"lease_id": lease_id, "reservation_id": reservation_id}
        return allocations.of_all(self.request_manager, _COLLECTION, filters, sort_by)
