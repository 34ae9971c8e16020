"""Reading and deleting offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.search import holdings_of
from blazar.booking.shares import count_units
from blazar.booking.specs import rendered_spec
from blazar.domain.errors import OfferCommitted, OfferNotFound
from blazar.domain.formats import API
from blazar.domain.offers import Offer, OfferStatus
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]


def list_offers(context: Context, caller: Caller) -> Sequence[JsonObject]:
    """Return the open offers of the caller's project, oldest first."""
    with context.store.read() as transaction:
        found = transaction.offers.list_open(caller.project_id, context.shared_now())
    return [offer_view(context, each) for each in found]


def get_offer(context: Context, caller: Caller, offer_id: str) -> JsonObject:
    """Return an offer, even if it was committed or has expired. Raises OfferNotFound."""
    return offer_view(context, read_offer(context, caller, offer_id))


def delete_offer(context: Context, caller: Caller, offer_id: str) -> None:
    """Delete an offer; what it held is free at once.

    Raises:
        OfferNotFound: The caller's project has no such offer.
        OfferCommitted: It is a lease now.
        Unavailable: The clock of this manager is wrong.
    """
    context.clock_guard.check()

    def once(attempt: int) -> None:
        offer = read_offer(context, caller, offer_id)
        if offer.committed_at is not None:
            raise OfferCommitted(offer.id, None if offer.change is None else offer.change.lease_id)
        with context.store.begin() as transaction:
            transaction.allocations.touch({each.resource_id for each in offer.allocations})
            transaction.offers.delete(offer)
            reschedule_missing(context, transaction)
            transaction.commit()

    retrying(context, once)
    context.waker.wake()


def read_offer(context: Context, caller: Caller, offer_id: str) -> Offer:
    """Return an offer of the caller's project as a value. Raises OfferNotFound."""
    with context.store.read() as transaction:
        offer = transaction.offers.find(offer_id)
    if offer is None or offer.project_id != caller.project_id:
        raise OfferNotFound(offer_id[:64])
    return offer


def made_by_same_request(context: Context, caller: Caller, offer_id: str) -> JsonObject | None:
    """Return the offer that another execution of the caller's request has made; None if there is none.

    The broker may deliver a request to two managers. Both choose the same id for the offer.
    """
    if not caller.request_id:
        return None
    try:
        return get_offer(context, caller, offer_id)
    except OfferNotFound:
        return None


def offer_view(context: Context, offer: Offer) -> JsonObject:
    """Return an offer as JSON. ``amount`` is the number of units that it holds; 0 once it holds none.

    For a change of a lease, ``amount`` includes what the lease holds.
    """
    held = holdings_of(offer.allocations) if offer.change is None else offer.change.after
    status = offer.status_at(context.shared_now())
    return {
        "id": offer.id,
        "name": offer.name,
        "status": status.value,
        "expires_at": API.date(offer.expires_at),
        "user_id": offer.user_id,
        "project_id": offer.project_id,
        "start_date": API.date(offer.start),
        "end_date": API.date(offer.end),
        "before_end_date": API.date(offer.before_end),
        "lease_id": _lease_id(offer),
        "created_at": API.date(offer.created_at),
        "expiry_notice": offer.expiry_notice,
        "reservations": [
            {
                **rendered_spec(context.plugins.get(each.resource_type), each),
                "id": each.id,
                "resource_type": each.resource_type,
                "amount": count_units(held.get(each.id, {})) if status is OfferStatus.OPEN else 0,
            }
            for each in offer.reservations
        ],
    }


def _lease_id(offer: Offer) -> str | None:
    """Return the lease that was made from an offer, or that the offer would change."""
    if offer.change is not None:
        return offer.change.lease_id
    return None if offer.committed_at is None else offer.id
