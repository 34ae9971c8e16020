"""Feeds, and leases that were deleted before their end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.columns import read_object
from blazar.db.connection import Connection
from blazar.db.tables import deleted_leases, feeds, leases
from blazar.domain.feeds import DeletedLease, Feed, FeedKind
from blazar.domain.lease import LeaseId
from blazar.ports.feeds import Version

_INSERT_DELETED: Final = sa.insert(deleted_leases)


class SqlFeeds:
    """Implements :class:`blazar.ports.feeds.FeedStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, feed_id: str) -> Feed | None:
        """Return a feed, or None."""
        return next(iter(self._read(feeds.c.id == feed_id)), None)

    def find_by_token(self, token_digest: str) -> Feed | None:
        """Return the feed of a token, or None."""
        return next(iter(self._read(feeds.c.token_digest == token_digest)), None)

    def list(self, project_id: str | None) -> Sequence[Feed]:
        """Return the feeds of a project, or of all for None, oldest first."""
        return self._read(sa.true() if project_id is None else feeds.c.project_id == project_id)

    def insert(self, feed: Feed) -> None:
        """Add a feed."""
        row = {
            "id": feed.id,
            "token_digest": feed.token_digest,
            "kind": feed.kind.value,
            "name": feed.name,
            "user_id": feed.user_id,
            "project_id": feed.project_id,
            "lease_id": feed.lease_id,
            "question": json.dumps(dict(feed.question)),
            "alarm_minutes": None if feed.alarm is None else feed.alarm // timedelta(minutes=1),
            "created_at": feed.created_at,
            "last_used_at": feed.last_used_at,
        }
        self._connection.execute(sa.insert(feeds), [row])

    def delete(self, feed_id: str) -> None:
        """Delete a feed."""
        self._connection.execute(sa.delete(feeds).where(feeds.c.id == feed_id))

    def note_use(self, feed: Feed, at: datetime) -> None:
        """Record that the calendar was read."""
        self._connection.execute(sa.update(feeds).where(feeds.c.id == feed.id).values(last_used_at=at))

    def delete_before(self, instant: datetime) -> int:
        """Delete the feeds that were created before an instant; return their number."""
        return self._connection.execute(sa.delete(feeds).where(feeds.c.created_at < instant)).rowcount

    def list_leases(
        self, feed: Feed, *, ending_after: datetime, now: datetime, most: int
    ) -> Mapping[LeaseId, Version]:
        """Return the versions of the leases that a feed shows; if too many, those nearest to the present."""
        end = leases.c.end_at
        query = sa.select(leases.c.id, leases.c.revision, leases.c.updated_at).where(
            _is_shown(feed, leases.c, leases.c.id)
        )
        future = query.where(end > now).order_by(end, leases.c.id)
        past = query.where(end <= now, end > ending_after).order_by(end.desc(), leases.c.id)
        found: dict[LeaseId, Version] = {}
        for some in (future, past):
            rows = self._connection.execute(some.limit(most - len(found)))
            found |= {LeaseId(lease_id): (revision, at) for lease_id, revision, at in rows}
        return found

    def list_deleted(self, feed: Feed, deleted_after: datetime, most: int) -> Sequence[DeletedLease]:
        """Return the deleted leases that a feed shows, latest deletion first."""
        shown = deleted_leases.c
        query = (
            sa.select(deleted_leases)
            .where(_is_shown(feed, shown, shown.lease_id), shown.deleted_at > deleted_after)
            .order_by(shown.deleted_at.desc(), shown.id.desc())
            .limit(most)
        )
        return [
            DeletedLease(
                lease_id=LeaseId(row.lease_id),
                name=row.name,
                user_id=row.user_id,
                project_id=row.project_id,
                start=row.start_at,
                end=row.end_at,
                revision=row.revision,
                created_at=row.created_at,
                deleted_at=row.deleted_at,
            )
            for row in self._connection.execute(query)
        ]

    def insert_deleted(self, lease: DeletedLease) -> None:
        """Remember a deleted lease."""
        row = {
            "lease_id": lease.lease_id,
            "name": lease.name,
            "user_id": lease.user_id,
            "project_id": lease.project_id,
            "start_at": lease.start,
            "end_at": lease.end,
            "revision": lease.revision,
            "created_at": lease.created_at,
            "deleted_at": lease.deleted_at,
        }
        self._connection.later(_INSERT_DELETED, [row])

    def forget_deleted(self, before: datetime) -> int:
        """Delete the records of leases that were deleted before an instant; return their number."""
        old = deleted_leases.c.deleted_at < before
        return self._connection.execute(sa.delete(deleted_leases).where(old)).rowcount

    def _read(self, which: sa.ColumnElement[bool]) -> Sequence[Feed]:
        query = sa.select(feeds).where(which).order_by(feeds.c.created_at, feeds.c.id)
        return [_feed_of(row) for row in self._connection.execute(query)]


def _is_shown(feed: Feed, columns: Any, lease_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a feed shows a lease: never one of another project."""
    conditions = [columns.project_id == feed.project_id]
    if feed.kind is FeedKind.USER:
        conditions.append(sa.false() if feed.user_id is None else columns.user_id == feed.user_id)
    if feed.kind is FeedKind.LEASE:
        conditions.append(lease_id == feed.lease_id)
    return sa.and_(*conditions)


def _feed_of(row: Any) -> Feed:
    alarm = row.alarm_minutes
    return Feed(
        id=row.id,
        token_digest=row.token_digest,
        kind=FeedKind(row.kind),
        name=row.name,
        user_id=row.user_id,
        project_id=row.project_id,
        lease_id=None if row.lease_id is None else LeaseId(row.lease_id),
        question={key: str(value) for key, value in (read_object(row.question) or {}).items()},
        alarm=None if alarm is None else timedelta(minutes=alarm),
        created_at=row.created_at,
        last_used_at=row.last_used_at,
    )
