"""Notices that no change of a lease causes: reminders, expired offers, and the conditions of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from blazar.booking.at_end import at_end
from blazar.booking.context import Context
from blazar.booking.deliveries import delivery_of, store_deliveries, subscribe_owners
from blazar.booking.notices import notice_data
from blazar.booking.views import JsonObject, lease_view
from blazar.domain.formats import API
from blazar.domain.lease import Lease, LeaseStatus
from blazar.domain.notices import REMINDERS, Notice, NoticeType, due_lead
from blazar.domain.portions import in_portions
from blazar.domain.subscriptions import Subscription
from blazar.domain.upcoming import UpcomingLeases
from blazar.ports.notices import Delivery, Told
from blazar.reconcile.periodic.conditions import tell_low_resources, tell_waiting_leases
from blazar.reconcile.periodic.offers import LIFETIME

_AT_ONCE: Final = 100
_OVER: Final = (LeaseStatus.TERMINATING, LeaseStatus.TERMINATED, LeaseStatus.DELETING)
_KEPT_FOR: Final = timedelta(days=2)
"""Longer than expired offers are kept, so that subscribers get only one notice of each."""
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """A reminder of a start or an end that a subscriber has not received yet."""

    lease: Lease
    subscription: Subscription
    told: Told


def check_notices(context: Context, actor: str, check_claim: Callable[[], None]) -> None:
    """Send reminders of starts and ends, and notices of expired offers and of conditions set by operators.

    Args:
        context: The context.
        actor: The manager.
        check_claim: Called before each part; an exception from it ends the task.
    """
    for part in (
        _remind,
        _tell_expired_offers,
        tell_low_resources,
        tell_waiting_leases,
        _delete_old,
    ):
        check_claim()
        part(context)


def _remind(context: Context) -> None:
    settings, now = context.settings.notices, context.clock.now()
    with context.store.read() as transaction:
        subscribed = transaction.subscriptions.of_types(REMINDERS)
        leads = {lead for each in subscribed for lead in _leads(context, each)} | set(settings.leads)
        until = now + max(leads, default=timedelta(0))
        starting = transaction.subscriptions.list_starting(now, until)
        ending = transaction.subscriptions.list_ending(now, until)
    if not settings.default_types.isdisjoint(REMINDERS):
        owners = {(each.project_id, each.user_id) for each in (*starting, *ending)}
        with context.store.begin() as transaction:
            subscribe_owners(context, transaction, owners)
            transaction.commit()
        with context.store.read() as transaction:
            subscribed = transaction.subscriptions.of_types(REMINDERS)
    with context.store.read() as transaction:
        told = {
            (each.subscription_id, each.type, each.about): each
            for each in transaction.subscriptions.list_told(REMINDERS)
        }
    found = [
        each
        for notice_type, leases in ((NoticeType.STARTS_SOON, starting), (NoticeType.ENDS_SOON, ending))
        for each in due_reminders(context, notice_type, leases, subscribed)
        if not _is_told(told.get((each.told.subscription_id, each.told.type, each.told.about)), each.told)
    ]
    for some in in_portions(found, _AT_ONCE):
        _store(context, some)


def due_reminders(
    context: Context, kind: NoticeType, leases: Sequence[Lease], subscribed: Sequence[Subscription]
) -> Iterator[Reminder]:
    """Yield the reminders of one type that are due now, including those that were sent."""
    now, is_start = context.clock.now(), kind is NoticeType.STARTS_SOON
    upcoming = UpcomingLeases(
        (each.start if is_start else each.end, each) for each in leases if _has_ahead(each, kind)
    )
    for subscription in subscribed:
        configured = subscription.as_configured(context.settings.notices.default_types)
        leads = _leads(context, configured)
        for date, lease in upcoming.within(configured, now + max(leads, default=timedelta(0))):
            if not configured.covers(_notice(kind, lease, {}, now)):
                continue
            begin = (lease.created_at or now) if is_start else lease.start
            lead = due_lead(date, leads, begin, now)
            if lead is not None:
                told = Told(subscription_id=subscription.id, type=kind, about=lease.id, date=date, lead=lead)
                yield Reminder(lease=lease, subscription=configured, told=told)


def _has_ahead(lease: Lease, kind: NoticeType) -> bool:
    """Return whether a lease still has its start, or its end, ahead."""
    if kind is NoticeType.STARTS_SOON:
        return lease.status in (LeaseStatus.CREATING, LeaseStatus.PENDING)
    return lease.status not in _OVER


def _is_told(earlier: Told | None, due: Told) -> bool:
    """Return whether a reminder, or one with a shorter lead time, was sent for the same date."""
    if earlier is None or earlier.date != due.date or earlier.lead is None or due.lead is None:
        return False
    return earlier.lead <= due.lead


def _store(context: Context, reminders: Sequence[Reminder]) -> None:
    """Store deliveries of reminders, and record that they were sent."""
    now = context.clock.now()
    with context.store.begin() as transaction:
        leases = transaction.leases.get_many({each.lease.id for each in reminders})
        views = {each.id: lease_view(each, context.plugins) for each in leases}
        ends = {each.id: at_end(each, context.plugins) for each in leases}
        deliveries = []
        for each in reminders:
            if each.lease.id not in views or each.told.lead is None:
                continue
            transaction.subscriptions.tell(each.told)
            details: JsonObject = {
                "date": API.date(each.told.date),
                "lead_minutes": each.told.lead // _MINUTE,
            }
            if each.told.type is NoticeType.ENDS_SOON:
                details = {**details, **ends[each.lease.id]}
            data = notice_data(context, views[each.lease.id], details)
            notice = _notice(each.told.type, each.lease, data, now)
            deliveries.append(delivery_of(context, notice, each.subscription, each.told.date))
        store_deliveries(context, transaction, deliveries)
        transaction.commit()


def _leads(context: Context, subscription: Subscription) -> Sequence[timedelta]:
    return context.settings.notices.leads if subscription.leads is None else subscription.leads


def _notice(kind: NoticeType, lease: Lease, data: JsonObject, at: datetime) -> Notice:
    return Notice(
        type=kind,
        lease_id=lease.id,
        project_id=lease.project_id,
        user_id=lease.user_id,
        data=data,
        at=at,
    )


def _tell_expired_offers(context: Context) -> None:
    """Notify each subscriber once of offers that expired without being committed, unless they are silent."""
    kind, now = NoticeType.OFFER_EXPIRED, context.clock.now()
    with context.store.read() as transaction:
        subscribed = transaction.subscriptions.of_types({kind})
        offers = transaction.offers.list_expired(now - LIFETIME, now) if subscribed else ()
        told = {(each.subscription_id, each.about) for each in transaction.subscriptions.list_told({kind})}
    deliveries: list[tuple[Delivery, Told]] = []
    for offer in offers:
        if not offer.expiry_notice:
            continue
        about = {
            "id": offer.id,
            "name": offer.name,
            "lease_id": None if offer.change is None else offer.change.lease_id,
            "start_date": API.date(offer.start),
            "end_date": API.date(offer.end),
            "expires_at": API.date(offer.expires_at),
        }
        notice = Notice(
            type=kind,
            lease_id=offer.id if offer.change is None else offer.change.lease_id,
            project_id=offer.project_id,
            user_id=offer.user_id,
            data={"region": context.settings.region, "offer": about},
            at=offer.expires_at,
        )
        for each in subscribed:
            is_new = (each.id, offer.id) not in told and each.created_at <= offer.expires_at
            if is_new and each.as_configured(context.settings.notices.default_types).covers(notice):
                record = Told(subscription_id=each.id, type=kind, about=offer.id, date=offer.expires_at)
                deliveries.append((delivery_of(context, notice, each), record))
    for some in in_portions(deliveries, _AT_ONCE):
        with context.store.begin() as transaction:
            for _, record in some:
                transaction.subscriptions.tell(record)
            store_deliveries(context, transaction, [each for each, _ in some])
            transaction.commit()


def _delete_old(context: Context) -> None:
    """Delete records that are no longer needed."""
    now, kept_for = context.clock.now(), context.settings.notices.kept_for
    with context.store.begin() as transaction:
        transaction.subscriptions.purge(now - _KEPT_FOR)
        if kept_for:
            transaction.deliveries.purge(now - kept_for)
        transaction.commit()
