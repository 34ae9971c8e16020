"""Subscriptions to notices of leases."""

from __future__ import annotations

from typing import Any

from blazarclient import base
from blazarclient.base import Record, Records, many, one, path

_COLLECTION = "subscriptions"


class SubscriptionClientManager(base.BaseClientManager):
    """Subscriptions of the user's project.

    Each method raises NotFound if the service does not support API version 1.1.
    """

    def create(self, kind: str, **values: Any) -> Record:
        """Subscribe to notices, and return the subscription; that of a webhook with its ``secret``.

        Args:
            kind: ``mail`` or ``webhook``.
            values: ``url``, ``address``, ``events``, ``lease_id``, ``scope``, ``lead_minutes``,
                ``time_zone``, ``language``, and for operators ``resource_type``, ``below`` and
                ``waits_minutes``. Those that are None are left out.
        """
        body = {"kind": kind, **{key: value for key, value in values.items() if value is not None}}
        return one(self._ask("POST", path(_COLLECTION), body), "subscription")

    def get(self, subscription_id: str) -> Record:
        """Return a subscription."""
        return one(self._ask("GET", path(_COLLECTION, subscription_id)), "subscription")

    def list(self, sort_by: str | None = None) -> Records:
        """Return the subscriptions of the project, sorted by the key *sort_by* if given."""
        return many(self._ask("GET", path(_COLLECTION)), "subscriptions", sort_by)

    def update(self, subscription_id: str, values: Record) -> Record:
        """Change a subscription and return it; with ``rotate_secret``, it has its new ``secret``.

        Args:
            subscription_id: Id of the subscription.
            values: In the form of the API: as for *create*, and ``enabled``, ``rotate_secret``, ``resend``.
        """
        return one(self._ask("PUT", path(_COLLECTION, subscription_id), values), "subscription")

    def confirm(self, subscription_id: str, code: str) -> Record:
        """Confirm the address of a subscription with the code that was mailed to it."""
        return self.update(subscription_id, {"code": code})

    def test(self, subscription_id: str) -> None:
        """Send a test message to the subscriber."""
        self._ask("POST", path(_COLLECTION, subscription_id, "test"))

    def deliveries(self, subscription_id: str) -> Records:
        """Return the notices that are not delivered yet or were given up, oldest first."""
        return many(self._ask("GET", path(_COLLECTION, subscription_id, "deliveries")), "deliveries", None)

    def delete(self, subscription_id: str) -> None:
        """Delete a subscription with its undelivered notices."""
        self._ask("DELETE", path(_COLLECTION, subscription_id))

    def _ask(self, method: str, url: str, body: Record | None = None) -> Any:
        content = {} if body is None else {"body": body}
        _response, found = self.request_manager.request(url, method, headers=base.API_1_1, **content)
        return found
