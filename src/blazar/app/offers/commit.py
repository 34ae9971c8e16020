"""Committing an offer: it becomes a lease with the resources that it holds.

An offer that has not expired is never refused because another request was faster: no other request could
claim what it holds. The generations of its resources are claimed nevertheless: if another manager, by its
clock, regards the offer as expired, only one of the two transactions takes effect (ADR-0017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from blazar.app.idempotency import KeyedRequest, keyed_request, perform_once, performed_or_found, store_answer
from blazar.app.leases.new_lease import NewLease, allocations_of, new_lease, provided
from blazar.app.leases.requests import NewReservation, parse_name
from blazar.app.offers.read import read_offer
from blazar.app.open_offers import COMMIT_ATTEMPTS, check_open
from blazar.app.request_work import RequestWork, request_work
from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.booking.holding import keep_or_replace
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import first_pass_of, wake_for
from blazar.booking.specs import intact_spec
from blazar.booking.transitions import announce, record_request
from blazar.booking.views import lease_view
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, LeaseId
from blazar.domain.offers import Offer
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

_CREATED: Final = "create"
"""The event in the journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    caller: Caller
    offer_id: str
    name: str
    """Empty to use the name of the offer."""
    keyed: KeyedRequest | None


def commit_offer_once(context: Context, caller: Caller, key: str, body: JsonObject) -> JsonObject:
    """Return ``lease`` and ``is_replayed``; commit the offer unless this was done before with this key.

    Raises:
        IdempotencyKeyReused: The earlier request with this key was a different one.
        BlazarError: The same as *commit_offer*.
    """
    keyed = keyed_request(caller, key, "create_lease", body)
    lease, is_replayed = perform_once(context, keyed, lambda: commit_offer(context, caller, body, keyed))
    return {"lease": lease, "is_replayed": is_replayed}


def commit_offer(
    context: Context, caller: Caller, body: JsonObject, keyed: KeyedRequest | None = None
) -> JsonObject:
    """Return a new lease with the resources of an offer of the caller's project.

    If one of them has failed since, others are reserved instead.

    Args:
        context: The context.
        caller: The caller, to whom the lease belongs.
        body: ``offer_id`` and optionally ``name``; nothing else, because the offer has the rest.
        keyed: The request with its idempotency key, if it has one.

    Raises:
        BadRequest: The request is invalid, or neither it nor the offer has a name.
        OfferNotFound: The caller's project has no such offer.
        OfferExpired: The offer has expired, even if its resources are still free.
        OfferCommitted: The offer was committed before.
        Conflict: A resource has failed, and no other is free; the offer remains.
    """
    request = _parse(caller, body, keyed)
    return performed_or_found(
        lambda: _commit(context, request), lambda: _committed_by_same_request(context, request)
    )


def _commit(context: Context, request: _Request) -> JsonObject:
    caller, offer = request.caller, _read(context, request)
    if not (request.name or offer.name):
        raise MissingParameter("name")
    with context.log_context.working_on(lease_id=offer.id):
        work = request_work(context, caller, offer.project_id).committing(offer)
        with work.undone_on_failure(), work.enforcing.aborted_on_failure():
            lease, view = retrying(
                context,
                lambda attempt: _commit_once(
                    context, work, request, _read(context, request) if attempt else offer, attempt
                ),
                attempts=COMMIT_ATTEMPTS,
            )
    wake_for(context, first_pass_of(context, lease))
    return view


def _committed_by_same_request(context: Context, request: _Request) -> JsonObject | None:
    """Return the lease that another execution of this request has created from the offer; else None."""
    request_id = request.caller.request_id
    if not request_id:
        return None
    with context.store.read(of_one_instant=False) as transaction:
        lease = transaction.leases.find(LeaseId(request.offer_id))
        created = transaction.journal.list_latest(request.offer_id, (_CREATED,), 1)
    if lease is None or not any(each.request_id == request_id for each in created):
        return None
    return lease_view(lease, context.plugins)


def _parse(caller: Caller, body: JsonObject, keyed: KeyedRequest | None) -> _Request:
    for key in body:
        if key not in ("offer_id", "name"):
            raise InvalidParameter(key, "must not be given together with offer_id: the offer decides it")
    offer_id, name = body["offer_id"], body.get("name")
    if not isinstance(offer_id, str):
        raise InvalidParameter("offer_id", "must be the id of an offer")
    return _Request(
        caller=caller, offer_id=offer_id, name="" if name is None else parse_name(name), keyed=keyed
    )


def _read(context: Context, request: _Request) -> Offer:
    """Return the offer of a request. Raises OfferNotFound, OfferCommitted, OfferExpired."""
    offer = read_offer(context, request.caller, request.offer_id)
    if offer.change is not None:
        raise InvalidParameter("offer_id", f"is an offer for a change of lease {offer.change.lease_id}")
    check_open(context, offer)
    return offer


def _commit_once(
    context: Context, work: RequestWork, request: _Request, offer: Offer, attempt: int
) -> tuple[Lease, JsonObject]:
    now = context.clock.now()
    window = Interval(offer.start, offer.end)
    found = keep_or_replace(
        context, offer.reservations, offer.allocations, window, work.rules.restrict, attempt
    )
    asked = _as_request(context, request, offer)
    lease = provided(work, asked, new_lease(work, asked, offer.before_end))
    holdings = dict(zip((each.id for each in lease.reservations), found.chosen, strict=True))
    work.check_create(lease, holdings)
    work.quota.prepare()
    booked = allocations_of(context, lease.reservations, window, found.chosen)
    view = lease_view(lease, context.plugins)
    with context.store.begin() as transaction:
        store_answer(transaction, request.keyed, view, now)
        work.rules.check_locked(transaction, lease, holdings)
        with work.quota.kept(transaction):
            transaction.allocations.claim(found.generations, {each.pair for each in booked})
            released = {each.resource_id for each in offer.allocations} - found.generations.keys()
            transaction.allocations.touch(released)
            transaction.offers.commit(offer, now)
            transaction.leases.insert(lease)
            transaction.allocations.insert(booked)
        transaction.work.plan({lease.id: first_pass_of(context, lease)})
        record_request(context, transaction, lease, _CREATED, request.caller)
        announce(context, transaction, view, event_types.CREATED)
        work.enforcing.commit(transaction)
        # The claim above waits for others, so this is the last moment at which the offer can expire.
        check_open(context, offer)
        transaction.commit()
    return lease, view


def _as_request(context: Context, request: _Request, offer: Offer) -> NewLease:
    plugins = {each.id: context.plugin_for(each.resource_type) for each in offer.reservations}
    return NewLease(
        id=offer.id,
        name=request.name or offer.name,
        start=offer.start,
        end=offer.end,
        before_end=None,
        reservations=tuple(
            NewReservation(
                id=each.id,
                resource_type=each.resource_type,
                plugin=plugins[each.id],
                spec=intact_spec(plugins[each.id], each),
                grouping=each.grouping,
            )
            for each in offer.reservations
        ),
    )
