"""Port: the requests to a manager about feeds; a part of :class:`blazar.ports.manager.Manager`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from blazar.ports.manager import Caller, JsonObject


class FeedRequests(Protocol):
    """The use cases of feeds."""

    def create_feed(self, caller: Caller, token_digest: str, body: JsonObject) -> JsonObject:
        """Create a feed of the caller's project, and return it.

        Args:
            caller: The caller.
            token_digest: SHA-256 of the feed's token, in hexadecimal.
            body: ``kind``; ``lease_id`` for a lease; ``resource_type`` and optionally ``filter``, ``unit``,
                ``group_by``, ``group`` and ``amount`` for availability; optionally ``name`` and
                ``alarm_minutes``.

        Raises:
            BadRequest: The body is invalid.
            LeaseNotFound: The caller's project has no such lease.
            TooManyFeeds: The project has as many feeds as it may.
        """

    def list_feeds(self, caller: Caller, project_id: str | None) -> Sequence[JsonObject]:
        """Return the feeds of a project, or of all projects for None, oldest first."""

    def get_feed(self, caller: Caller, feed_id: str, project_id: str | None) -> JsonObject:
        """Return a feed of a project, or of any for None. Raises FeedNotFound."""

    def delete_feed(self, caller: Caller, feed_id: str, project_id: str | None) -> None:
        """Delete a feed of a project, or of any for None; its token is then unknown. Raises FeedNotFound."""

    def get_calendar(self, caller: Caller, token_digest: str, known: Sequence[str] = ()) -> JsonObject:
        """Return the calendar of a feed.

        Args:
            caller: Unknown; the token decides what is shown.
            token_digest: SHA-256 of the token, in hexadecimal.
            known: The ``etag`` of earlier answers.

        Returns:
            ``etag``; unless it is among the known ones, also ``calendar``, a text in the format of RFC 5545.

        Raises:
            CalendarNotFound: No feed that has not expired has this token.
        """
