"""Creating, listing and deleting feeds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from blazar.app.feeds.requests import parse_feed
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.views import JsonObject
from blazar.domain.errors import InvalidParameter
from blazar.domain.feeds import Feed, FeedNotFound, TooManyFeeds
from blazar.domain.formats import API
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_DIGEST_LENGTH: Final = 64


def create_feed(context: Context, caller: Caller, token_digest: str, body: JsonObject) -> JsonObject:
    """Create a feed of the caller's project, and return it.

    Raises:
        BadRequest: The body is invalid.
        LeaseNotFound: The caller's project has no such lease.
        TooManyFeeds: The project already has the most feeds allowed.
    """
    if len(token_digest) != _DIGEST_LENGTH:
        raise InvalidParameter("token_digest", "must be a SHA-256 in hexadecimal")
    feed = parse_feed(context, caller, token_digest, body, context.clock.now())

    def once(attempt: int) -> None:
        with context.store.begin() as transaction:
            _check_number(context, transaction, feed)
            transaction.feeds.insert(feed)
            transaction.commit()

    retrying(context, once)
    return _view(context, feed)


def _check_number(context: Context, transaction: Transaction, feed: Feed) -> None:
    """Raise TooManyFeeds if the project has the most feeds allowed; its concurrent requests wait."""
    limit = context.settings.feeds.per_project
    if not limit:
        return
    transaction.quotas.lock(feed.project_id)
    if len(_present(context, transaction, feed.project_id)) >= limit:
        raise TooManyFeeds(limit)


def list_feeds(context: Context, caller: Caller, project_id: str | None) -> Sequence[JsonObject]:
    """Return the feeds of a project, or of all projects for None, oldest first."""
    with context.store.read() as transaction:
        found = _present(context, transaction, project_id)
    return [_view(context, each) for each in found]


def get_feed(context: Context, caller: Caller, feed_id: str, project_id: str | None) -> JsonObject:
    """Return a feed of a project, or of any for None. Raises FeedNotFound."""
    with context.store.read() as transaction:
        return _view(context, _get(context, transaction, feed_id, project_id))


def delete_feed(context: Context, caller: Caller, feed_id: str, project_id: str | None) -> None:
    """Delete a feed of a project, or of any for None. Raises FeedNotFound."""

    def once(attempt: int) -> None:
        with context.store.begin() as transaction:
            transaction.feeds.delete(_get(context, transaction, feed_id, project_id).id)
            transaction.commit()

    retrying(context, once)


def _get(context: Context, transaction: Transaction, feed_id: str, project_id: str | None) -> Feed:
    feed = transaction.feeds.find(feed_id)
    is_other = feed is not None and project_id not in (None, feed.project_id)
    if feed is None or is_other or _has_expired(context, feed):
        raise FeedNotFound(feed_id[:64])
    return feed


def _present(context: Context, transaction: Transaction, project_id: str | None) -> Sequence[Feed]:
    return [each for each in transaction.feeds.list(project_id) if not _has_expired(context, each)]


def _has_expired(context: Context, feed: Feed) -> bool:
    return feed.has_expired(context.settings.feeds.longest_age, context.clock.now())


def _view(context: Context, feed: Feed) -> JsonObject:
    """Return a feed without its token, which is not known."""
    keys = ("resource_type", "filter", "unit", "group_by", "group")
    amount = feed.question.get("amount")
    return {
        "id": feed.id,
        "kind": feed.kind.value,
        "name": feed.name,
        "user_id": feed.user_id,
        "project_id": feed.project_id,
        "lease_id": feed.lease_id,
        **{key: feed.question.get(key) for key in keys},
        "amount": None if amount is None else int(amount),
        "alarm_minutes": None if feed.alarm is None else feed.alarm // timedelta(minutes=1),
        "created_at": API.date(feed.created_at),
        "expires_at": API.date(feed.expires_at(context.settings.feeds.longest_age)),
        "last_used_on": None if feed.last_used_at is None else feed.last_used_at.date().isoformat(),
    }
