"""Offers: resources that are held for a short time, until a lessee decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from blazar.domain.capacity import Share
from blazar.domain.errors import Conflict
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, LeaseId, Reservation, ReservationId

EXPIRY_GRACE: Final = timedelta(milliseconds=500)
"""Time after its expiry for which the resources of an offer are still not given to others.

An offer can be committed until it expires. The clocks of two managers may differ, after correction, by this
time without one giving away what the other commits (ADR-0017).
"""


class TooManyOffers(Conflict):
    """The project has the most open offers allowed; commit or delete one, or wait until one expires."""

    code = "too-many-offers"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The project has {limit} open offers, which is the limit ([manager] max_offers_per_project);"
            " commit or delete one, or wait until one expires",
            limit=limit,
        )


class OfferStatus(StrEnum):
    """The statuses of an offer, as clients see them."""

    OPEN = "OPEN"
    EXPIRED = "EXPIRED"
    COMMITTED = "COMMITTED"
    OUTDATED = "OUTDATED"
    """The lease that the offer would change was changed otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedChange:
    """A change of an existing lease; its offer holds what the lease does not hold already."""

    lease_id: LeaseId
    asked: Mapping[str, object]
    """The keys of the request that have a value, with dates that do not depend on the present."""
    before: Mapping[ReservationId, Holdings]
    """What each reservation held when the offer was made, including one that the change removes."""
    after: Mapping[ReservationId, Holdings]
    """What each reservation is to hold; an empty entry for one that the change removes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The resources of a possible lease, or of a change of a lease, held until ``expires_at``.

    A new lease gets the id of the offer, and its reservations have their ids from the start.
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
    change: OfferedChange | None = None
    """None for a new lease."""
    outdated_at: datetime | None = None
    expiry_notice: bool = True
    """Whether subscribers are told if it expires; not if a program made it without being asked."""

    def status_at(self, now: datetime) -> OfferStatus:
        """Return the status; *now* is by the clock that all managers share."""
        if self.committed_at is not None:
            return OfferStatus.COMMITTED
        if self.outdated_at is not None:
            return OfferStatus.OUTDATED
        return OfferStatus.OPEN if now < self.expires_at else OfferStatus.EXPIRED


def missing_allocations(
    reservation_id: ReservationId, after: Holdings, held: Sequence[Allocation], window: Interval
) -> Sequence[Allocation]:
    """Return the allocations that a reservation lacks to hold some resources throughout a window.

    Together with what it holds, they are what it is to hold, and no more. Where instances become larger or
    smaller, however, the new ones are held in addition to the present ones.

    Args:
        reservation_id: The reservation.
        after: What it is to hold.
        held: Its present allocations; at most one of each resource.
        window: The period.
    """
    present = {each.resource_id: each for each in held}
    missing = []
    for key, share in after.items():
        whole = Allocation(resource_id=key, reservation_id=reservation_id, window=window, share=share)
        own = present.get(key)
        if own is None or not own.window.overlaps(window):
            missing.append(whole)
            continue
        shared = Interval(max(own.window.start, window.start), min(own.window.end, window.end))
        missing += [
            replace(whole, window=Interval(start, end))
            for start, end in ((window.start, shared.start), (shared.end, window.end))
            if start < end
        ]
        if (more := _more(own.share, share)) is not None:
            missing.append(replace(whole, window=shared, share=more))
    return missing


def _more(held: Share | None, wanted: Share | None) -> Share | None:
    """Return the share to hold in addition to a present one; None for nothing."""
    if held is None or wanted is None:
        return None
    if held.demand != wanted.demand:
        return wanted
    return replace(wanted, slots=wanted.slots - held.slots) if wanted.slots > held.slots else None
