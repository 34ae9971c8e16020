"""Port: stored feeds, and what they show.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from blazar.domain.feeds import DeletedLease, Feed
from blazar.domain.lease import LeaseId

Version = tuple[int, datetime | None]
"""The revision of a lease, and when it was written: revisions are repeated after a backup was restored."""


class FeedStore(Protocol):
    """Feeds by their ids and by the digests of their tokens, and leases that were deleted recently."""

    def find(self, feed_id: str) -> Feed | None:
        """Return a feed, or None."""

    def find_by_token(self, token_digest: str) -> Feed | None:
        """Return the feed of a token, or None."""

    def list(self, project_id: str | None) -> Sequence[Feed]:
        """Return the feeds of a project, or of all for None, oldest first."""

    def insert(self, feed: Feed) -> None:
        """Add a feed. Raises ConcurrentUpdate if another one has its token."""

    def delete(self, feed_id: str) -> None:
        """Delete a feed; do nothing if it is gone."""

    def note_use(self, feed: Feed, at: datetime) -> None:
        """Store that the calendar was read; do nothing if the feed is gone."""

    def delete_before(self, instant: datetime) -> int:
        """Delete the feeds that were created before an instant; return their number."""

    def list_leases(
        self, feed: Feed, *, ending_after: datetime, now: datetime, most: int
    ) -> Mapping[LeaseId, Version]:
        """Return the versions of the leases that a feed shows; a lease of the same version is unchanged.

        If there are more than *most*, those that end in the future come first, the next ones before later
        ones, and then those that ended last.
        """

    def list_deleted(self, feed: Feed, deleted_after: datetime, most: int) -> Sequence[DeletedLease]:
        """Return the deleted leases that a feed shows, latest deletion first; at most *most*."""

    def insert_deleted(self, lease: DeletedLease) -> None:
        """Remember a deleted lease."""

    def forget_deleted(self, before: datetime) -> int:
        """Delete what is remembered of leases deleted before an instant; return their number."""
