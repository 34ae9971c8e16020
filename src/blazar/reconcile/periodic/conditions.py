"""The conditions of operators: too few free resources, and leases that wait for too long."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.booking.deliveries import delivery_of, store_deliveries
from blazar.booking.notices import notice_data
from blazar.booking.views import JsonObject, lease_view
from blazar.domain.formats import API
from blazar.domain.notices import Notice, NoticeType
from blazar.domain.subscriptions import Subscription
from blazar.ports.notices import Delivery, Told
from blazar.ports.store import Transaction
from blazar.ports.work import WaitingLease


def tell_low_resources(context: Context) -> None:
    """Notify operators once that too few resources of a type are free, and again only after enough were."""
    kind, now = NoticeType.RESOURCES_LOW, context.clock.now()
    with context.store.read() as transaction:
        watching = [each for each in transaction.subscriptions.of_types({kind}) if _watched(context, each)]
        free = transaction.resources.count_free(now) if watching else {}
        told = _by_subject(transaction, kind)
    changes: list[tuple[Delivery | None, Told]] = []
    for each in watching:
        resource_type, below = each.conditions.resource_type or "", each.conditions.below or 0
        number = free.get(context.plugins[resource_type].collection, 0)
        record = Told(subscription_id=each.id, type=kind, about=resource_type, date=now)
        is_told = (each.id, resource_type) in told
        if number < below and not is_told:
            data = {"resource_type": resource_type, "free": number, "below": below}
            notice = _notice(kind, resource_type[:36], {"region": context.settings.region, **data}, now)
            changes.append((delivery_of(context, notice, each), record))
        elif number >= below and is_told:
            changes.append((None, record))
    _store(context, changes)


def tell_waiting_leases(context: Context) -> None:
    """Notify operators of a lease that waits for too long, once per wait."""
    kind, now = NoticeType.LEASE_WAITS, context.clock.now()
    with context.store.read() as transaction:
        watching = [
            each
            for each in transaction.subscriptions.of_types({kind})
            if each.conditions.waits is not None and each.covers(_notice(kind, "", {}, now))
        ]
        if not watching:
            return
        shortest = min(each.conditions.waits or timedelta(0) for each in watching)
        waiting = transaction.work.list_waiting(now - shortest)
        told = _by_subject(transaction, kind)
        views = {
            each.id: lease_view(each, context.plugins)
            for each in transaction.leases.get_many([each.id for each in waiting])
        }
    changes: list[tuple[Delivery | None, Told]] = []
    for each in watching:
        for lease in waiting:
            since = lease.since or now
            is_late = each.conditions.waits is not None and now - since >= each.conditions.waits
            if is_late and (each.id, lease.id) not in told and lease.id in views:
                notice = _notice(kind, lease.id, _waiting_data(context, lease, views[lease.id]), now)
                record = Told(subscription_id=each.id, type=kind, about=lease.id, date=since)
                changes.append((delivery_of(context, notice, each), record))
    present = {each.id for each in waiting}
    changes += [(None, record) for (_, about), record in told.items() if about not in present]
    _store(context, changes)


def _watched(context: Context, subscription: Subscription) -> bool:
    """Return whether an enabled subscription names a type that is also enabled."""
    conditions = subscription.conditions
    return conditions.below is not None and conditions.resource_type in context.plugins


def _waiting_data(context: Context, lease: WaitingLease, view: JsonObject) -> JsonObject:
    """Return the data of a notice, with the reasons as operators see them."""
    reasons = [
        {"reservation_id": each.id, "text": each.problem or "failed resources have no replacement"}
        for each in lease.reservations
    ]
    return notice_data(context, view, {"since": API.date(lease.since), "reasons": reasons})


def _notice(kind: NoticeType, about: str, data: JsonObject, at: datetime) -> Notice:
    return Notice(type=kind, lease_id=about, project_id=None, user_id=None, data=data, at=at)


def _by_subject(transaction: Transaction, kind: NoticeType) -> dict[tuple[str, str], Told]:
    found = transaction.subscriptions.list_told({kind})
    return {(each.subscription_id, each.about): each for each in found}


def _store(context: Context, changes: Sequence[tuple[Delivery | None, Told]]) -> None:
    """Store deliveries and the notices sent; without a delivery, forget notices that no longer apply."""
    if not changes:
        return
    with context.store.begin() as transaction:
        for delivery, record in changes:
            if delivery is None:
                transaction.subscriptions.forget(record)
            else:
                transaction.subscriptions.tell(record)
        store_deliveries(context, transaction, [each for each, _ in changes if each is not None])
        transaction.commit()
