"""Requests for feeds: what a feed shows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from blazar.app.feeds.busy_times import check_question
from blazar.booking.context import Context
from blazar.booking.views import JsonObject
from blazar.domain.errors import Forbidden, InvalidParameter, LeaseNotFound, MissingParameter
from blazar.domain.feeds import Feed, FeedKind
from blazar.domain.lease import LeaseId
from blazar.ports.manager import Caller

_QUESTION: Final = ("resource_type", "filter", "unit", "group_by", "group", "amount")
_OF_KIND: Final[Mapping[FeedKind, tuple[str, ...]]] = {
    FeedKind.LEASE: ("lease_id", "alarm_minutes"),
    FeedKind.USER: ("alarm_minutes",),
    FeedKind.PROJECT: ("alarm_minutes",),
    FeedKind.AVAILABILITY: _QUESTION,
}
"""The keys of a request that feeds of a kind have, in addition to ``kind`` and ``name``."""
_REQUIRED: Final[Mapping[FeedKind, str]] = {
    FeedKind.LEASE: "lease_id",
    FeedKind.AVAILABILITY: "resource_type",
}


def parse_feed(context: Context, caller: Caller, token_digest: str, body: JsonObject, now: datetime) -> Feed:
    """Return the requested feed, whose contents exist now.

    Raises:
        BadRequest: The body is invalid.
        LeaseNotFound: The caller's project has no such lease.
        Forbidden: The caller has no project, or no user id that the feed needs.
    """
    given = {key: value for key, value in body.items() if value is not None}
    kind = FeedKind(str(given["kind"]))
    _check_keys(kind, given)
    if not caller.project_id:
        raise Forbidden("A feed belongs to a project: use a token for a project")
    if kind is FeedKind.USER and not caller.user_id:
        raise Forbidden("A feed of this kind belongs to a user: use a token of a user")
    minutes = given.get("alarm_minutes")
    feed = Feed(
        id=context.new_id(),
        token_digest=token_digest,
        kind=kind,
        name=str(given.get("name", "")),
        user_id=caller.user_id,
        project_id=caller.project_id,
        lease_id=LeaseId(str(given["lease_id"])) if kind is FeedKind.LEASE else None,
        question={key: str(given[key]) for key in _QUESTION if key in given},
        alarm=timedelta(minutes=minutes) if isinstance(minutes, int) else None,
        created_at=now,
    )
    if feed.lease_id is not None:
        _check_lease(context, feed, feed.lease_id)
    if kind is FeedKind.AVAILABILITY:
        check_question(context, feed)
    return feed


def _check_keys(kind: FeedKind, given: JsonObject) -> None:
    required = _REQUIRED.get(kind)
    if required is not None and required not in given:
        raise MissingParameter(required)
    for key in given:
        if key not in ("kind", "name", *_OF_KIND[kind]):
            raise InvalidParameter(key, f"is not possible with kind {kind.value}")


def _check_lease(context: Context, feed: Feed, lease_id: LeaseId) -> None:
    """Raise LeaseNotFound unless the lease is one of the feed's project."""
    with context.store.read() as transaction:
        lease = transaction.leases.find(lease_id)
    if lease is None or lease.project_id != feed.project_id:
        raise LeaseNotFound(lease_id[:64])
