"""Offers that are committed now: for new leases, and for changes of leases."""

from __future__ import annotations

from typing import Final

from blazar.booking.context import Context
from blazar.domain.errors import OfferCommitted, OfferExpired, OfferNotFound, OfferOutdated
from blazar.domain.lease import Lease
from blazar.domain.offers import Offer, OfferedChange, OfferStatus

COMMIT_ATTEMPTS: Final = 100
"""More than for a search: what the offer holds stays available to it, however many others make claims."""


def check_open(context: Context, offer: Offer) -> None:
    """Raise OfferCommitted, OfferOutdated or OfferExpired if an offer cannot be committed now."""
    lease_id = None if offer.change is None else offer.change.lease_id
    status = offer.status_at(context.shared_now())
    if status is OfferStatus.COMMITTED:
        raise OfferCommitted(offer.id, lease_id)
    if status is OfferStatus.OUTDATED and lease_id is not None:
        raise OfferOutdated(offer.id, lease_id)
    if status is OfferStatus.EXPIRED:
        raise OfferExpired(offer.id)


def read_offered_change(context: Context, lease: Lease, offer_id: str) -> tuple[Offer, OfferedChange]:
    """Return an open offer for a change of a lease, with that change.

    Raises:
        OfferNotFound: There is no such offer for this lease.
        OfferCommitted, OfferOutdated, OfferExpired: It cannot be committed now.
    """
    with context.store.read() as transaction:
        offer = transaction.offers.find(offer_id)
    change = None if offer is None else offer.change
    if offer is None or change is None or change.lease_id != lease.id:
        raise OfferNotFound(offer_id[:64])
    check_open(context, offer)
    return offer, change
