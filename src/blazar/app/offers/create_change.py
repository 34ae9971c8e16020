"""Making an offer for a change of a lease: what the lease does not hold already is held until it expires.

The reservations of the lease hold it, so it blocks only others: neither the lease itself nor its other offers
conflict with it. Of all offers for a lease, only one can be committed (ADR-0017).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from blazar.app.idempotency import KeyedRequest, keyed_request, perform_once, performed_or_found, store_answer
from blazar.app.leases.change_refusals import explaining_change
from blazar.app.leases.new_lease import id_of_request
from blazar.app.leases.plan import Plan
from blazar.app.leases.read import read_lease
from blazar.app.leases.update import allowed_plan, asked_keys
from blazar.app.offers.create import OfferTerms, check_number, parse_terms
from blazar.app.offers.read import made_by_same_request, offer_view
from blazar.app.request_work import RequestWork, request_work
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.specs import booked_window_of
from blazar.domain.dates import format_date
from blazar.domain.errors import InvalidPeriod, MissingParameter
from blazar.domain.lease import Allocation, EventType, Lease, LeaseId, Owner
from blazar.domain.offers import Offer, OfferedChange, missing_allocations
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

_KEYS_WHILE_ACTIVE = frozenset({"name", "end_date", "before_end_date"})
"""A change of only these is possible before and after the lease starts."""


def create_lease_offer_once(
    context: Context,
    caller: Caller,
    lease_id: str,
    key: str,
    body: JsonObject,
    expected: Owner | None = None,
) -> JsonObject:
    """Return ``offer`` and ``is_replayed``; make the offer unless this was done before with this key.

    Raises:
        IdempotencyKeyReused: The earlier request with this key was a different one.
        BlazarError: The same as *create_lease_offer*.
    """
    keyed = keyed_request(caller, key, f"create_offer {lease_id}", body)
    read_lease(context, lease_id, expected)
    offer, is_replayed = perform_once(
        context, keyed, lambda: create_lease_offer(context, caller, lease_id, body, expected, keyed)
    )
    return {"offer": offer, "is_replayed": is_replayed}


def create_lease_offer(
    context: Context,
    caller: Caller,
    lease_id: str,
    body: JsonObject,
    expected: Owner | None = None,
    keyed: KeyedRequest | None = None,
) -> JsonObject:
    """Return a new offer, which holds what a change of a lease needs until the offer expires.

    The quota and the filters are asked as for the change. The filters are then notified that it was not made:
    they are asked again when the offer is committed.

    Args:
        context: The context.
        caller: The caller. The offer belongs to the project of the lease.
        lease_id: The lease.
        body: As for a change; optionally ``ttl_seconds`` and ``expiry_notice``.
        expected: The owner that the lease must have; None for any.
        keyed: The request with its idempotency key, if it has one.

    Raises:
        BlazarError: The same as :func:`~blazar.app.leases.update.update_lease`; a lease in transition is
            refused at once.
        MissingParameter: The request changes neither dates nor reservations.
        TooManyOffers: The project has too many offers.
    """
    lease = read_lease(context, lease_id, expected)
    context.clock_guard.check()
    terms, asked = parse_terms(context, body), asked_keys(body)
    if not asked.keys() - {"name"}:
        raise MissingParameter("start_date, end_date, before_end_date or reservations")
    work = request_work(context, caller, lease.project_id, is_dry_run=True)

    offer_id = id_of_request(context, caller)

    def once(attempt: int) -> JsonObject:
        present = read_lease(context, lease_id, expected) if attempt else lease
        plan = allowed_plan(work, present, asked, attempt)
        return _store(work, present, plan, _offer(work, offer_id, present, plan, asked, terms), keyed)

    def perform() -> JsonObject:
        with explaining_change(work, lease_id, body), work.enforcing.aborted_on_failure():
            return retrying(context, once)

    return performed_or_found(perform, lambda: made_by_same_request(context, caller, offer_id))


def _store(
    work: RequestWork, lease: Lease, plan: Plan, offer: Offer, keyed: KeyedRequest | None
) -> JsonObject:
    context, view = work.context, offer_view(work.context, offer)
    with context.store.begin() as transaction:
        store_answer(transaction, keyed, view, context.clock.now())
        check_number(context, transaction, offer)
        work.rules.check_locked(transaction, plan.lease, plan.after, lease, plan.before)
        with work.quota.kept(transaction):
            # A concurrent change of the lease either makes the offer outdated, or is seen here.
            transaction.leases.check(lease)
            transaction.allocations.claim(plan.generations)
            transaction.offers.insert(offer)
        work.enforcing.abort(transaction)
        transaction.commit()
    return view


def _offer(
    work: RequestWork, offer_id: LeaseId, lease: Lease, plan: Plan, asked: JsonObject, terms: OfferTerms
) -> Offer:
    context, now = work.context, work.context.shared_now()
    before_end = plan.lease.find_event(EventType.BEFORE_END)
    change = OfferedChange(
        lease_id=lease.id,
        asked=_fixed(asked, plan, now),
        before=plan.before,
        after=plan.after,
    )
    return Offer(
        id=offer_id,
        name=plan.lease.name,
        user_id=work.caller.user_id,
        project_id=lease.project_id,
        start=plan.lease.start,
        end=plan.lease.end,
        before_end=None if before_end is None else before_end.time,
        expires_at=_expiry(lease, plan, asked, now, terms.ttl),
        reservations=plan.lease.reservations,
        allocations=tuple(_missing(context, plan)),
        created_at=now,
        change=change,
        expiry_notice=terms.expiry_notice,
    )


def _missing(context: Context, plan: Plan) -> Iterable[Allocation]:
    with context.store.read() as transaction:
        held = transaction.allocations.of_reservations([each.reservation.id for each in plan.bookings])
    for each in plan.bookings:
        own = [allocation for allocation in held if allocation.reservation_id == each.reservation.id]
        booked = booked_window_of(context.plugins, each.reservation, plan.ahead)
        yield from missing_allocations(each.reservation.id, each.after, own, booked)


def _fixed(asked: JsonObject, plan: Plan, now: datetime) -> JsonObject:
    """Return the keys of the request with dates that mean the same when the offer is committed.

    A lease that is to start now starts at that moment.
    """
    dates = {"start_date": plan.lease.start, "end_date": plan.lease.end}
    fixed = {
        name: "now" if name == "start_date" and date <= now else format_date(date)
        for name, date in dates.items()
    }
    return {key: fixed.get(key, value) for key, value in asked.items()}


def _expiry(lease: Lease, plan: Plan, asked: JsonObject, now: datetime, ttl: timedelta) -> datetime:
    """Return when the offer expires: before the passing of time makes the change impossible.

    Raises:
        InvalidPeriod: That is now.
    """
    limits = [now + ttl, lease.end, plan.lease.end]
    if now < lease.start and asked.keys() - _KEYS_WHILE_ACTIVE:
        limits.append(lease.start)
    if lease.start != plan.lease.start > now:
        limits.append(plan.lease.start)
    if min(limits) <= now:
        raise InvalidPeriod("end_date: the lease would have ended before the offer can be committed")
    return min(limits)
