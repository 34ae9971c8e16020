"""Floating IPs."""

from __future__ import annotations

from typing import Any

from blazarclient import base
from blazarclient.base import Record, Records, all_pages, one, path


class FloatingIPClientManager(base.BaseClientManager):
    """Floating IPs that can be reserved."""

    def create(self, network_id: str, floating_ip_address: str, **kwargs: Any) -> Record:
        """Register a floating IP and return it.

        Args:
            network_id: The id of the external network.
            floating_ip_address: An address outside of the network's allocation pools.
            kwargs: Further keys of the request.
        """
        values = {"floating_network_id": network_id, "floating_ip_address": floating_ip_address} | kwargs
        _response, body = self.request_manager.post("/floatingips", body=values)
        return one(body, "floatingip")

    def get(self, floatingip_id: str) -> Record:
        """Return a floating IP."""
        _response, body = self.request_manager.get(path("floatingips", floatingip_id))
        return one(body, "floatingip")

    def delete(self, floatingip_id: str) -> None:
        """Unregister a floating IP, so that it can no longer be reserved."""
        self.request_manager.delete(path("floatingips", floatingip_id))

    def list(self, sort_by: str | None = None) -> Records:
        """Return all floating IPs, sorted by the key *sort_by* if given."""
        return all_pages(self.request_manager, path("floatingips"), "floatingips", sort_by)
