"""Creating a lease: resources are searched and claimed; the reconciler provides them at the start."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from blazar.app.idempotency import KeyedRequest, keyed_request, perform_once, performed_or_found, store_answer
from blazar.app.leases.new_lease import NewLease, allocations_of, new_lease, parse_new_lease, provided
from blazar.app.leases.preview import lease_preview
from blazar.app.leases.refusals import explaining
from blazar.app.leases.refused import recording_refusal
from blazar.app.leases.wishes import held_by, looked_up, searches_for
from blazar.app.request_work import RequestWork, request_work
from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import first_pass_of, wake_for
from blazar.booking.search import Found, find_resources
from blazar.booking.transitions import announce, record_request
from blazar.booking.views import JsonObject, lease_view
from blazar.domain.dates import before_end_for_new
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, LeaseId
from blazar.ports.manager import Caller


def create_lease_once(context: Context, caller: Caller, key: str, body: JsonObject) -> JsonObject:
    """Return ``lease`` and ``is_replayed``; create the lease unless this was done before with this key.

    Raises:
        IdempotencyKeyReused: The earlier request with this key was a different one.
        BlazarError: The same as *create_lease*.
    """
    keyed = keyed_request(caller, key, "create_lease", body)
    lease, is_replayed = perform_once(context, keyed, lambda: create_lease(context, caller, body, keyed))
    return {"lease": lease, "is_replayed": is_replayed}


def create_lease(
    context: Context, caller: Caller, body: JsonObject, keyed: KeyedRequest | None = None
) -> JsonObject:
    """Return a new lease with its resources reserved; it has no items in the cloud yet.

    If the request has an idempotency key, the answer is stored under it, in the same transaction. The broker
    may deliver a request to two managers, if one of its nodes fails while a manager confirms that it received
    the request. Both choose the same id for the lease, so only one of them creates it; both return it, unless
    it has been deleted.

    Raises:
        BadRequest: The request is invalid; nothing is stored.
        NotFound: The request names an object that the caller cannot see; nothing is stored.
        Conflict: The resources are not available; nothing is stored.
        AlreadyAnswered: A concurrent request with the same idempotency key was faster; nothing is stored.
        AlreadyExecuted: The same request has created a lease that has been deleted; nothing is stored.
    """
    request = replace(_parse(context, caller, body), keyed=keyed)
    return performed_or_found(
        lambda: _create(context, caller, request, body),
        lambda: _created_by_same_request(context, caller, request.id),
    )


def _create(context: Context, caller: Caller, request: NewLease, body: JsonObject) -> JsonObject:
    with context.log_context.working_on(lease_id=request.id):
        work = request_work(context, caller, caller.project_id)
        request = replace(request, reservations=looked_up(work, request.reservations))
        with (
            explaining(work, request, body),
            recording_refusal(work, request),
            work.undone_on_failure(),
            work.enforcing.aborted_on_failure(),
        ):
            lease, view = retrying(context, lambda attempt: _create_once(work, request, attempt))
    wake_for(context, first_pass_of(context, lease))
    return view


def _created_by_same_request(context: Context, caller: Caller, lease_id: LeaseId) -> JsonObject | None:
    if not caller.request_id:
        return None
    with context.store.read(of_one_instant=False) as transaction:
        found = transaction.leases.find(lease_id)
    return None if found is None else lease_view(found, context.plugins)


def preview_lease(context: Context, caller: Caller, body: JsonObject) -> JsonObject:
    """Return what :func:`create_lease` would reserve now for the same body; nothing is stored or created.

    Quotas and the operator's filters are asked as for a lease; the filters are then notified that it was not
    created.

    Returns:
        As :func:`~blazar.app.leases.preview.lease_preview`.

    Raises:
        BlazarError: The same as *create_lease*.
    """
    work = request_work(context, caller, caller.project_id, is_dry_run=True)
    request = _parse(context, caller, body)
    request = replace(request, reservations=looked_up(work, request.reservations))
    with explaining(work, request, body), work.enforcing.aborted():
        lease, found = _decide(work, request, attempt=0)
        return lease_preview(lease, found.chosen, context.plugins, work.enforcing.costs())


def _parse(context: Context, caller: Caller, body: JsonObject) -> NewLease:
    request = parse_new_lease(context, caller, body)
    _before_end(context, request)  # raises if its date is invalid
    return request


def _before_end(context: Context, request: NewLease) -> datetime | None:
    lead = context.settings.leases.before_end_lead
    return before_end_for_new(request.before_end, request.start, request.end, lead)


def _decide(work: RequestWork, request: NewLease, attempt: int) -> tuple[Lease, Found]:
    """Return the new lease and its resources; quotas and filters allow them, and nothing is stored.

    Raises:
        BadRequest, Forbidden, Conflict: The lease is refused.
    """
    context, window = work.context, Interval(request.start, request.end)
    found = find_resources(context, searches_for(work, request.reservations, window), attempt)
    lease = new_lease(work, request, _before_end(context, request))
    lease = provided(work, request, lease)
    work.quota.check_new(held_by(request.reservations, window, found))
    holdings = zip((each.id for each in lease.reservations), found.chosen, strict=True)
    work.check_create(lease, dict(holdings))
    work.quota.prepare()
    return lease, found


def _create_once(work: RequestWork, request: NewLease, attempt: int) -> tuple[Lease, JsonObject]:
    context = work.context
    lease, found = _decide(work, request, attempt)
    now = context.clock.now()
    holdings = dict(zip((each.id for each in lease.reservations), found.chosen, strict=True))
    booked = allocations_of(context, lease.reservations, Interval(request.start, request.end), found.chosen)
    view = lease_view(lease, context.plugins)
    with context.store.begin() as transaction:
        store_answer(transaction, request.keyed, view, now)
        work.rules.check_locked(transaction, lease, holdings)
        with work.quota.kept(transaction):
            transaction.allocations.claim(found.generations, {each.pair for each in booked})
            transaction.leases.insert(lease)
            transaction.allocations.insert(booked)
        transaction.work.plan({lease.id: first_pass_of(context, lease)})
        record_request(context, transaction, lease, "create", work.caller)
        announce(context, transaction, view, event_types.CREATED)
        work.enforcing.commit(transaction)
        transaction.commit()
    return lease, view
