"""Port: the requests to a manager about subscriptions; a part of :class:`blazar.ports.manager.Manager`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from blazar.ports.manager import Caller, JsonObject


class SubscriptionRequests(Protocol):
    """The use cases of subscriptions to notices.

    In each of them, *sees_site* tells whether subscriptions of the scope ``site`` exist for the caller; the
    API checks its policy.
    """

    def list_subscriptions(self, caller: Caller, sees_site: bool) -> Sequence[JsonObject]:
        """Return the subscriptions of the caller's project, oldest first."""

    def get_subscription(self, caller: Caller, subscription_id: str, sees_site: bool) -> JsonObject:
        """Return a subscription. Raises SubscriptionNotFound."""

    def create_subscription(self, caller: Caller, body: JsonObject, is_operator: bool) -> JsonObject:
        """Make a subscription, and return it.

        Args:
            caller: The caller, whose project gets it.
            body: As the API checks it.
            is_operator: Whether its scope may be ``site``.

        Returns:
            The subscription; that of a webhook with its ``secret``, which is not shown again.

        Raises:
            BadRequest: The body is invalid.
            TooManySubscriptions: The project has as many as it may.
        """

    def update_subscription(
        self, caller: Caller, subscription_id: str, body: JsonObject, sees_site: bool
    ) -> JsonObject:
        """Change a subscription, and return it; with ``secret`` if it has a new one.

        Raises:
            SubscriptionNotFound: The caller's project has none with this id.
            BadRequest: The body is invalid, or its ``code`` is wrong.
        """

    def delete_subscription(self, caller: Caller, subscription_id: str, sees_site: bool) -> None:
        """Delete a subscription with its undelivered notices. Raises SubscriptionNotFound."""

    def test_subscription(self, caller: Caller, subscription_id: str, sees_site: bool) -> None:
        """Send a test message to the subscriber.

        Raises:
            SubscriptionNotFound: The caller's project has none with this id.
            Conflict: The subscription is disabled, or an earlier test message was not delivered yet.
        """

    def list_subscription_deliveries(
        self, caller: Caller, subscription_id: str, sees_site: bool
    ) -> Sequence[JsonObject]:
        """Return notices that are not delivered yet or were given up. Raises SubscriptionNotFound."""
