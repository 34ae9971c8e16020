"""Feeds: calendars that programs read at secret addresses."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from blazarclient import base
from blazarclient.base import Record, Records, many, one, path

_COLLECTION = "feeds"


class FeedClientManager(base.BaseClientManager):
    """Feeds of the user's project; for operators, of all projects.

    Each method raises NotFound if the service does not support API version 1.1.
    """

    def create(self, kind: str, **keys: Any) -> Record:
        """Create a feed, and return it with the ``url`` of its calendar, which is not shown again.

        Args:
            kind: ``lease``, ``user``, ``project`` or ``availability``.
            keys: Further keys of the request; None leaves one out. ``name`` is the title. Feeds of leases
                have ``alarm_minutes``, that of one lease ``lease_id``; those of availability have
                ``resource_type``, ``filter``, ``unit``, ``group_by``, ``group`` and ``amount``.
        """
        body = {"kind": kind, **{key: value for key, value in keys.items() if value is not None}}
        return one(self._ask("POST", path(_COLLECTION), body), "feed")

    def get(self, feed_id: str) -> Record:
        """Return a feed, without its address."""
        return one(self._ask("GET", path(_COLLECTION, feed_id)), "feed")

    def list(self, sort_by: str | None = None, project_id: str | None = None) -> Records:
        """Return the feeds, sorted by the key *sort_by* if given.

        Args:
            sort_by: The key.
            project_id: Only those of this project, for operators; None for all that the user may see.
        """
        query = f"?{urlencode({'project_id': project_id})}" if project_id is not None else ""
        return many(self._ask("GET", f"{path(_COLLECTION)}{query}"), "feeds", sort_by)

    def delete(self, feed_id: str) -> None:
        """Delete a feed; its calendar can no longer be read."""
        self._ask("DELETE", path(_COLLECTION, feed_id))

    def _ask(self, method: str, url: str, body: Record | None = None) -> Any:
        content = {} if body is None else {"body": body}
        _response, found = self.request_manager.request(url, method, headers=base.API_1_1, **content)
        return found
