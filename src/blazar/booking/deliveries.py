"""Deliveries of notices to the subscribers whom they concern."""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from blazar.booking.context import Context
from blazar.domain.notices import Notice
from blazar.domain.subscriptions import ChannelKind, Scope, Subscription
from blazar.ports.notices import Delivery
from blazar.ports.store import Transaction

_DEFAULT_IDS: Final = uuid.UUID("4c3e0c3a-6f0e-5a3e-9d0b-2f6a1d0f8b11")
"""Namespace for the ids of subscriptions that the service makes, derived from project and user."""

_logger = logging.getLogger(__name__)


def delivery_of(
    context: Context, notice: Notice, subscription: Subscription, date: datetime | None = None
) -> Delivery:
    """Return a new delivery of a notice; *date* is the date of a reminder."""
    return Delivery(
        message_id=context.new_id(),
        subscription=subscription,
        type=notice.type.value,
        lease_id=notice.lease_id,
        data=notice.data,
        at=notice.at,
        date=date,
        queued_at=context.clock.now(),
    )


def store_deliveries(context: Context, transaction: Transaction, deliveries: Sequence[Delivery]) -> None:
    """Add deliveries; a subscription with too many undelivered ones is disabled."""
    by_subscription: dict[str, list[Delivery]] = defaultdict(list)
    for each in deliveries:
        by_subscription[each.subscription.id].append(each)
    transaction.deliveries.append(deliveries)
    limit = context.settings.notices.longest_queue
    counts = transaction.deliveries.count_waiting(by_subscription.keys()) if limit else {}
    for key, count in counts.items():
        if count > limit:
            problem = f"more than {limit} notices could not be delivered"
            disable(transaction, by_subscription[key][0].subscription, context.clock.now(), problem)
            _logger.warning("subscription disabled: id=%s undelivered=%d", key, count)


def subscribe_owners(
    context: Context, transaction: Transaction, owners: Collection[tuple[str | None, str | None]]
) -> None:
    """Create the default subscriptions of lease owners, unless they exist.

    Args:
        context: The context; its settings have the types.
        transaction: The transaction.
        owners: Projects and users.
    """
    settings = context.settings.notices
    if not settings.default_types or ChannelKind.MAIL not in settings.channels:
        return
    for project_id, user_id in sorted((each for each in owners if None not in each), key=str):
        key = str(uuid.uuid5(_DEFAULT_IDS, f"{project_id} {user_id}"))
        if transaction.subscriptions.find(key) is None:
            transaction.subscriptions.insert(
                Subscription(
                    id=key,
                    scope=Scope.OWN,
                    project_id=project_id,
                    user_id=user_id,
                    kind=ChannelKind.MAIL,
                    types=settings.default_types,
                    is_default=True,
                    created_at=context.clock.now(),
                )
            )


def disable(transaction: Transaction, subscription: Subscription, at: datetime, problem: str) -> None:
    """Stop deliveries to a subscriber, who can enable them again; mark waiting ones as failed."""
    transaction.subscriptions.disable(subscription.id, problem)
    transaction.deliveries.fail_all(subscription.id, at, problem)
