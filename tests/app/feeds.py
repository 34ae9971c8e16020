"""Feeds of the embedded service, and their calendars as programs read them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import icalendar
from app.http_env import LESSEE, NEWER, Answer, HttpEnv, Json, Who, good


def create_feed(env: HttpEnv, kind: str = "project", who: Who = LESSEE, **keys: object) -> Json:
    """Create a feed and return it, with its address."""
    feed: Json = good(ask_feed(env, kind, who, **keys), 201)["feed"]
    return feed


def ask_feed(env: HttpEnv, kind: str = "project", who: Who = LESSEE, **keys: object) -> Answer:
    return env.post("/feeds", {"kind": kind, **keys}, who=who, headers=NEWER)


def list_feeds(env: HttpEnv, who: Who = LESSEE, **query: str) -> list[Json]:
    found: list[Json] = good(env.get("/feeds", who=who, headers=NEWER, params=query))["feeds"]
    return found


def delete_feed(env: HttpEnv, feed: Json, who: Who = LESSEE) -> Answer:
    return env.delete(f"/feeds/{feed['id']}", who=who, headers=NEWER)


def read(env: HttpEnv, feed: Json, tag: str | None = None, **more: Any) -> Answer:
    """Return the answer to a calendar program, which sends nothing but the tag that it knows."""
    headers = {} if tag is None else {"If-None-Match": tag}
    path = urlsplit(feed["url"]).path
    return env.ask("GET", path, below="", who=None, headers={**headers, **more.pop("headers", {})}, **more)


def text_of(env: HttpEnv, feed: Json) -> str:
    answer = read(env, feed)
    assert answer.status_code == 200, answer.text
    return str(answer.text)


def events_of(env: HttpEnv, feed: Json) -> list[Any]:
    """Return the events of a calendar."""
    calendar: Any = icalendar.Calendar.from_ical(text_of(env, feed))
    return list(calendar.events)


def event_of(env: HttpEnv, feed: Json) -> Any:
    """Return the only event of a calendar."""
    [event] = events_of(env, feed)
    return event
