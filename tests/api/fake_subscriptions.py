"""The requests about subscriptions to the manager of the API's tests."""

from __future__ import annotations

from collections.abc import Sequence

from api.manager_answers import DELIVERY, SUBSCRIPTION

from blazar.domain.subscriptions import SubscriptionNotFound
from blazar.ports.manager import Caller, JsonObject


class FakeSubscriptions:
    """One subscription, which never changes."""

    def _asked(self, name: str, caller: Caller, *arguments: object) -> None:
        raise NotImplementedError

    def list_subscriptions(self, caller: Caller, sees_site: bool) -> Sequence[JsonObject]:
        self._asked("list_subscriptions", caller, sees_site)
        return [SUBSCRIPTION]

    def get_subscription(self, caller: Caller, subscription_id: str, sees_site: bool) -> JsonObject:
        self._asked("get_subscription", caller, subscription_id, sees_site)
        return _get(subscription_id)

    def create_subscription(self, caller: Caller, body: JsonObject, is_operator: bool) -> JsonObject:
        self._asked("create_subscription", caller, body, is_operator)
        return {**SUBSCRIPTION, "secret": "whsec_c2VjcmV0"}

    def update_subscription(
        self, caller: Caller, subscription_id: str, body: JsonObject, sees_site: bool
    ) -> JsonObject:
        self._asked("update_subscription", caller, subscription_id, body, sees_site)
        return _get(subscription_id)

    def delete_subscription(self, caller: Caller, subscription_id: str, sees_site: bool) -> None:
        self._asked("delete_subscription", caller, subscription_id, sees_site)
        _get(subscription_id)

    def test_subscription(self, caller: Caller, subscription_id: str, sees_site: bool) -> None:
        self._asked("test_subscription", caller, subscription_id, sees_site)
        _get(subscription_id)

    def list_subscription_deliveries(
        self, caller: Caller, subscription_id: str, sees_site: bool
    ) -> Sequence[JsonObject]:
        self._asked("list_subscription_deliveries", caller, subscription_id, sees_site)
        _get(subscription_id)
        return [DELIVERY]


def _get(subscription_id: str) -> JsonObject:
    if subscription_id != SUBSCRIPTION["id"]:
        raise SubscriptionNotFound(subscription_id)
    return SUBSCRIPTION
