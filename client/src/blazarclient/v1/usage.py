"""Usage of reserved resources."""

from __future__ import annotations

from datetime import datetime, timedelta

from blazarclient import base, durations, utils
from blazarclient.base import Record


class UsageClientManager(base.BaseClientManager):
    """Usage; dates as for :class:`~blazarclient.v1.availability.AvailabilityClientManager`."""

    def get(
        self,
        by: str = "project",
        *,
        after: str | datetime | None = None,
        before: str | datetime | None = None,
        step: str | timedelta | None = None,
        **conditions: str | None,
    ) -> Record:
        """Return how reserved resources were used in a period, in groups.

        Args:
            by: The groups: ``project``, ``user``, ``zone``, ``host`` or ``property``.
            after: Start of the period; None for 30 days before its end.
            before: End of the period; None for now.
            step: Length of the steps: ``1d``, ``12h`` or a ``timedelta``, rounded up to minutes; None for
                no steps.
            conditions: ``property``, required with ``by="property"``; ``resource_type``; and, for operators,
                ``project_id``.

        Returns:
            ``from``, ``to``, ``steps`` and ``groups``, each with ``value`` and ``amounts``, which have
            ``unit``, ``resource_class`` and ``hours``: ``reserved``, ``in_use``, ``idle``, ``no_show``,
            ``lost`` and ``unknown``.

        Raises:
            NotFound: The service does not support API version 1.1, or does not record usage.
            InvalidDuration: The step is malformed.
        """
        dates = {"from": utils.to_api_date(after), "to": utils.to_api_date(before)}
        minutes = None if step is None else str(_minutes(step))
        url = base.path("usage", by=by, step=minutes, **dates, **conditions)
        _response, body = self.request_manager.request(url, "GET", headers=base.API_1_1)
        found: Record = body["usage"]
        return found


def _minutes(duration: str | timedelta) -> int:
    parsed = duration if isinstance(duration, timedelta) else durations.parse(duration)
    return durations.rounded_up(parsed) // timedelta(minutes=1)
