"""Use cases of subscriptions: make, list, change, test and delete them.

A subscription belongs to its project: every member can see and delete it, so that nothing is sent without the
project's knowledge, even after its user has left.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from blazar.app.subscriptions.requests import changed_subscription, check_lease, parse_subscription
from blazar.app.subscriptions.views import delivery_view, subscription_view
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.views import JsonObject
from blazar.domain.errors import Conflict, InvalidParameter
from blazar.domain.notices import CONFIRM, TEST
from blazar.domain.subscriptions import (
    ChannelKind,
    Health,
    Scope,
    Subscription,
    SubscriptionNotFound,
    TooManySubscriptions,
)
from blazar.domain.webhook_signatures import KEY_BYTES, secret_of
from blazar.ports.manager import Caller
from blazar.ports.notices import Delivery
from blazar.ports.store import Transaction

_BOTH_SECRETS_VALID: Final = timedelta(hours=24)
"""Time after a replacement for which requests are also signed with the former secret."""
_CODE_BYTES: Final = 5
_MOST_CODE_ATTEMPTS: Final = 5
_SHOWN_DELIVERIES: Final = 100
_CONFIRMATION_PERIOD: Final = timedelta(days=1)
_CONFIRMATIONS_OF_PROJECT: Final = 10
"""The most codes that are mailed for a project in that period; an address gets one."""


def list_subscriptions(context: Context, caller: Caller, sees_site: bool) -> Sequence[JsonObject]:
    """Return the subscriptions of the caller's project, oldest first.

    Args:
        context: The context.
        caller: The caller.
        sees_site: Whether those of the scope ``site`` follow.
    """
    with context.store.read() as transaction:
        own = caller.project_id
        found = () if not own else transaction.subscriptions.list(project_id=own)
        of_site = transaction.subscriptions.list(Scope.SITE) if sees_site else ()
    return [subscription_view(context, caller, each) for each in (*found, *of_site)]


def get_subscription(context: Context, caller: Caller, subscription_id: str, sees_site: bool) -> JsonObject:
    """Return a subscription. Raises SubscriptionNotFound."""
    with context.store.read() as transaction:
        found = _get(context, transaction, caller, subscription_id, sees_site)
    return subscription_view(context, caller, found)


def create_subscription(context: Context, caller: Caller, body: JsonObject, is_operator: bool) -> JsonObject:
    """Create a subscription and return it; that of a webhook with its secret, which is not shown again.

    Raises:
        BadRequest: The body is invalid.
        TooManySubscriptions: The project has the most allowed.
    """
    asked = parse_subscription(context, caller, body, is_operator=is_operator)
    if asked.kind is ChannelKind.WEBHOOK:
        asked = replace(asked, secret=secret_of(secrets.token_bytes(KEY_BYTES)))
    elif asked.target is not None:
        asked = replace(asked, code=secrets.token_hex(_CODE_BYTES))

    def once(attempt: int) -> None:
        with context.store.begin() as transaction:
            check_lease(transaction, asked)
            _check_number(context, transaction, asked)
            transaction.subscriptions.insert(asked)
            _mail_code(context, transaction, asked)
            transaction.commit()

    retrying(context, once)
    view = subscription_view(context, caller, asked)
    return view if asked.secret is None else {**view, "secret": asked.secret}


def update_subscription(
    context: Context, caller: Caller, subscription_id: str, body: JsonObject, sees_site: bool
) -> JsonObject:
    """Change a subscription, and return it; with a new secret if the body asks for one.

    Raises:
        SubscriptionNotFound: The caller's project has none with this id.
        BadRequest: The body is invalid, or the code is wrong.
    """

    def once(attempt: int) -> tuple[Subscription, bool]:
        with context.store.begin() as transaction:
            stored = _find(transaction, caller, subscription_id, sees_site)
            before = stored.as_configured(context.settings.notices.default_types)
            is_right = _check_code(transaction, stored, body)
            after = _changed(context, caller, before, body)
            if is_right:
                after = replace(after, code=None, code_attempts=0)
            transaction.subscriptions.replace(stored, after)
            if after.target != before.target:
                _mail_code(context, transaction, after)
            if body.get("resend") is True:
                transaction.deliveries.resend(after.id, context.clock.now())
            transaction.commit()
        return after, after.secret != before.secret

    after, has_new_secret = retrying(context, once)
    view = subscription_view(context, caller, after)
    return {**view, "secret": after.secret} if has_new_secret else view


def delete_subscription(context: Context, caller: Caller, subscription_id: str, sees_site: bool) -> None:
    """Delete a subscription with its undelivered notices. Raises SubscriptionNotFound."""

    def once(attempt: int) -> None:
        with context.store.begin() as transaction:
            found = _get(context, transaction, caller, subscription_id, sees_site)
            if found.is_default:
                raise Conflict(
                    "A subscription that the service made cannot be deleted; disable it with enabled = false"
                )
            transaction.subscriptions.delete(found.id)
            transaction.commit()

    retrying(context, once)


def test_subscription(context: Context, caller: Caller, subscription_id: str, sees_site: bool) -> None:
    """Send a test message to the subscriber.

    Raises:
        SubscriptionNotFound: The caller's project has none with this id.
        Conflict: The subscription is disabled or not confirmed, or an earlier test message was not delivered
            yet.
    """

    def once(attempt: int) -> None:
        with context.store.begin() as transaction:
            found = _get(context, transaction, caller, subscription_id, sees_site)
            if not found.is_enabled or found.code is not None:
                raise Conflict("The subscription is disabled, or its address is not confirmed yet")
            waiting = transaction.deliveries.list(found.id, _SHOWN_DELIVERIES)
            if any(each.type == TEST and each.failed_at is None for each in waiting):
                raise Conflict("An earlier test message was not delivered yet")
            _queue(context, transaction, found, TEST, {})
            transaction.commit()

    retrying(context, once)


def list_subscription_deliveries(
    context: Context, caller: Caller, subscription_id: str, sees_site: bool
) -> Sequence[JsonObject]:
    """Return notices that are not delivered yet or were given up, oldest first; at most 100.

    Raises:
        SubscriptionNotFound: The caller's project has no subscription with this id.
    """
    with context.store.read() as transaction:
        found = _get(context, transaction, caller, subscription_id, sees_site)
        return [delivery_view(each) for each in transaction.deliveries.list(found.id, _SHOWN_DELIVERIES)]


def _get(
    context: Context, transaction: Transaction, caller: Caller, subscription_id: str, sees_site: bool
) -> Subscription:
    found = _find(transaction, caller, subscription_id, sees_site)
    return found.as_configured(context.settings.notices.default_types)


def _find(transaction: Transaction, caller: Caller, subscription_id: str, sees_site: bool) -> Subscription:
    """Return a subscription as it is stored. Raises SubscriptionNotFound."""
    found = transaction.subscriptions.find(subscription_id)
    is_seen = found is not None and (
        sees_site
        if found.scope is Scope.SITE
        else bool(found.project_id) and found.project_id == caller.project_id
    )
    if found is None or not is_seen:
        raise SubscriptionNotFound(subscription_id[:64])
    return found


def _check_number(context: Context, transaction: Transaction, asked: Subscription) -> None:
    """Raise TooManySubscriptions if the project has the most allowed; its concurrent requests wait."""
    limit = context.settings.notices.per_project
    if not limit or asked.scope is Scope.SITE:
        return
    if asked.project_id is not None:
        transaction.quotas.lock(asked.project_id)
    if transaction.subscriptions.count(asked.project_id) >= limit:
        raise TooManySubscriptions(limit)


def _changed(context: Context, caller: Caller, before: Subscription, body: JsonObject) -> Subscription:
    now = context.clock.now()
    after = replace(changed_subscription(context, before, body), updated_at=now)
    if body.get("rotate_secret") is True:
        if before.kind is not ChannelKind.WEBHOOK:
            raise InvalidParameter("rotate_secret", "only webhooks have a secret")
        after = replace(
            after,
            secret=secret_of(secrets.token_bytes(KEY_BYTES)),
            former_secret=before.secret,
            former_until=now + _BOTH_SECRETS_VALID,
        )
    if after.target != before.target:
        is_foreign = after.kind is ChannelKind.MAIL and after.target is not None
        code = secrets.token_hex(_CODE_BYTES) if is_foreign else None
        after = replace(after, code=code, code_attempts=0)
    if after.target != before.target or (after.is_enabled and not before.is_enabled):
        after = replace(after, health=Health(succeeded_at=before.health.succeeded_at))
    return after


def _check_code(transaction: Transaction, before: Subscription, body: JsonObject) -> bool:
    """Return whether a body has the code that was mailed to the address of a subscription.

    Raises:
        InvalidParameter: The code is wrong; the attempt is counted.
    """
    code = body.get("code")
    if code is None or before.code is None:
        return False
    if before.code_attempts >= _MOST_CODE_ATTEMPTS:
        raise InvalidParameter("code", "too many wrong codes; delete the subscription and make it again")
    if hmac.compare_digest(before.code.encode(), str(code).strip().lower().encode()):
        return True
    transaction.subscriptions.replace(before, replace(before, code_attempts=before.code_attempts + 1))
    transaction.commit()
    raise InvalidParameter("code", "is not the code that was mailed to the address")


def _mail_code(context: Context, transaction: Transaction, subscription: Subscription) -> None:
    """Queue the mail with the code, if the subscription has one.

    Raises:
        Conflict: The address, or the project, was recently mailed too many codes.
    """
    if subscription.code is None or subscription.target is None:
        return
    now, address = context.clock.now(), subscription.target.lower()
    store, since = transaction.subscriptions, now - _CONFIRMATION_PERIOD
    if store.count_confirmations(since, address=address, project_id=None):
        raise Conflict("A code was mailed to this address within the last 24 hours; try again later")
    of_project = store.count_confirmations(since, address=None, project_id=subscription.project_id)
    if of_project >= _CONFIRMATIONS_OF_PROJECT:
        raise Conflict(
            "Too many codes were mailed for this project within the last 24 hours; try again later"
        )
    store.note_confirmation(address, subscription.project_id, now)
    _queue(context, transaction, subscription, CONFIRM, {"code": subscription.code})


def _queue(
    context: Context, transaction: Transaction, subscription: Subscription, kind: str, data: JsonObject
) -> None:
    now = context.clock.now()
    delivery = Delivery(
        message_id=context.new_id(),
        subscription=subscription,
        type=kind,
        # Do not queue it behind notices of leases.
        lease_id=subscription.id,
        data={"subscription_id": subscription.id, **data},
        at=now,
        queued_at=now,
    )
    transaction.deliveries.append([delivery])
