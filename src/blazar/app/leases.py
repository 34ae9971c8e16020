"""Use cases of leases: each writes intent in one transaction; the reconciler makes it true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from blazar.booking import event_types
from blazar.booking.assignments import exists_ahead
from blazar.booking.search import Found, Search, find_resources
from blazar.booking.context import Context
from blazar.booking.enforcement import tell_end
from blazar.booking.health import have_missing_sought
from blazar.app.lease_texts import list_texts
from blazar.app.lease_updates import update_once
from blazar.app.looking import first_look, next_look, wake_for
from blazar.app.records import announce, record_request
from blazar.app.request_work import RequestWork, request_work
from blazar.app.requests import NewLease, parse_new_lease
from blazar.booking.retrying import retrying
from blazar.booking.views import JsonObject, lease_view
from blazar.domain.dates import before_end_for_new
from blazar.domain.errors import LeaseNotFound
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Allocation,
    Event,
    EventStatus,
    EventType,
    Lease,
    LeaseStatus,
    Reservation,
)
from blazar.domain.lifecycle import with_status
from blazar.plugins.contract import Wish
from blazar.ports.manager import Caller, WrittenObjects
from blazar.ports.store import Transaction

_POLL = timedelta(milliseconds=50)


def list_leases(context: Context, project_id: str | None) -> Sequence[JsonObject]:
    """Return the leases of a project, or of all projects for None."""
    return WrittenObjects(list_texts(context, project_id))


def get_lease(context: Context, lease_id: str) -> JsonObject:
    """Return a lease. Raises LeaseNotFound."""
    return lease_view(read_lease(context, lease_id), context.plugins)


def read_lease(context: Context, lease_id: str) -> Lease:
    """Return a lease as a value. Raises LeaseNotFound."""
    with context.store.read() as transaction:
        lease = transaction.leases.find(lease_id)
    if lease is None:
        raise LeaseNotFound(lease_id[:64])
    return lease


def create_lease(context: Context, caller: Caller, body: JsonObject) -> JsonObject:
    """Return a new lease with its resources promised; nothing exists outside yet.

    Raises:
        BadRequest: The request makes no sense; nothing is stored.
        NotFound: It names something that the caller does not see; nothing is stored.
        Conflict: The resources cannot be had; nothing is stored.
    """
    request = parse_new_lease(context, body)
    before_end = before_end_for_new(
        request.before_end, request.start, request.end, context.settings.leases.before_end_lead
    )
    with context.trail.working_on(lease_id=request.id):
        work = request_work(context, caller, caller.project_id)
        request = _looked_up(request, work)
        with work.undone_on_failure(), work.enforcing.aborted_on_failure():
            lease = retrying(
                context,
                lambda attempt: _create_once(context, caller, request, work, before_end, attempt),
            )
    wake_for(context, first_look(context, lease))
    return lease_view(lease, context.plugins)


def update_lease(context: Context, caller: Caller, lease_id: str, body: JsonObject) -> JsonObject:
    """Return the lease after a change of its name, dates or reservations.

    Raises:
        LeaseNotFound: There is none.
        InvalidLeaseStatus: Something is being done about it.
        BadRequest, Conflict: The change makes no sense or cannot be had; the lease is as it was.
    """
    work = request_work(context, caller, read_lease(context, lease_id).project_id)
    with work.undone_on_failure(), work.enforcing.aborted_on_failure():
        lease = retrying(
            context,
            lambda attempt: update_once(context, caller, work, read_lease(context, lease_id), body, attempt),
        )
    work.succeed(lease)
    wake_for(context, next_look(context, lease))
    return lease_view(lease, context.plugins)


def delete_lease(context: Context, caller: Caller, lease_id: str) -> None:
    """Have a lease deleted, in whatever status it is, and wait a bounded time for it to be gone.

    Raises:
        LeaseNotFound: There is none.
    """
    is_gone = retrying(
        context,
        lambda attempt: _delete_once(context, caller, read_lease(context, lease_id)),
    )
    if not is_gone:
        context.waker.wake()
        _wait_until_gone(context, lease_id)


def _looked_up(request: NewLease, work: RequestWork) -> NewLease:
    """Return the request with what only the caller can see."""
    reservations = tuple(
        replace(each, spec=work.look_up(each.plugin, each.id, each.spec)) for each in request.reservations
    )
    return replace(request, reservations=reservations)


def _create_once(
    context: Context,
    caller: Caller,
    request: NewLease,
    work: RequestWork,
    before_end: datetime | None,
    attempt: int,
) -> Lease:
    now = context.clock.now()
    window = Interval(request.start, request.end)
    searches = [
        Search(
            plugin=each.plugin,
            wish=Wish(
                spec=each.spec,
                window=window,
                now=now,
                cleaning_time=context.settings.leases.cleaning_time,
            ),
        )
        for each in request.reservations
    ]
    found = find_resources(context, searches, attempt)
    lease = _with_what_exists(context, _new_lease(caller, request, work, before_end, now))
    holdings = dict(zip((each.id for each in lease.reservations), found.chosen, strict=True))
    work.enforcing.check_create(lease, holdings)
    work.quota.prepare()
    booked = _allocations(lease, window, found)
    with context.store.begin() as transaction:
        with work.quota.kept(transaction):
            transaction.allocations.claim(found.generations, adding=booked)
            transaction.leases.insert(lease)
            transaction.allocations.insert(booked)
        transaction.work.plan({lease.id: first_look(context, lease)})
        record_request(context, transaction, lease, "create", caller)
        announce(context, transaction, lease, event_types.CREATED, now)
        work.enforcing.commit(transaction)
        transaction.commit()
    return lease


def _with_what_exists(context: Context, lease: Lease) -> Lease:
    """Return the lease with those reservations marked of which the request itself has made something."""
    reservations = tuple(
        replace(each, is_deployed=exists_ahead(context, lease, each)) for each in lease.reservations
    )
    return replace(lease, reservations=reservations)


def _new_lease(
    caller: Caller, request: NewLease, work: RequestWork, before_end: datetime | None, now: datetime
) -> Lease:
    times = {EventType.START: request.start, EventType.END: request.end}
    if before_end is not None:
        times[EventType.BEFORE_END] = before_end
    return Lease(
        id=request.id,
        name=request.name,
        user_id=caller.user_id,
        project_id=caller.project_id,
        start=request.start,
        end=request.end,
        status=LeaseStatus.PENDING,
        reservations=tuple(
            Reservation(
                id=each.id,
                lease_id=request.id,
                resource_type=each.resource_type,
                spec=each.plugin.encode(work.provide(each.plugin, each.id, None, each.spec)),
                created_at=now,
                updated_at=now,
            )
            for each in request.reservations
        ),
        events=tuple(
            Event(id=work.context.new_id(), event_type=event_type, time=time, created_at=now)
            for event_type, time in sorted(times.items(), key=lambda each: each[1])
        ),
        created_at=now,
        updated_at=now,
    )


def _allocations(lease: Lease, window: Interval, found: Found) -> list[Allocation]:
    return [
        Allocation(resource_id=resource_id, reservation_id=reservation.id, window=window, share=share)
        for reservation, chosen in zip(lease.reservations, found.chosen, strict=True)
        for resource_id, share in chosen.items()
    ]


def _delete_once(context: Context, caller: Caller, lease: Lease) -> bool:
    """Record the wish; return whether nothing was outside, so that the lease is gone already."""
    if lease.is_deleting:
        return False
    now = context.clock.now()
    doomed = with_status(replace(lease, is_deleting=True))
    with context.store.begin() as transaction:
        if lease.get_event_status(EventType.END) is EventStatus.UNDONE:
            tell_end(context, transaction, lease)
        if any(each.is_deployed for each in lease.reservations):
            transaction.leases.replace(lease, doomed, now)
            _end_allocations(transaction, lease, now)
            transaction.work.schedule([lease.id], now)
        else:
            erase_lease(context, transaction, lease, doomed)
            transaction.work.forget(lease.id)
        record_request(context, transaction, lease, "delete", caller)
        transaction.commit()
    return not any(each.is_deployed for each in lease.reservations)


def erase_lease(context: Context, transaction: Transaction, stored: Lease, shown: Lease) -> None:
    """Delete a lease of which nothing is outside, with its allocations, and announce it.

    Args:
        context: The context.
        transaction: To be committed by the caller.
        stored: The lease at the revision that was read.
        shown: The lease as the notification shows it.
    """
    now = context.clock.now()
    marked = transaction.leases.replace(stored, shown, now)
    held = transaction.allocations.of_reservations([each.id for each in stored.reservations])
    for reservation in stored.reservations:
        transaction.allocations.remove(reservation.id)
    transaction.allocations.touch({each.resource_id for each in held})
    transaction.leases.delete(marked)
    have_missing_sought(context, transaction)
    announce(context, transaction, shown, event_types.DELETED, now)


def _end_allocations(transaction: Transaction, lease: Lease, now: datetime) -> None:
    """Let the resources of a lease that has begun be planned from now on."""
    if lease.start >= now or lease.get_event_status(EventType.END) is not EventStatus.UNDONE:
        return
    reservation_ids = [each.id for each in lease.reservations]
    held = transaction.allocations.of_reservations(reservation_ids)
    transaction.allocations.touch({each.resource_id for each in held})
    if now < lease.end:
        transaction.allocations.move(reservation_ids, Interval(lease.start, now), began_at=lease.start)


def _wait_until_gone(context: Context, lease_id: str) -> None:
    deadline = context.clock.now() + context.settings.leases.delete_wait
    while context.clock.now() < deadline:
        with context.store.read() as transaction:
            if transaction.leases.find(lease_id) is None:
                return
        if context.clock.wait(context.ending, _POLL):
            # Whoever ends waits for this answer, and the teardown goes on without either.
            return
