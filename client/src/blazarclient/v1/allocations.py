"""Allocations: the reservations of each resource."""

from __future__ import annotations

from collections.abc import Mapping

from blazarclient import base
from blazarclient.base import Record, Records, all_pages, one, path

Filters = Mapping[str, str | None]
"""Filters by ``lease_id`` and ``reservation_id``; None means no filter."""


_OF_1_1 = ("storage-pools",)
"""Collections that API 1.0 does not have."""


class AllocationClientManager(base.BaseClientManager):
    """Allocations of resources; *resource* is the name of a collection, such as ``os-hosts``."""

    def get(
        self,
        resource: str,
        resource_id: str,
        *,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> Record:
        """Return ``{"resource_id": ..., "reservations": [...]}`` of one resource.

        Without *lease_id* and *reservation_id*, past reservations are left out. With them, the result
        has all reservations of that lease, or the one reservation, including past ones.
        """
        filters = {"lease_id": lease_id, "reservation_id": reservation_id}
        return of_one(self.request_manager, resource, resource_id, filters)

    def list(
        self,
        resource: str,
        sort_by: str | None = None,
        *,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> Records:
        """Return the result of :meth:`get` for every resource, sorted by the key *sort_by* if given."""
        filters = {"lease_id": lease_id, "reservation_id": reservation_id}
        return of_all(self.request_manager, resource, filters, sort_by)


def of_one(sender: base.Sender, resource: str, resource_id: str, filters: Filters) -> Record:
    """Return the allocations of one resource of the collection *resource*."""
    url = path(resource, resource_id, "allocation", **filters)
    _response, body = sender.request(url, "GET", headers=_headers(resource))
    return one(body, "allocation")


def of_all(sender: base.Sender, resource: str, filters: Filters, sort_by: str | None) -> Records:
    """Return the allocations of each resource of the collection *resource*, sorted by *sort_by*."""
    url = path(resource, "allocations", **filters)
    return all_pages(sender, url, "allocations", sort_by, _headers(resource))


def _headers(resource: str) -> dict[str, str]:
    return dict(base.API_1_1) if resource in _OF_1_1 else {}
