"""The part of the fake manager that serves feeds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from api.manager_answers import FEED

from blazar.domain.feeds import CalendarNotFound, FeedNotFound
from blazar.ports.manager import Caller, JsonObject

TOKEN = "t" * 43
"""The token of the only feed."""


class FakeFeeds:
    """One feed; nothing is checked."""

    def _asked(self, name: str, caller: Caller, *arguments: object) -> None:
        raise NotImplementedError

    def create_feed(self, caller: Caller, token_digest: str, body: JsonObject) -> JsonObject:
        self._asked("create_feed", caller, token_digest, body)
        return FEED

    def list_feeds(self, caller: Caller, project_id: str | None) -> Sequence[JsonObject]:
        self._asked("list_feeds", caller, project_id)
        return [FEED]

    def get_feed(self, caller: Caller, feed_id: str, project_id: str | None) -> JsonObject:
        self._asked("get_feed", caller, feed_id, project_id)
        if feed_id != FEED["id"]:
            raise FeedNotFound(feed_id)
        return FEED

    def delete_feed(self, caller: Caller, feed_id: str, project_id: str | None) -> None:
        self._asked("delete_feed", caller, feed_id, project_id)
        if feed_id != FEED["id"]:
            raise FeedNotFound(feed_id)

    def get_calendar(self, caller: Caller, token_digest: str, known: Sequence[str] = ()) -> JsonObject:
        self._asked("get_calendar", caller, token_digest, known)
        if token_digest != hashlib.sha256(TOKEN.encode()).hexdigest():
            raise CalendarNotFound
        return {"etag": "e1"} if "e1" in known else {"etag": "e1", "calendar": "BEGIN:VCALENDAR\r\n"}
