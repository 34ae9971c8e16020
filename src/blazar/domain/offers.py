"""Offers: resources that are held for a short time, until a lessee decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from blazar.domain.lease import Allocation, LeaseId, Reservation

EXPIRY_GRACE: Final = timedelta(milliseconds=500)
"""Time after its expiry for which the resources of an offer are still not given to others.

An offer can be committed until it expires. The clocks of two managers may differ, after correction, by this
time without one giving away what the other commits (ADR-0017).
"""


class OfferStatus(StrEnum):
    """The statuses of an offer, as clients see them."""

    OPEN = "OPEN"
    EXPIRED = "EXPIRED"
    COMMITTED = "COMMITTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The resources of a possible lease, held until ``expires_at``.

    The lease gets the id of the offer, and its reservations have their ids from the start.
    """

    id: LeaseId
    name: str
    """The name of the lease if its creation names none; may be empty."""
    user_id: str | None
    project_id: str | None
    start: datetime
    end: datetime
    before_end: datetime | None
    expires_at: datetime
    reservations: tuple[Reservation, ...]
    allocations: tuple[Allocation, ...]
    """Empty once the offer was committed, and some time after it has expired."""
    created_at: datetime
    committed_at: datetime | None = None

    def status_at(self, now: datetime) -> OfferStatus:
        """Return the status; *now* is by the clock that all managers share."""
        if self.committed_at is not None:
            return OfferStatus.COMMITTED
        return OfferStatus.OPEN if now < self.expires_at else OfferStatus.EXPIRED
