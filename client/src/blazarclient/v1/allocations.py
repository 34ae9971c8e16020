"""Allocations: which reservations a resource is promised to."""

from __future__ import annotations

from blazarclient import base
from blazarclient.base import Record, Records, many, one, path


class AllocationClientManager(base.BaseClientManager):
    """Allocations of resources; *resource* is the name of a collection, today ``os-hosts``."""

    def get(
        self,
        resource: str,
        resource_id: str,
        *,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> Record:
        """Return ``{"resource_id": ..., "reservations": [...]}`` of one resource.

        Without *lease_id* and *reservation_id* these are the present and future ones; with them, those
        of that lease or reservation, past ones included.
        """
        url = path(resource, resource_id, "allocation", lease_id=lease_id, reservation_id=reservation_id)
        _response, body = self.request_manager.get(url)
        return one(body, "allocation")

    def list(
        self,
        resource: str,
        sort_by: str | None = None,
        *,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> Records:
        """Return what :meth:`get` returns, for every resource, sorted by a key if *sort_by* names one."""
        url = path(resource, "allocations", lease_id=lease_id, reservation_id=reservation_id)
        _response, body = self.request_manager.get(url)
        return many(body, "allocations", sort_by)
