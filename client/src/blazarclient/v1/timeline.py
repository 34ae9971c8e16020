"""Resources over time, for calendars."""

from __future__ import annotations

from datetime import datetime

from blazarclient import base, utils
from blazarclient.base import Record


class TimelineClientManager(base.BaseClientManager):
    """Resources over time; dates as for :class:`~blazarclient.v1.availability.AvailabilityClientManager`."""

    def get(
        self,
        resource_type: str = "physical:host",
        *,
        after: str | datetime | None = None,
        before: str | datetime | None = None,
        requirement: str | None = None,
        group_by: str | None = None,
        resources: bool = False,
    ) -> Record:
        """Return which resources are taken, free, being cleaned or failed over time.

        Args:
            resource_type: A type whose reservations hold whole resources.
            after: Start of the period; None for now.
            before: End of the period; None for 7 days after its start.
            requirement: Only resources that satisfy it, such as ``gpu=a100``.
            group_by: A property; one group for each of its values.
            resources: Whether to return each resource on its own, instead of groups.

        Returns:
            ``from``, ``to``, and ``groups`` or ``resources``, each with ``intervals``.

        Raises:
            NotFound: The service does not support API version 1.1, or has no timeline.
        """
        dates = {"from": utils.to_api_date(after), "to": utils.to_api_date(before)}
        url = base.path(
            "timeline",
            resource_type=resource_type,
            filter=requirement,
            group_by=group_by,
            resources="true" if resources else None,
            **dates,
        )
        _response, body = self.request_manager.request(url, "GET", headers=base.API_1_1)
        return dict(body)
