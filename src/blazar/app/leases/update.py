"""Changes of a lease: name, dates, reservations. A refused change leaves the lease as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from blazar.app.leases.change_refusals import explaining_change
from blazar.app.leases.plan import Plan, plan_change
from blazar.app.leases.preview import lease_preview
from blazar.app.leases.read import read_lease
from blazar.app.leases.releasing import releasing
from blazar.app.leases.requests import JsonObject, parse_name
from blazar.app.leases.waiting import wait_for_lease
from blazar.app.request_work import RequestWork, request_work
from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import next_pass_of, reschedule_missing, wake_for
from blazar.booking.search import holdings_of
from blazar.booking.transitions import announce, record_request
from blazar.booking.views import lease_view
from blazar.domain.errors import InvalidLeaseStatus
from blazar.domain.lease import (
    Allocation,
    EventStatus,
    EventType,
    Holdings,
    Lease,
    LeaseStatus,
    Owner,
)
from blazar.ports.manager import CHANGES_SINCE, Caller
from blazar.ports.store import Transaction

_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations")

_Updated = tuple[Lease, JsonObject]
"""A lease after an update, and its view."""

IN_TRANSITION = frozenset({LeaseStatus.CREATING, LeaseStatus.STARTING, LeaseStatus.UPDATING})
"""Statuses that are followed by one that allows changes."""


def update_lease(
    context: Context, caller: Caller, lease_id: str, body: JsonObject, expected: Owner | None = None
) -> JsonObject:
    """Return the lease after a change of its name, dates or reservations.

    If the lease is starting, wait for a bounded time. A change of only the name never waits. From API 1.1
    on, the result of a change of dates or reservations also has ``changes``: the resources that each
    reservation keeps, gets and releases.

    Raises:
        LeaseNotFound: No such lease exists.
        OwnerMismatch: The lease does not belong to the *expected* owner; never raised if that is None.
        Unavailable: The clock of this manager is wrong.
        InvalidLeaseStatus: The lease is being deleted, or did not settle within that time.
        BadRequest, Conflict: The change is invalid or not possible; the lease is unchanged.
    """
    first = read_lease(context, lease_id, expected)
    context.clock_guard.check()
    work = request_work(context, caller, first.project_id)

    def read() -> Lease:
        return read_lease(context, lease_id, expected)

    def update(present: Lease) -> _Updated:
        return retrying(
            context,
            lambda attempt: _update_once(
                context, caller, work, read() if attempt else present, body, attempt
            ),
        )

    with (
        explaining_change(work, lease_id, body),
        work.undone_on_failure(),
        work.enforcing.aborted_on_failure(),
    ):
        lease, view = _once_settled(context, first, read, update)
    work.succeed(lease)
    wake_for(context, next_pass_of(context, lease))
    return view


def preview_update(
    context: Context, caller: Caller, lease_id: str, body: JsonObject, expected: Owner | None = None
) -> JsonObject:
    """Return what :func:`update_lease` would make of a lease now; nothing is stored or changed in the cloud.

    Quotas and the operator's filters are asked as for the change; the filters are then told that it was not
    made. What the lessee uses now is read from the cloud as for the change.

    Returns:
        As :func:`~blazar.app.leases.preview.lease_preview`.

    Raises:
        BlazarError: The same as *update_lease*. A lease in transition is refused at once.
    """
    lease = read_lease(context, lease_id, expected)
    context.clock_guard.check()
    work = request_work(context, caller, lease.project_id, is_dry_run=True)
    asked = {key: body[key] for key in _KEYS if body.get(key) is not None}
    if not asked.keys() - {"name"}:
        return lease_preview(_renamed(lease, asked), _read_holdings(context, lease))
    with explaining_change(work, lease_id, body), work.enforcing.aborted():
        plan = retrying(context, lambda attempt: _try_once(work, lease, asked, attempt))
    holdings = {each.reservation.id: each.after for each in plan.bookings}
    return lease_preview(plan.lease, [holdings[each.id] for each in plan.lease.reservations])


def _read_holdings(context: Context, lease: Lease) -> Sequence[Holdings]:
    with context.store.read() as transaction:
        held = holdings_of(transaction.allocations.of_reservations([each.id for each in lease.reservations]))
    return [held.get(each.id, {}) for each in lease.reservations]


def _try_once(work: RequestWork, lease: Lease, asked: JsonObject, attempt: int) -> Plan:
    context = work.context
    plan = _allowed(work, lease, asked, attempt)
    with context.store.begin() as transaction:
        # Checks the quota with what would be stored, which is not committed.
        _write(transaction, work, lease, plan, context.clock.now())
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
            if not error.may_settle or not wait_for_lease(context, lease.id, deadline, _is_settled):
                raise
        lease = read()


def _is_settled(lease: Lease | None) -> bool:
    return lease is None or lease.status not in IN_TRANSITION


def _update_once(
    context: Context, caller: Caller, work: RequestWork, lease: Lease, body: JsonObject, attempt: int
) -> _Updated:
    """Return the lease after the change that *body* requests; see :func:`update_lease`.

    Raises:
        ConcurrentUpdate: The lease or a resource was changed concurrently; read the lease again.
    """
    asked = {key: body[key] for key in _KEYS if body.get(key) is not None}
    if not asked:
        return lease, lease_view(lease, context.plugins)
    if set(asked) == {"name"}:
        return _rename(context, caller, lease, _renamed(lease, asked))
    plan = _allowed(work, lease, asked, attempt)
    present = {each.id for each in lease.reservations}
    changes = [
        (each.reservation.id, each.before, each.after)
        for each in plan.bookings
        if each.reservation.id in present
    ]
    with releasing(context, lease, changes) as released:
        now = context.clock.now()
        with context.store.begin() as transaction:
            changed = _write(transaction, work, lease, plan, now)
            if plan.frees_anything(lease):
                reschedule_missing(context, transaction)
            transaction.allocations.insert(released.to_be_cleaned)
            if released.claim is None:
                transaction.work.schedule([lease.id], next_pass_of(context, changed))
            else:
                transaction.work.finish(released.claim, now, 0)
            record_request(context, transaction, changed, "update", caller, _summary(context, lease, changed))
            view = lease_view(changed, context.plugins)
            _announce(transaction, lease, changed, view, now)
            work.enforcing.commit(transaction)
            transaction.commit()
    return changed, {**view, **_changes(caller, plan)}


def _changes(caller: Caller, plan: Plan) -> JsonObject:
    """Return the key with the fate of each resource, in the answer to a change from API 1.1 on."""
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


def _allowed(work: RequestWork, lease: Lease, asked: JsonObject, attempt: int) -> Plan:
    """Return the change that a request asks for, which the filters allow.

    Raises:
        InvalidLeaseStatus: The lease cannot be changed now.
        BadRequest, Conflict: The change is invalid or not possible.
    """
    check_changeable(lease)
    plan = plan_change(work.context, work, lease, _renamed(lease, asked), asked, attempt)
    work.enforcing.check_update(
        lease,
        {each.reservation.id: each.before for each in plan.bookings},
        plan.lease,
        {each.reservation.id: each.after for each in plan.bookings},
    )
    work.quota.prepare()
    return plan


def check_changeable(lease: Lease) -> None:
    """Raise InvalidLeaseStatus if a lease cannot be changed now."""
    # A change of dates is refused for a TERMINATING lease as for one that has ended.
    if lease.status in IN_TRANSITION or lease.status is LeaseStatus.DELETING:
        raise InvalidLeaseStatus(lease.id, lease.status, may_settle=lease.status in IN_TRANSITION)


def _write(transaction: Transaction, work: RequestWork, lease: Lease, plan: Plan, now: datetime) -> Lease:
    """Write the changed lease and its allocations, within the quota; return the lease as stored."""
    with work.quota.kept(transaction):
        changed = transaction.leases.replace(lease, plan.lease, now)
        _book(transaction, lease, plan)
        transaction.leases.delete_reservations(lease, changed)
    return changed


def _announce(
    transaction: Transaction, before: Lease, changed: Lease, view: JsonObject, now: datetime
) -> None:
    """Queue the notifications of a change. They show the status UPDATING, as consumers expect."""
    shown = {**view, "status": LeaseStatus.UPDATING.value}
    notice, again = (each.find_event(EventType.BEFORE_END) for each in (before, changed))
    was_given = notice is not None and notice.status is not EventStatus.UNDONE
    if was_given and again is not None and again.status is EventStatus.UNDONE:
        announce(transaction, shown, event_types.BEFORE_END_REVOKED, now)
    announce(transaction, shown, event_types.UPDATED, now)


def _rename(context: Context, caller: Caller, lease: Lease, renamed: Lease) -> _Updated:
    with context.store.begin() as transaction:
        changed = transaction.leases.replace(lease, renamed, context.clock.now())
        record_request(context, transaction, changed, "rename", caller)
        transaction.commit()
    return changed, lease_view(changed, context.plugins)


def _book(transaction: Transaction, lease: Lease, plan: Plan) -> None:
    reservation_ids = [each.reservation.id for each in plan.bookings]
    transaction.allocations.claim(plan.generations)
    untouched = {
        resource_id
        for each in plan.bookings
        for resource_id in each.before
        if resource_id not in plan.generations
    }
    transaction.allocations.touch(untouched)
    for each in plan.bookings:
        transaction.allocations.remove(each.reservation.id, each.dropped)
    transaction.allocations.move(reservation_ids, plan.window, began_at=lease.start)
    transaction.allocations.insert(
        [
            Allocation(
                resource_id=resource_id,
                reservation_id=each.reservation.id,
                window=plan.ahead,
                share=share,
            )
            for each in plan.bookings
            for resource_id, share in each.added.items()
        ]
    )


def _summary(context: Context, before: Lease, after: Lease) -> str:
    """Return a summary of the change, for the journal."""
    changed = [
        f"{name}: {old:%Y-%m-%d %H:%M} -> {new:%Y-%m-%d %H:%M}"
        for name, old, new in (("start", before.start, after.start), ("end", before.end, after.end))
        if old != new
    ]
    specs = {each.id: each.spec for each in before.reservations}
    changed += [
        f"reservation {new.id}: {dict(context.plugin_for(new.resource_type).encode(new.spec))}"
        for new in after.reservations
        if new.id not in specs or specs[new.id] != new.spec
    ]
    kept = {each.id for each in after.reservations}
    changed += [f"reservation {key} removed" for key in specs if key not in kept]
    if before.status is LeaseStatus.ERROR:
        changed.append("retry after error")
    return "; ".join(changed)
