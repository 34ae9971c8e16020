"""Questions about free times."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from blazarclient import base, durations, utils
from blazarclient.base import Record, Records


class AvailabilityClientManager(base.BaseClientManager):
    """Free times; dates are UTC strings ``YYYY-MM-DD HH:MM``, or ``datetime`` (without a zone: UTC)."""

    def search(  # noqa: PLR0913  (each is a part of the question)
        self,
        reservations: Records,
        duration: str | timedelta,
        *,
        min_duration: str | timedelta | None = None,
        after: str | datetime | None = None,
        before: str | datetime | None = None,
        most: bool = False,
        limit: int | None = None,
    ) -> Record:
        """Return the time slots in which reservations are possible together; nothing is reserved.

        Args:
            reservations: Reservations in the form of the API, as for a lease.
            duration: Length of the lease: ``8h``, ``1d12h`` or a ``timedelta``, rounded up to minutes.
            min_duration: If given, the longest time slots are searched, from this length up to *duration*.
            after: Earliest start; None for now.
            before: Latest end; None for 90 days after the earliest start.
            most: Whether the slots with the most resources come first, instead of the earliest.
            limit: Number of time slots; None for the default of the service.

        Returns:
            ``slots``, each with ``start_date``, ``end_date`` and ``latest_start_date`` in the format of
            requests and ``reservations`` with ``resource_type`` and ``amount``; and ``complete``, false
            if there may be better slots.

        Raises:
            NotFound: The service does not support API version 1.1.
            InvalidDuration: A duration is malformed.
        """
        body: dict[str, Any] = {"reservations": reservations}
        if min_duration is None:
            body |= {"order": "most" if most else "earliest", "duration_minutes": _minutes(duration)}
        else:
            body |= {
                "order": "longest",
                "min_duration_minutes": _minutes(min_duration),
                "max_duration_minutes": _minutes(duration),
            }
        dates = {"earliest_start": utils.to_api_date(after), "latest_end": utils.to_api_date(before)}
        body |= {key: value for key, value in (*dates.items(), ("limit", limit)) if value is not None}
        _response, found = self.request_manager.request(
            "/availability/search", "POST", body=body, headers=base.API_1_1
        )
        return dict(found)

    def groups(
        self,
        resource_type: str = "physical:host",
        *,
        after: str | datetime | None = None,
        before: str | datetime | None = None,
        requirement: str | None = None,
        group_by: str | None = None,
        unit: str | None = None,
    ) -> Record:
        """Return the numbers of free resources over time, in groups.

        Args:
            resource_type: A resource type of the catalogue.
            after: Start of the period; None for now.
            before: End of the period; None for 7 days after its start.
            requirement: Only resources that satisfy it, such as ``gpu=a100``.
            group_by: A property; one group for each of its values.
            unit: How large one unit is, such as ``vcpus=4,memory_mb=8192,disk_gb=40``, for types whose
                reservations hold parts of resources; units are then counted.

        Returns:
            ``from``, ``to``, and ``groups``, each with ``value``, ``total``, and ``steps`` with ``time`` and
            ``free``; a step holds until the next one.

        Raises:
            NotFound: The service does not support API version 1.1, or cannot answer this.
        """
        dates = {"from": utils.to_api_date(after), "to": utils.to_api_date(before)}
        url = base.path(
            "availability",
            resource_type=resource_type,
            filter=requirement,
            group_by=group_by,
            unit=unit,
            **dates,
        )
        _response, found = self.request_manager.request(url, "GET", headers=base.API_1_1)
        return dict(found)


def _minutes(duration: str | timedelta) -> int:
    parsed = duration if isinstance(duration, timedelta) else durations.parse(duration)
    return durations.rounded_up(parsed) // timedelta(minutes=1)
