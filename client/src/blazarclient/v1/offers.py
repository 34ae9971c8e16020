"""Offers: resources that are held for a short time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from blazarclient import base, utils
from blazarclient.base import Record, Records, many, one, path


class OfferClientManager(base.BaseClientManager):
    """Offers of the user's project.

    Each method raises NotFound if the service does not support API version 1.1.
    """

    def create(
        self,
        start: str | datetime,
        end: str | datetime,
        reservations: Records,
        *,
        name: str | None = None,
        before_end: str | datetime | None = None,
        ttl_seconds: int | None = None,
    ) -> Record:
        """Hold the resources of a possible lease, and return the offer; ``lease.commit`` makes the lease.

        Args:
            start: Start date, or ``now``.
            end: End date.
            reservations: Reservations in the form of the API, as for a lease.
            name: Name of the lease if ``lease.commit`` gives none.
            before_end: Date of the before-end event; None for the default of the service.
            ttl_seconds: For how long the resources are held; None for the default of the service.
        """
        body: dict[str, Any] = {
            "start_date": utils.to_api_date(start),
            "end_date": utils.to_api_date(end),
            "reservations": reservations,
        }
        more = {"name": name, "before_end_date": utils.to_api_date(before_end), "ttl_seconds": ttl_seconds}
        body |= {key: value for key, value in more.items() if value is not None}
        _response, found = self.request_manager.request("/offers", "POST", body=body, headers=base.API_1_1)
        return one(found, "offer")

    def create_for_lease(self, lease_id: str, changes: Record, *, ttl_seconds: int | None = None) -> Record:
        """Hold what a change of a lease needs, and return the offer; ``lease.commit_change`` makes it.

        Args:
            lease_id: Id of the lease.
            changes: The change in the form of the API: a result of ``lease.changes``, or a body of an
                alternative to a refused change.
            ttl_seconds: For how long the resources are held; None for the default of the service.

        Raises:
            Conflict: The change is not possible; ``kwargs`` may have ``reasons`` and ``alternatives``.
            NotFound: The lease does not exist, or the service does not support API version 1.1.
        """
        body = changes if ttl_seconds is None else {**changes, "ttl_seconds": ttl_seconds}
        _response, found = self.request_manager.request(
            path("leases", lease_id, "offers"), "POST", body=body, headers=base.API_1_1
        )
        return one(found, "offer")

    def get(self, offer_id: str) -> Record:
        """Return an offer, even if it was committed or has expired."""
        _response, found = self.request_manager.request(path("offers", offer_id), "GET", headers=base.API_1_1)
        return one(found, "offer")

    def list(self, sort_by: str | None = None) -> Records:
        """Return the open offers of the project, sorted by the key *sort_by* if given."""
        _response, found = self.request_manager.request(path("offers"), "GET", headers=base.API_1_1)
        return many(found, "offers", sort_by)

    def delete(self, offer_id: str) -> None:
        """Release what an offer holds."""
        self.request_manager.request(path("offers", offer_id), "DELETE", headers=base.API_1_1)
