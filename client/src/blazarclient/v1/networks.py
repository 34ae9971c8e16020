"""Network segments and their resource properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blazarclient.base import Record, Records, many, one, path
from blazarclient.i18n import _
from blazarclient.v1 import allocations, properties

_COLLECTION = "networks"


class NetworkClientManager(properties.PropertyClientManager):
    """Network segments that can be reserved, and their resource properties.

    Each method raises NotFound if the service reserves no networks.
    """

    collection = _COLLECTION

    def create(
        self,
        network_type: str,
        physical_network: str | None = None,
        segment_id: int | str | None = None,
        **kwargs: Any,
    ) -> Record | Records:
        """Register a segment and return it; with a range of ids, register all of them and return a list.

        Args:
            network_type: ``vlan``, ``vxlan`` or ``flat``.
            physical_network: The name of the physical network in Neutron; None for ``vxlan``.
            segment_id: The id, or a range such as ``201-240``; None for ``flat``.
            kwargs: Extra capabilities.
        """
        given = {
            "network_type": network_type,
            "physical_network": physical_network,
            "segment_id": segment_id,
        }
        body = {key: value for key, value in given.items() if value is not None} | kwargs
        _response, found = self.request_manager.post("/networks", body=body)
        has_several = isinstance(found, Mapping) and "networks" in found
        return many(found, "networks") if has_several else one(found, "network")

    def get(self, network_id: str) -> Record:
        """Return a segment."""
        _response, body = self.request_manager.get(path(_COLLECTION, network_id))
        return one(body, "network")

    def update(self, network_id: str, values: Record) -> Record | str:
        """Change a segment and return it; if *values* is empty, return a message.

        Args:
            network_id: Id of the segment.
            values: Extra capabilities; None removes a capability.
        """
        if not values:
            return _("Nothing to update.")
        _response, body = self.request_manager.put(path(_COLLECTION, network_id), body=values)
        return one(body, "network")

    def delete(self, network_id: str) -> None:
        """Unregister a segment, so that it can no longer be reserved."""
        self.request_manager.delete(path(_COLLECTION, network_id))

    def list(self, sort_by: str | None = None) -> Records:
        """Return all segments, sorted by the key *sort_by* if given."""
        _response, body = self.request_manager.get(path(_COLLECTION))
        return many(body, "networks", sort_by)

    def get_allocation(
        self, network_id: str, *, lease_id: str | None = None, reservation_id: str | None = None
    ) -> Record:
        """Return ``{"resource_id": ..., "reservations": [...]}`` of a segment, like ``allocation.get``."""
        filters = {"lease_id": lease_id, "reservation_id": reservation_id}
        return allocations.of_one(self.request_manager, _COLLECTION, network_id, filters)

    def list_allocations(
        self,
        sort_by: str | None = None,
        *,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> Records:
        """Return the result of :meth:`get_allocation` for every segment, like ``allocation.list``."""
        filters = {"lease_id": lease_id, "reservation_id": reservation_id}
        return allocations.of_all(self.request_manager, _COLLECTION, filters, sort_by)
