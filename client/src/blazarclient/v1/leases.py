"""Leases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from blazarclient import base, exception, utils
from blazarclient.base import Record, Records, many, one, path
from blazarclient.i18n import _

NOW = "now"
"""Where the service takes a date, it takes this for the present."""


class LeaseClientManager(base.BaseClientManager):
    """Leases; dates are UTC text ``YYYY-MM-DD HH:MM``, or ``datetime`` (without a zone: UTC)."""

    def create(  # noqa: PLR0913  (the signature is public)
        self,
        name: str,
        start: str | datetime,
        end: str | datetime,
        reservations: Records,
        events: Records,
        before_end: str | datetime | None = None,
        *,
        before_end_date: str | datetime | None = None,
    ) -> Record:
        """Return a new lease.

        Args:
            name: Need not be unique.
            start: When it is to start; ``now`` for at once.
            end: When it is to end.
            reservations: What to reserve, as the service describes it.
            events: Passed on to the service.
            before_end: When to act before the end; None for the default of the service.
            before_end_date: The same, under the name that the service gives it.
        """
        values = {
            "name": name,
            "start_date": utils.to_api_date(start),
            "end_date": utils.to_api_date(end),
            "reservations": reservations,
            "events": events,
            "before_end_date": utils.to_api_date(before_end_date if before_end is None else before_end),
        }
        _response, body = self.request_manager.post("/leases", body=values)
        return one(body, "lease")

    def get(self, lease_id: str) -> Record:
        """Return a lease."""
        _response, body = self.request_manager.get(path("leases", lease_id))
        return one(body, "lease")

    def update(  # noqa: PLR0913  (the signature is public)
        self,
        lease_id: str,
        name: str | None = None,
        prolong_for: str | None = None,
        reduce_by: str | None = None,
        end_date: str | datetime | None = None,
        advance_by: str | None = None,
        defer_by: str | None = None,
        start_date: str | datetime | None = None,
        reservations: Records | None = None,
        *,
        before_end_date: str | datetime | None = None,
    ) -> Record | str:
        """Return the changed lease; or a sentence, when there is nothing to change.

        A date wins over a duration, *prolong_for* over *reduce_by*, *defer_by* over *advance_by*.
        Durations such as ``2h`` count from the dates that the lease has now, and the result is cut to
        the minute.

        Args:
            lease_id: Which lease.
            name: Its new name.
            prolong_for: How much later it is to end.
            reduce_by: How much earlier it is to end.
            end_date: When it is to end.
            advance_by: How much earlier it is to start.
            defer_by: How much later it is to start.
            start_date: When it is to start.
            reservations: Reservations, each with its ``id`` and what changes.
            before_end_date: When to act before the end.

        Raises:
            InvalidDate: A date is not written as asked, or out of the calendar; it is a ``ValueError``.
            BlazarClientException: A duration cannot be understood.
        """
        values = self.changes(
            lease_id,
            name=name,
            prolong_for=prolong_for,
            reduce_by=reduce_by,
            end_date=end_date,
            advance_by=advance_by,
            defer_by=defer_by,
            start_date=start_date,
            reservations=reservations,
            before_end_date=before_end_date,
        )
        if not values:
            return _("There is nothing to update.")
        _response, body = self.request_manager.put(path("leases", lease_id), body=values)
        return one(body, "lease")

    def changes(  # noqa: PLR0913  (that of update)
        self,
        lease_id: str,
        *,
        name: str | None = None,
        prolong_for: str | None = None,
        reduce_by: str | None = None,
        end_date: str | datetime | None = None,
        advance_by: str | None = None,
        defer_by: str | None = None,
        start_date: str | datetime | None = None,
        reservations: Records | None = None,
        before_end_date: str | datetime | None = None,
    ) -> dict[str, Any]:
        """Return what :meth:`update` would send for the same arguments, and send nothing.

        The lease is read if a date is to change.

        Raises:
            InvalidDate: As :meth:`update`.
            BlazarClientException: As :meth:`update`.
        """
        values: dict[str, Any] = {}
        if name:
            values["name"] = name
        changes_end = end_date or prolong_for or reduce_by
        changes_start = start_date or defer_by or advance_by
        if changes_end or changes_start:
            lease = self.get(lease_id)
            if changes_end:
                values["end_date"] = _moved(lease["end_date"], end_date, later=prolong_for, earlier=reduce_by)
            if changes_start:
                values["start_date"] = _moved(
                    lease["start_date"], start_date, later=defer_by, earlier=advance_by
                )
        if before_end_date:
            values["before_end_date"] = _normalized(before_end_date)
        if reservations:
            values["reservations"] = reservations
        return values

    def delete(self, lease_id: str) -> None:
        """End a lease and delete it."""
        self.request_manager.delete(path("leases", lease_id))

    def list(self, sort_by: str | None = None) -> Records:
        """Return all leases that the caller may see, sorted by a key if *sort_by* names one."""
        _response, body = self.request_manager.get(path("leases"))
        return many(body, "leases", sort_by)


def _moved(current: str, new: str | datetime | None, *, later: str | None, earlier: str | None) -> str:
    """Return *new*, or else the *current* date moved by the first duration that is given."""
    if new:
        return _normalized(new)
    delta = utils.from_elapsed_time_to_delta(later or earlier or "", pos_sign=bool(later))
    try:
        moved = utils.parse_date(current, utils.LEASE_DATE_FORMAT) + delta
    except OverflowError:
        raise exception.InvalidDate(
            _("%(duration)r from %(date)s is out of the calendar")
            % {"duration": later or earlier, "date": current}
        ) from None
    return utils.render_date(moved)


def _normalized(new: str | datetime) -> str:
    if new == NOW:
        return NOW
    return utils.render_date(utils.parse_date(utils.to_api_date(new), utils.API_DATE_FORMAT))
