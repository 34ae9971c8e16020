"""Making an offer: resources are searched and claimed as for a lease, but held only until it expires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from blazar.app.idempotency import KeyedRequest, keyed_request, perform_once, performed_or_found, store_answer
from blazar.app.leases.new_lease import NewLease, allocations_of, new_lease, parse_new_lease
from blazar.app.leases.refusals import explaining
from blazar.app.leases.wishes import held_by, looked_up, searches_for
from blazar.app.offers.read import made_by_same_request, offer_view
from blazar.app.request_work import RequestWork, request_work
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.search import Found, find_resources
from blazar.domain.dates import before_end_for_new
from blazar.domain.errors import InvalidParameter, InvalidPeriod, MissingParameter
from blazar.domain.interval import Interval
from blazar.domain.lease import EventType, Lease
from blazar.domain.offers import Offer, TooManyOffers
from blazar.plugins.parameters import parse_number
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferTerms:
    """The keys of a request for an offer that are not those of a lease."""

    ttl: timedelta
    """How long the resources are held."""
    expiry_notice: bool
    """Whether subscribers are told if the offer expires."""


def create_offer_once(context: Context, caller: Caller, key: str, body: JsonObject) -> JsonObject:
    """Return ``offer`` and ``is_replayed``; make the offer unless this was done before with this key.

    Raises:
        IdempotencyKeyReused: The earlier request with this key was a different one.
        BlazarError: The same as *create_offer*.
    """
    keyed = keyed_request(caller, key, "create_offer", body)
    offer, is_replayed = perform_once(context, keyed, lambda: create_offer(context, caller, body, keyed))
    return {"offer": offer, "is_replayed": is_replayed}


def create_offer(
    context: Context, caller: Caller, body: JsonObject, keyed: KeyedRequest | None = None
) -> JsonObject:
    """Return a new offer, which holds its resources until it expires.

    The quota and the filters are asked as for a lease. Then the filters learn that no lease was stored:
    they are asked again when the offer is committed.

    Args:
        context: The context.
        caller: The caller.
        body: As for a lease, but without the need for a ``name``; optionally ``ttl_seconds`` and
            ``expiry_notice``.
        keyed: The request with its idempotency key, if it has one.

    Raises:
        BadRequest: The request is invalid; nothing is stored.
        NotFound: The request names an object that the caller cannot see; nothing is stored.
        Conflict: The resources are not available, or the project has too many offers; nothing is stored.
        AlreadyAnswered: A concurrent request with the same idempotency key was faster; nothing is stored.
    """
    terms = parse_terms(context, body)
    name = body.get("name")
    request = parse_new_lease(context, caller, {**body, "name": "" if name is None else name})
    if not request.reservations:
        raise MissingParameter("reservations")
    if request.end <= context.shared_now():
        raise InvalidPeriod("end_date: the offer would have ended before it can be committed")
    lead = context.settings.leases.before_end_lead
    before_end = before_end_for_new(request.before_end, request.start, request.end, lead)
    request = replace(request, keyed=keyed)
    return performed_or_found(
        lambda: _create(context, caller, request, body, before_end, terms),
        lambda: made_by_same_request(context, caller, request.id),
    )


def _create(
    context: Context,
    caller: Caller,
    request: NewLease,
    body: JsonObject,
    before_end: datetime | None,
    terms: OfferTerms,
) -> JsonObject:
    with context.log_context.working_on(lease_id=request.id):
        work = request_work(context, caller, caller.project_id)
        request = replace(request, reservations=looked_up(work, request.reservations))
        with explaining(work, request, body), work.enforcing.aborted_on_failure():
            return retrying(
                context, lambda attempt: _create_once(context, work, request, before_end, terms, attempt)
            )


def _create_once(
    context: Context,
    work: RequestWork,
    request: NewLease,
    before_end: datetime | None,
    terms: OfferTerms,
    attempt: int,
) -> JsonObject:
    now = context.clock.now()
    window = Interval(request.start, request.end)
    found = find_resources(context, searches_for(work, request.reservations, window), attempt)
    lease = new_lease(work, request, before_end)
    work.quota.check_new(held_by(request.reservations, window, found))
    holdings = dict(zip((each.id for each in lease.reservations), found.chosen, strict=True))
    work.check_create(lease, holdings)
    work.quota.prepare()
    offer = _offer(context, lease, window, found, terms)
    view = offer_view(context, offer)
    with context.store.begin() as transaction:
        store_answer(transaction, request.keyed, view, now)
        check_number(context, transaction, offer)
        work.rules.check_locked(transaction, lease, holdings)
        with work.quota.kept(transaction):
            transaction.allocations.claim(found.generations, {each.pair for each in offer.allocations})
            transaction.offers.insert(offer)
        work.enforcing.abort(transaction)
        transaction.commit()
    return view


def check_number(context: Context, transaction: Transaction, offer: Offer) -> None:
    """Raise TooManyOffers if the project has the most offers allowed; its concurrent offers wait."""
    limit = context.settings.leases.offers.per_project
    if not limit:
        return
    if offer.project_id is not None:
        transaction.quotas.lock(offer.project_id)
    if transaction.offers.count_open(offer.project_id, context.shared_now()) >= limit:
        raise TooManyOffers(limit)


def _offer(context: Context, lease: Lease, window: Interval, found: Found, terms: OfferTerms) -> Offer:
    before_end = lease.find_event(EventType.BEFORE_END)
    now = context.shared_now()
    return Offer(
        id=lease.id,
        name=lease.name,
        user_id=lease.user_id,
        project_id=lease.project_id,
        start=lease.start,
        end=lease.end,
        before_end=None if before_end is None else before_end.time,
        # A lease cannot be created after its end.
        expires_at=min(now + terms.ttl, lease.end),
        reservations=lease.reservations,
        allocations=tuple(allocations_of(context, lease.reservations, window, found.chosen)),
        created_at=now,
        expiry_notice=terms.expiry_notice,
    )


def parse_terms(context: Context, body: JsonObject) -> OfferTerms:
    """Return the terms of an offer. Raises InvalidParameter."""
    notice = body.get("expiry_notice")
    if notice is not None and not isinstance(notice, bool):
        raise InvalidParameter("expiry_notice", "must be true or false")
    return OfferTerms(ttl=_parse_ttl(context, body), expiry_notice=notice is not False)


def _parse_ttl(context: Context, body: JsonObject) -> timedelta:
    offers = context.settings.leases.offers
    if body.get("ttl_seconds") is None:
        return offers.default_ttl
    seconds, longest = parse_number(body, "ttl_seconds", least=1), int(offers.longest_ttl.total_seconds())
    if seconds > longest:
        raise InvalidParameter("ttl_seconds", f"must be at most {longest} ([manager] max_offer_ttl_seconds)")
    return timedelta(seconds=seconds)
