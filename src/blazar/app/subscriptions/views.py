"""Subscriptions and deliveries as JSON."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from blazar.booking.context import Context
from blazar.booking.views import JsonObject
from blazar.domain.formats import API
from blazar.domain.subscriptions import ChannelKind, Subscription, sorted_types
from blazar.ports.manager import Caller
from blazar.ports.notices import Delivery

_MINUTE = timedelta(minutes=1)


def subscription_view(context: Context, caller: Caller, subscription: Subscription) -> JsonObject:
    """Return a subscription, without its secret.

    The path of a URL and the name in an address are shown only to the user of the subscription: both may be
    meant for this user alone.
    """
    settings, conditions, health = context.settings.notices, subscription.conditions, subscription.health
    leads = settings.leads if subscription.leads is None else subscription.leads
    target = subscription.target
    if target is not None and subscription.user_id != caller.user_id:
        target = _shortened(subscription.kind, target)
    is_webhook = subscription.kind is ChannelKind.WEBHOOK
    return {
        "id": subscription.id,
        "kind": subscription.kind.value,
        "scope": subscription.scope.value,
        "project_id": subscription.project_id,
        "user_id": subscription.user_id,
        "lease_id": subscription.lease_id,
        "events": sorted_types(subscription.types),
        "url": target if is_webhook else None,
        "address": None if is_webhook else target,
        "lead_minutes": [each // _MINUTE for each in leads],
        "time_zone": subscription.time_zone or settings.time_zone,
        "language": subscription.language or settings.languages[0],
        "resource_type": conditions.resource_type,
        "below": conditions.below,
        "waits_minutes": None if conditions.waits is None else conditions.waits // _MINUTE,
        "enabled": subscription.is_enabled,
        "confirmed": subscription.code is None,
        "default": subscription.is_default,
        "problem": health.problem,
        "failing_since": API.date(health.failing_since),
        "succeeded_at": API.date(health.succeeded_at),
        "created_at": API.stamp(subscription.created_at),
        "updated_at": API.stamp(subscription.updated_at),
    }


def delivery_view(delivery: Delivery) -> JsonObject:
    """Return a delivery that is pending or was given up, without its content."""
    return {
        "id": delivery.message_id,
        "event": delivery.type,
        "lease_id": delivery.lease_id,
        "status": "waiting" if delivery.failed_at is None else "failed",
        "attempts": delivery.attempts,
        "problem": delivery.problem,
        "created_at": API.date(delivery.at),
    }


def _shortened(kind: ChannelKind, target: str) -> str:
    if kind is ChannelKind.WEBHOOK:
        parts = urlsplit(target)
        return f"{parts.scheme}://{parts.netloc}/…"
    return f"…@{target.rpartition('@')[2]}"
