"""Port: stored offers.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from blazar.domain.offers import Offer


class OfferStore(Protocol):
    """Offers and what they hold.

    The bookings of offers count in searches until they expire. The caller increments the generations of their
    resources with ``AllocationStore.claim`` or ``touch``, except when offers expire.
    """

    def find(self, offer_id: str) -> Offer | None:
        """Return an offer, also one that is committed or has expired; None if it is gone."""

    def list_open(self, project_id: str | None, now: datetime) -> Sequence[Offer]:
        """Return the offers of a project that are neither committed nor have expired by *now*, oldest first.

        The number of statements is fixed.
        """

    def count_open(self, project_id: str | None, now: datetime) -> int:
        """Return the number of offers that :meth:`list_open` returns."""

    def insert(self, offer: Offer) -> None:
        """Add an offer with its allocations."""

    def commit(self, offer: Offer, at: datetime) -> None:
        """Mark an offer as committed, and delete its allocations.

        Raises:
            ConcurrentUpdate: It was committed or deleted meanwhile.
        """

    def delete(self, offer: Offer) -> None:
        """Delete an offer that is not committed, with its allocations. Raises ConcurrentUpdate as above."""

    def release_expired(self, now: datetime) -> int:
        """Delete the allocations of offers that have expired by *now*; return their number."""

    def purge(self, before: datetime) -> int:
        """Delete the offers that expired before an instant, committed or not; return their number."""
