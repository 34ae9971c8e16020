"""Changes of a lease: name, dates, reservations. A refused change leaves the lease as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from blazar.app.leases.change_refusals import explaining_change
from blazar.app.leases.plan import Plan, plan_change
from blazar.app.leases.preview import lease_preview
from blazar.app.leases.read import read_held_lease, read_lease
from blazar.app.leases.releasing import releasing
from blazar.app.leases.reports import Reports, record_refused_reports, reports_in
from blazar.app.leases.requests import JsonObject, parse_name
from blazar.app.leases.waiting import wait_for_lease
from blazar.app.open_offers import COMMIT_ATTEMPTS, check_open, read_offered_change
from blazar.app.request_work import RequestWork, request_work
from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.booking.notices import moved_end
from blazar.booking.past_uses import record_uses
from blazar.booking.reports import count_reports, record_reports
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import next_pass_of, reschedule_missing, wake_for
from blazar.booking.search import holdings_of
from blazar.booking.specs import booked_together, booked_window_of
from blazar.booking.transitions import announce, record_request
from blazar.booking.views import lease_view
from blazar.domain.errors import AlreadyExecuted, Conflict, Forbidden, InvalidLeaseStatus
from blazar.domain.lease import (
    Allocation,
    EventStatus,
    EventType,
    Holdings,
    Lease,
    LeaseStatus,
    Owner,
)
from blazar.domain.offers import Offer
from blazar.ports.manager import CHANGES_SINCE, Caller
from blazar.ports.store import Transaction

_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations")

_Updated = tuple[Lease, JsonObject]
"""A lease after an update, and its view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A requested change."""

    keys: JsonObject
    """The keys of the request that have a value."""
    offer: Offer | None = None
    """The offer that is committed, if any."""
    reports: Reports = field(default_factory=Reports)
    """The resources that are replaced because they are broken."""


IN_TRANSITION = frozenset({LeaseStatus.CREATING, LeaseStatus.STARTING, LeaseStatus.UPDATING})
"""Statuses that are followed by one that allows changes."""


def update_lease(
    context: Context, caller: Caller, lease_id: str, body: JsonObject, expected: Owner | None = None
) -> JsonObject:
    """Return the lease after a change of its name, dates or reservations.

    If the lease is starting, wait for a bounded time, unless too many requests wait already. A change of only
    the name never waits. From API 1.1 on, the result of a change of dates or reservations also has
    ``changes``: the resources that each reservation keeps, gets and releases.

    A request that the message broker delivers twice changes the lease once. The second answer is the lease as
    it is then.

    Raises:
        LeaseNotFound: No such lease exists.
        OwnerMismatch: The lease does not belong to the *expected* owner; never raised if that is None.
        Unavailable: The clock of this manager is wrong.
        InvalidLeaseStatus: The lease is being deleted, or did not settle within that time.
        BadRequest, Conflict: The change is invalid or not possible; the lease is unchanged. What the request
            reports as broken is recorded nevertheless, unless the request is invalid.
    """
    first, held = read_held_lease(context, lease_id, expected)
    context.clock_guard.check()
    asked = _Asked(keys=asked_keys(body), reports=reports_in(caller, body))
    try:
        work = request_work(context, caller, first.project_id)
        with explaining_change(work, lease_id, asked.keys):
            work.remember_held(first, held)
            return _update(work, first, lambda: read_lease(context, lease_id, expected), lambda _: asked)
    except (Conflict, Forbidden):
        record_refused_reports(context, first, asked.reports, caller)
        raise


def commit_offered_change(
    context: Context, caller: Caller, lease_id: str, offer_id: str, expected: Owner | None = None
) -> JsonObject:
    """Return the lease after the change for which an offer holds resources; as :func:`update_lease`.

    If one of these has failed since, or if the lease now holds others because some of its own have failed,
    resources are chosen again.

    Raises:
        OfferNotFound: There is no such offer for this lease.
        OfferExpired: It has expired, even if its resources are still free.
        OfferCommitted: It was committed before.
        OfferOutdated: The lease was changed since the offer was made.
        BlazarError: The same as *update_lease*.
    """
    first = read_lease(context, lease_id, expected)
    context.clock_guard.check()
    offered, change = read_offered_change(context, first, offer_id)

    def read_asked(lease: Lease) -> _Asked:
        offer, _ = read_offered_change(context, lease, offer_id)
        return _Asked(keys=change.asked, offer=offer)

    request = request_work(context, caller, first.project_id).committing(offered)
    with explaining_change(request, lease_id, change.asked):
        return _update(
            request, first, lambda: read_lease(context, lease_id, expected), read_asked, COMMIT_ATTEMPTS
        )


def _update(
    work: RequestWork,
    first: Lease,
    read: Callable[[], Lease],
    read_asked: Callable[[Lease], _Asked],
    attempts: int | None = None,
) -> JsonObject:
    """Change a lease as soon as its status allows it, and return its view."""
    context = work.context

    def update(present: Lease) -> _Updated:
        def once(attempt: int) -> _Updated:
            lease = read() if attempt else present
            return _update_once(work, lease, read_asked(lease), attempt)

        return retrying(context, once, attempts=attempts)

    try:
        with work.undone_on_failure(), work.enforcing.aborted_on_failure():
            lease, view = _once_settled(context, first, read, update)
    except AlreadyExecuted:
        # The lease may have been changed by other requests since; they are not undone.
        return lease_view(read(), context.plugins)
    work.succeed(lease)
    wake_for(context, next_pass_of(context, lease))
    return view


def asked_keys(body: JsonObject) -> JsonObject:
    """Return the keys of a requested change that have a value."""
    return {key: body[key] for key in _KEYS if body.get(key) is not None}


def preview_update(
    context: Context, caller: Caller, lease_id: str, body: JsonObject, expected: Owner | None = None
) -> JsonObject:
    """Return what :func:`update_lease` would make of a lease now; nothing is stored or changed in the cloud.

    Quotas and the operator's filters are asked as for the change; the filters are then notified that it was
    not made. What the lessee uses now is read from the cloud as for the change.

    Returns:
        As :func:`~blazar.app.leases.preview.lease_preview`.

    Raises:
        BlazarError: The same as *update_lease*. A lease in transition is refused at once.
    """
    lease = read_lease(context, lease_id, expected)
    context.clock_guard.check()
    work = request_work(context, caller, lease.project_id, is_dry_run=True)
    asked = _Asked(keys=asked_keys(body))
    if not asked.keys.keys() - {"name"}:
        return lease_preview(_renamed(lease, asked.keys), _read_holdings(context, lease), context.plugins)
    with explaining_change(work, lease_id, body), work.enforcing.aborted():
        plan = retrying(context, lambda attempt: _try_once(work, lease, asked, attempt))
        costs = work.enforcing.costs()
    holdings = {each.reservation.id: each.after for each in plan.bookings}
    chosen = [holdings[each.id] for each in plan.lease.reservations]
    return lease_preview(plan.lease, chosen, context.plugins, costs)


def _read_holdings(context: Context, lease: Lease) -> Sequence[Holdings]:
    with context.store.read() as transaction:
        held = holdings_of(transaction.allocations.of_reservations([each.id for each in lease.reservations]))
    return [held.get(each.id, {}) for each in lease.reservations]


def _try_once(work: RequestWork, lease: Lease, asked: _Asked, attempt: int) -> Plan:
    plan = allowed_plan(work, lease, asked.keys, attempt)
    with work.context.store.begin() as transaction:
        # Checks the quota with what would be stored, which is not committed.
        _write(transaction, work, lease, plan, asked)
    return plan


def _once_settled(
    context: Context, lease: Lease, read: Callable[[], Lease], update: Callable[[Lease], _Updated]
) -> _Updated:
    """Return the result of *update* once the status of the lease allows it. Raises as *read* and *update* do.

    Args:
        context: The context; its settings limit the time.
        lease: The lease as it was read before.
        read: Reads the lease again.
        update: Changes the lease, as it was read.
    """
    deadline = context.clock.now() + context.settings.leases.update_wait
    while True:
        try:
            return update(lease)
        except InvalidLeaseStatus as error:
            # A lease that was read as PENDING may be STARTING when the change is stored.
            if not error.may_settle or not wait_for_lease(context, lease, deadline, _is_settled):
                raise
        lease = read()


def _is_settled(lease: Lease | None) -> bool:
    return lease is None or lease.status not in IN_TRANSITION


def _update_once(work: RequestWork, lease: Lease, asked: _Asked, attempt: int) -> _Updated:
    """Return the lease after a requested change; see :func:`update_lease`.

    Raises:
        ConcurrentUpdate: The lease or a resource was changed concurrently; read the lease again.
    """
    context, caller = work.context, work.caller
    if not asked.keys:
        return lease, lease_view(lease, context.plugins)
    if set(asked.keys) == {"name"}:
        return _rename(context, caller, lease, _renamed(lease, asked.keys))
    plan = allowed_plan(work, lease, asked.keys, attempt, asked.offer)
    present = {each.id for each in lease.reservations}
    changes = [
        (each.reservation.id, each.before, each.after)
        for each in plan.bookings
        if each.reservation.id in present
    ]
    with releasing(context, lease, changes) as released:
        now = context.clock.now()
        with context.store.begin() as transaction:
            changed = _write(transaction, work, lease, plan, asked)
            transaction.allocations.insert(released.to_be_cleaned)
            if released.claim is None:
                transaction.work.schedule([lease.id], next_pass_of(context, changed))
            else:
                transaction.work.finish(released.claim, now, 0)
            record_request(
                context, transaction, changed, "update", caller, plan.summary(context, lease, changed)
            )
            reported = record_reports(
                context, transaction, lease, asked.reports.resources, asked.reports.reason, caller
            )
            view = lease_view(changed, context.plugins)
            _announce(context, transaction, lease, changed, view)
            work.enforcing.commit(transaction)
            if asked.offer is not None:
                # The claims above may have waited for others, so check at the last moment whether it expired.
                check_open(context, asked.offer)
            transaction.commit()
    count_reports(context, reported)
    return changed, {**view, **_changes(caller, plan)}


def _changes(caller: Caller, plan: Plan) -> JsonObject:
    """Return the key that says what happened to each resource, for answers to changes from API 1.1 on."""
    if caller.api_version < CHANGES_SINCE:
        return {}
    return {
        "changes": [
            {
                "id": each.reservation.id,
                "resource_type": each.reservation.resource_type,
                "kept": sorted(each.before.keys() & each.after.keys()),
                "added": sorted(each.after.keys() - each.before.keys()),
                "released": sorted(each.before.keys() - each.after.keys()),
            }
            for each in plan.bookings
        ]
    }


def _renamed(lease: Lease, asked: JsonObject) -> Lease:
    return replace(lease, name=parse_name(asked["name"])) if "name" in asked else lease


def allowed_plan(
    work: RequestWork, lease: Lease, asked: JsonObject, attempt: int, offer: Offer | None = None
) -> Plan:
    """Return the change that a request asks for, which the filters allow.

    Args:
        work: The work of the request.
        lease: The lease as it was read.
        asked: The keys of the request that have a value.
        attempt: The number of the attempt, from 0.
        offer: The offer that holds resources for the change, if any.

    Raises:
        InvalidLeaseStatus: The lease cannot be changed now.
        BadRequest, Conflict: The change is invalid or not possible.
    """
    check_changeable(lease)
    if offer is not None:
        present = {each.id for each in lease.reservations}
        work.keep_ids([each.id for each in offer.reservations if each.id not in present])
    plan = plan_change(work, lease, _renamed(lease, asked), asked, attempt, offer)
    work.check_update(lease, plan.before, plan.lease, plan.after)
    work.quota.prepare()
    return plan


def check_changeable(lease: Lease) -> None:
    """Raise InvalidLeaseStatus if a lease cannot be changed now."""
    # A change of dates is refused for a TERMINATING lease as for one that has ended.
    if lease.status in IN_TRANSITION or lease.status is LeaseStatus.DELETING:
        raise InvalidLeaseStatus(lease.id, lease.status, may_settle=lease.status in IN_TRANSITION)


def _write(transaction: Transaction, work: RequestWork, lease: Lease, plan: Plan, asked: _Asked) -> Lease:
    """Write the changed lease and its allocations, within the quota; return the lease as stored."""
    now = work.context.clock.now()
    work.rules.check_locked(transaction, plan.lease, plan.after, lease, plan.before)
    with work.quota.kept(transaction):
        changed = transaction.leases.replace(lease, plan.lease, now)
        offers = transaction.offers.held_for(lease.id)
        _book(work.context, transaction, lease, plan, has_offers=bool(offers))
        freed = frozenset().union(*offers.values()) - plan.generations.keys()
        transaction.allocations.touch(freed)
        if asked.offer is not None:
            transaction.offers.commit(asked.offer, now)
        if offers:
            transaction.offers.outdate(lease.id, work.context.shared_now())
        if freed or plan.frees_anything(lease):
            reschedule_missing(work.context, transaction)
        transaction.leases.delete_reservations(lease, changed)
    return changed


def _announce(
    context: Context, transaction: Transaction, before: Lease, changed: Lease, view: JsonObject
) -> None:
    """Queue the notifications of a change. They show the status UPDATING, as consumers expect."""
    shown = {**view, "status": LeaseStatus.UPDATING.value}
    notice, again = (each.find_event(EventType.BEFORE_END) for each in (before, changed))
    was_given = notice is not None and notice.status is not EventStatus.UNDONE
    if was_given and again is not None and again.status is EventStatus.UNDONE:
        announce(context, transaction, shown, event_types.BEFORE_END_REVOKED)
    announce(context, transaction, shown, event_types.UPDATED, details=moved_end(before, changed))


def _rename(context: Context, caller: Caller, lease: Lease, renamed: Lease) -> _Updated:
    with context.store.begin() as transaction:
        changed = transaction.leases.replace(lease, renamed, context.clock.now())
        record_request(context, transaction, changed, "rename", caller)
        transaction.commit()
    return changed, lease_view(changed, context.plugins)


def _book(context: Context, transaction: Transaction, lease: Lease, plan: Plan, *, has_offers: bool) -> None:
    """Move, remove and add allocations; *has_offers* tells whether offers for the lease end with it."""
    reservations = [each.reservation for each in plan.bookings]
    pairs = plan.pairs
    claimed = {each for each in pairs if each[0] in plan.generations}
    if has_offers or plan.removes_reservations:
        # Not only the allocations of these reservations may change: indexes read all of these resources.
        transaction.allocations.claim(plan.generations)
        transaction.allocations.touch({resource_id for resource_id, _ in pairs - claimed})
    else:
        transaction.allocations.claim(plan.generations, claimed)
        transaction.allocations.touch_bookings(pairs - claimed)
    for each in plan.bookings:
        record_uses(context, transaction, each.reservation.id, each.dropped, context.clock.now())
        transaction.allocations.remove(each.reservation.id, each.dropped)
    for ids, booked in booked_together(context.plugins, reservations, plan.window):
        transaction.allocations.move(ids, booked, began_at=lease.start)
    transaction.allocations.insert(
        [
            Allocation(
                resource_id=resource_id,
                reservation_id=each.reservation.id,
                window=booked_window_of(context.plugins, each.reservation, plan.ahead),
                share=share,
            )
            for each in plan.bookings
            for resource_id, share in each.added.items()
        ]
    )
