"""Port: stored offers.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from blazar.domain.lease import LeaseId, ResourceId
from blazar.domain.offers import Offer


class OfferStore(Protocol):
    """Offers and what they hold.

    The bookings of offers count in searches until they expire. The caller increments the generations of their
    resources with ``AllocationStore.claim`` or ``touch``, except when offers expire.
    """

    def find(self, offer_id: str) -> Offer | None:
        """Return an offer, also one that is committed or has expired; None if it is gone."""

    def list_open(self, project_id: str | None, now: datetime) -> Sequence[Offer]:
        """Return the offers of a project that can be committed at *now*, oldest first.

        The number of statements is fixed.
        """

    def count_open(self, project_id: str | None, now: datetime) -> int:
        """Return the number of offers that :meth:`list_open` returns."""

    def insert(self, offer: Offer) -> None:
        """Add an offer with its allocations."""

    def commit(self, offer: Offer, at: datetime) -> None:
        """Mark an offer as committed, and delete its allocations.

        Raises:
            ConcurrentUpdate: It was committed or deleted, or became outdated, meanwhile.
        """

    def delete(self, offer: Offer) -> None:
        """Delete an offer that is not committed, with its allocations. Raises ConcurrentUpdate as above."""

    def held_for(self, lease_id: LeaseId) -> Mapping[LeaseId, frozenset[ResourceId]]:
        """Return what each offer for a lease holds, also those that have expired, were committed or outdated.

        While the lease is locked, no offer for it is added.
        """

    def outdate(self, lease_id: LeaseId, at: datetime) -> None:
        """Mark the open offers for a lease as outdated, and delete their allocations."""

    def delete_for(self, lease_id: LeaseId) -> None:
        """Delete all offers for a lease, with their allocations."""

    def list_expired(self, after: datetime, until: datetime) -> Sequence[Offer]:
        """Return the offers that expired in this time, and were neither committed nor became outdated."""

    def release_expired(self, now: datetime) -> int:
        """Delete the allocations of offers that have expired by *now*; return their number."""

    def purge(self, before: datetime) -> int:
        """Delete the offers that expired before an instant, committed or not; return their number."""
