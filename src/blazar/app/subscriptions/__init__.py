"""Use cases of subscriptions to notices."""

from __future__ import annotations

from blazar.app.subscriptions.use_cases import (
    create_subscription,
    delete_subscription,
    get_subscription,
    list_subscription_deliveries,
    list_subscriptions,
    test_subscription,
    update_subscription,
)

__all__ = (
    "create_subscription",
    "delete_subscription",
    "get_subscription",
    "list_subscription_deliveries",
    "list_subscriptions",
    "test_subscription",
    "update_subscription",
)
