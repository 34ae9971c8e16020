"""Use cases of feeds: they are created, listed and deleted, and calendar programs read them with a token."""

from blazar.app.feeds.read import get_calendar
from blazar.app.feeds.use_cases import create_feed, delete_feed, get_feed, list_feeds

__all__ = ["create_feed", "delete_feed", "get_calendar", "get_feed", "list_feeds"]
