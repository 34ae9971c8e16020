"""Use cases of feeds: create, list and delete them, and read their calendars with a token."""

from blazar.app.feeds.read import get_calendar
from blazar.app.feeds.use_cases import create_feed, delete_feed, get_feed, list_feeds

__all__ = ["create_feed", "delete_feed", "get_calendar", "get_feed", "list_feeds"]
