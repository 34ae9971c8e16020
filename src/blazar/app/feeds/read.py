"""Reading the calendar of a feed."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from blazar.app.feeds.busy_times import list_busy_times
from blazar.booking.calendars import busy_event, deleted_lease_event, lease_event, render_calendar
from blazar.booking.context import Context
from blazar.booking.views import JsonObject
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.feeds import CalendarNotFound, Feed, FeedKind
from blazar.domain.instants import moved
from blazar.domain.interval import Interval
from blazar.domain.lease import LeaseId
from blazar.ports.feeds import Version
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_FORM: Final = 1
"""The number of the format of calendars, so that a tag of an older format never matches."""
_MOST_LEASES: Final = 1_000
"""The most leases of a calendar. Every supported database accepts as many ids."""
_MOST_OTHERS: Final = 300
"""The most deleted leases, and the most busy times, of a calendar; they are rendered at each read."""
_DAY: Final = timedelta(days=1)
_TITLES: Final = {
    FeedKind.LEASE: "Blazar lease",
    FeedKind.USER: "My Blazar leases",
    FeedKind.PROJECT: "Blazar leases",
}

_logger = logging.getLogger(__name__)


def get_calendar(
    context: Context, caller: Caller, token_digest: str, known: Collection[str] = ()
) -> JsonObject:
    """Return the calendar of a feed.

    If the caller already has the present one, nothing is rendered. Otherwise, only leases that have changed
    since they were rendered are read.

    Args:
        context: The context.
        caller: Unknown; the token decides what is shown.
        token_digest: SHA-256 of the token, in hexadecimal.
        known: The tags of calendars that the caller has.

    Returns:
        ``etag``; also ``calendar``, if that tag is not known.

    Raises:
        CalendarNotFound: No feed that has not expired has this token.
        BadRequest: The resources of an availability feed can no longer be determined.
    """
    now = context.clock.now()
    with context.store.read() as transaction:
        feed = transaction.feeds.find_by_token(token_digest)
        if feed is None or feed.has_expired(context.settings.feeds.longest_age, now):
            raise CalendarNotFound
        answer = None
        if feed.kind is not FeedKind.AVAILABILITY:
            answer = _of_leases(context, transaction, feed, now, known)
    if answer is None:
        answer = _of_busy_times(context, feed, known)
    _note_use(context, feed, now)
    return answer


def _of_leases(
    context: Context, transaction: Transaction, feed: Feed, now: datetime, known: Collection[str]
) -> JsonObject:
    """Return the calendar of a feed of leases; its tag follows from their versions."""
    settings = context.settings.feeds
    versions = transaction.feeds.list_leases(
        feed, ending_after=moved(now, -settings.past), now=now, most=_MOST_LEASES
    )
    deleted = transaction.feeds.list_deleted(feed, moved(now, -settings.cancelled), _MOST_OTHERS)
    # A lease that was imported again may have been deleted several times; the latest deletion comes first.
    latest = {each.lease_id: each for each in reversed(deleted) if each.lease_id not in versions}
    gone = list(latest.values())
    tag = _tag_of(
        feed,
        sorted(context.plugins),
        list(versions.items()),
        [(each.lease_id, each.revision, each.deleted_at) for each in gone],
    )
    if tag in known:
        return {"etag": tag}
    events = [*_lease_events(context, transaction, feed, versions), *map(deleted_lease_event, gone)]
    return {"etag": tag, "calendar": render_calendar(_title(feed), events)}


def _lease_events(
    context: Context, transaction: Transaction, feed: Feed, versions: Mapping[LeaseId, Version]
) -> Sequence[str]:
    """Return the events of leases; only leases that were not rendered at their version are read."""
    texts = context.event_cache.recall({(key, feed.alarm): each for key, each in versions.items()})
    unknown = [key for key in versions if (key, feed.alarm) not in texts]
    for lease in transaction.leases.get_many(unknown) if unknown else ():
        text = texts[lease.id, feed.alarm] = lease_event(lease, context.plugins, feed.alarm)
        context.event_cache.keep((lease.id, feed.alarm), versions[lease.id], text)
    return [texts[key, feed.alarm] for key in versions]


def _of_busy_times(context: Context, feed: Feed, known: Collection[str]) -> JsonObject:
    """Return the calendar of a feed of busy times."""
    times = list_busy_times(context, feed)[:_MOST_OTHERS]
    tag = _tag_of(feed, [(each.start, each.end) for each in times])
    if tag in known:
        return {"etag": tag}
    return {"etag": tag, "calendar": render_calendar(_title(feed), _busy_events(feed, times))}


def _busy_events(feed: Feed, times: Sequence[Interval]) -> Iterable[str]:
    amount = int(feed.question.get("amount", "1"))
    number = "No" if amount == 1 else f"Fewer than {amount}"
    for each in times:
        # A time that has begun starts with the present hour, so its end is what identifies it.
        uid = f"{feed.id}-{each.end:%Y%m%dT%H%M}@blazar"
        yield busy_event(uid, f"{number} {feed.question['resource_type']} free", each, feed.created_at)


def _title(feed: Feed) -> str:
    return feed.name or _TITLES.get(feed.kind) or f"Busy: {feed.question['resource_type']}"


def _tag_of(feed: Feed, *decisive: object) -> str:
    """Return a string that changes whenever the calendar does, and is the same on every manager."""
    text = json.dumps([_FORM, feed.id, *decisive], default=datetime.isoformat)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _note_use(context: Context, feed: Feed, now: datetime) -> None:
    """Store once a day that the calendar was read, so that unused feeds can be found."""
    if feed.last_used_at is not None and now - feed.last_used_at < _DAY:
        return
    try:
        with context.store.begin() as transaction:
            transaction.feeds.note_use(feed, now)
            transaction.commit()
    except ConcurrentUpdate:
        # Another manager stores the same.
        _logger.debug("time of the last read of a feed not stored: feed=%s", feed.id)
