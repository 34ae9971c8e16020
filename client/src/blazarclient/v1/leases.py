"""Leases."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from blazarclient import base, clock, dates, durations, exception, utils
from blazarclient.base import Record, Records, all_pages, many, one, path
from blazarclient.i18n import _
from blazarclient.reservations import changes_need_1_1, need_1_1

NOW = "now"
"""Date that the service replaces by the current time."""
ATTEMPTS_TO_EXTEND = 5
"""The most requests for one extension, if other requests take what the service offered."""


class LeaseClientManager(base.BaseClientManager):
    """Leases; dates are UTC strings ``YYYY-MM-DD HH:MM``, or ``datetime`` (without a zone: UTC)."""

    def create(  # noqa: PLR0913  (the signature is public)
        self,
        name: str,
        start: str | datetime,
        end: str | datetime | None = None,
        reservations: Records | None = None,
        events: Records | None = None,
        before_end: str | datetime | None = None,
        *,
        before_end_date: str | datetime | None = None,
        duration: str | timedelta | None = None,
        explained: bool = False,
    ) -> Record:
        """Create a lease and return it.

        Args:
            name: Name, not necessarily unique.
            start: Start date, or ``now``. With a *duration*, also in the other forms that the command
                accepts, such as ``tomorrow 09:00``.
            end: End date; None with a *duration*.
            reservations: Reservations in the form of the API; may be empty, but not None.
            events: Events, passed to the service unchanged.
            before_end: Date of the before-end event; None for the default of the service.
            before_end_date: The same as *before_end*.
            duration: Length of the lease in place of *end*: ``8h``, ``1d12h`` or a ``timedelta``, rounded
                up to whole minutes. If *start* is ``now``, it counts from the current minute of this
                machine's clock.
            explained: Whether to use API version 1.1, in which a shortage is a ``Conflict`` that has
                ``reasons`` and ``alternatives`` in its ``kwargs``. It is used in any case if a reservation
                has ``same`` or ``spread``, which version 1.0 ignores, or a requirement in the short form or
                with operators that version 1.0 does not know.

        Raises:
            IncorrectLease: *end* and *duration* are both given or both missing, or *reservations* is None.
            InvalidDate: *duration* is given and *start* is malformed.
            InvalidDuration: *duration* is malformed.
        """
        before_end = before_end_date if before_end is None else before_end
        body = _to_create(name, start, end, reservations, events, before_end, duration)
        headers = {"headers": base.API_1_1} if explained or need_1_1(body["reservations"]) else {}
        _response, found = self.request_manager.request("/leases", "POST", body=body, **headers)
        return one(found, "lease")

    def preview(  # noqa: PLR0913  (the parameters of create)
        self,
        name: str,
        start: str | datetime,
        end: str | datetime | None = None,
        reservations: Records | None = None,
        events: Records | None = None,
        before_end: str | datetime | None = None,
        *,
        duration: str | timedelta | None = None,
    ) -> Record:
        """Return what :meth:`create` would reserve for the same arguments; nothing is created.

        Returns:
            ``start_date``, ``end_date`` and ``before_end_date`` in the format of requests, and
            ``reservations``, each with ``resource_type``, ``amount`` and the ids of its ``resources``.

        Raises:
            Conflict: The lease would be refused; ``kwargs`` has ``reasons`` and ``alternatives``, whose
                ``bodies`` can be sent instead.
            BlazarClientException: As :meth:`create`; with the code 406 if the service does not support API
                version 1.1.
        """
        body = _to_create(name, start, end, reservations, events, before_end, duration)
        _response, found = self.request_manager.request(
            "/leases?dry_run=true", "POST", body=body, headers=base.API_1_1
        )
        return one(found, "preview")

    def commit(self, offer_id: str, name: str | None = None) -> Record:
        """Make a lease from the resources that an offer holds, and return it.

        Args:
            offer_id: Id of an offer of the user's project.
            name: Name of the lease; None for the name of the offer.

        Raises:
            NotFound: The project has no such offer, or the service does not support API version 1.1.
            Conflict: The offer was committed before, or a resource failed and no other is free.
            BlazarClientException: With status 410: the offer has expired.
        """
        body = {"offer_id": offer_id} if name is None else {"offer_id": offer_id, "name": name}
        _response, found = self.request_manager.request("/leases", "POST", body=body, headers=base.API_1_1)
        return one(found, "lease")

    def commit_change(self, lease_id: str, offer_id: str) -> Record:
        """Change a lease with what an offer for it holds, and return the lease.

        Raises:
            NotFound: The lease does not exist, there is no such offer for it, or the service does not support
                API version 1.1.
            Conflict: The offer was committed before, the lease was changed since, or a resource failed and no
                other is free.
            BlazarClientException: With status 410: the offer has expired.
        """
        return self._change(lease_id, {"offer_id": offer_id})

    def get(self, lease_id: str) -> Record:
        """Return a lease."""
        _response, body = self.request_manager.get(path("leases", lease_id))
        return one(body, "lease")

    def list_allocations(self, lease_id: str) -> Records:
        """Return the resources that a lease holds now; the owner of the lease may see them.

        Each item has ``reservation_id``, ``resource_type``, ``resource_id``, ``name``, ``amount``,
        ``start_date`` and ``end_date``.

        Raises:
            NotFound: The lease does not exist, or the service does not support API version 1.1.
        """
        return self._parts(lease_id, "allocations")

    def resources(self, lease_id: str) -> Records:
        """Return each reservation of a lease with what it holds and how to use it.

        Each item has ``reservation_id``, ``resource_type``, ``status``, ``resources`` (with ``id``,
        ``name``, ``amount``, ``start_date`` and ``end_date``), and ``use``: what to name in requests to
        other services, such as ``scheduler_hints``; null unless the reservation is active.

        Raises:
            NotFound: The lease does not exist, or the service does not support API version 1.1.
        """
        return self._parts(lease_id, "resources")

    def replace(self, lease_id: str, names: list[str], reason: str = "") -> Record:
        """Report broken resources of a lease, which are replaced by others; return the lease.

        Args:
            lease_id: Id of the lease.
            names: Names or ids of resources of one reservation.
            reason: What is wrong with them, for the operators' log.

        Raises:
            NotFound: The lease does not hold one of them, or the service does not support API version 1.1.
            Conflict: No other resource is free, or one is in use; nothing was changed.
        """
        for each in self.resources(lease_id):
            held = [own["id"] for own in each["resources"] if {own["id"], own["name"]} & set(names)]
            if len(held) == len(set(names)):
                body = {"reservation_id": each["reservation_id"], "resources": held, "reason": reason}
                url = path("leases", lease_id, "replacements")
                _response, found = self.request_manager.request(url, "POST", body=body, headers=base.API_1_1)
                return one(found, "lease")
        raise exception.NotFound(
            _("No reservation of the lease holds all of these: %s") % ", ".join(names), code=404
        )

    def history(self, lease_id: str) -> Records:
        """Return what happened to a lease, oldest first; the owner of the lease may see it.

        Each item has ``time``, ``text``, and ``reservation_id``, which is null for the whole lease.

        Raises:
            NotFound: The lease does not exist, or the service does not support API version 1.1.
        """
        return self._parts(lease_id, "history")

    def _parts(self, lease_id: str, name: str) -> Records:
        _response, body = self.request_manager.request(
            path("leases", lease_id, name), "GET", headers=base.API_1_1
        )
        return many(body, name, None)

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
        """Change a lease and return it; without changes, return a message.

        A date takes precedence over a duration, *prolong_for* over *reduce_by*, *defer_by* over
        *advance_by*. Durations such as ``2h`` are relative to the lease's current dates, and the result
        is truncated to the minute.

        Args:
            lease_id: Id of the lease.
            name: New name.
            prolong_for: Duration by which to move the end later.
            reduce_by: Duration by which to move the end earlier.
            end_date: New end date.
            advance_by: Duration by which to move the start earlier.
            defer_by: Duration by which to move the start later.
            start_date: New start date.
            reservations: Reservations, each with its ``id`` and the keys to change, or new ones without an
                ``id``. API version 1.1 is used for what only it knows, such as new ones and ``release``.
            before_end_date: New date of the before-end event.

        Raises:
            InvalidDate: A date is malformed or later than the year 9999; a ``ValueError``.
            BlazarClientException: A duration is malformed.
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
            return _("Nothing to update.")
        headers = {"headers": base.API_1_1} if changes_need_1_1(values.get("reservations", ())) else {}
        _response, body = self.request_manager.request(
            path("leases", lease_id), "PUT", body=values, **headers
        )
        return one(body, "lease")

    def preview_update(self, lease_id: str, changes: dict[str, Any]) -> Record:
        """Return what a result of :meth:`changes` would make of a lease, as from :meth:`preview`.

        Raises:
            Conflict, BlazarClientException: As :meth:`preview`.
        """
        return self._change(lease_id, changes, dry_run=True)

    def extend_as_far_as_possible(
        self, lease_id: str, changes: dict[str, Any], *, dry_run: bool = False
    ) -> Record:
        """Change a lease; if its new end is too late, end it as late as the service says is possible.

        Args:
            lease_id: Id of the lease.
            changes: Changes in the form of the API, such as a result of :meth:`changes`.
            dry_run: Whether to change nothing.

        Returns:
            The lease or, with *dry_run*, what it would be, as from :meth:`preview`.

        Raises:
            Conflict, BadRequest: The change was refused, and no shorter one is possible.
            BlazarClientException: As :meth:`update`; with the code 406 if the service does not support API
                version 1.1.
        """
        for _attempt in range(ATTEMPTS_TO_EXTEND - 1):
            try:
                return self._change(lease_id, changes, dry_run=dry_run)
            except (exception.Conflict, exception.BadRequest) as refusal:
                # 400 if a usage rule refuses the extension.
                changes = _shorter(refusal)
        return self._change(lease_id, changes, dry_run=dry_run)

    def _change(self, lease_id: str, changes: dict[str, Any], *, dry_run: bool = False) -> Record:
        url = path("leases", lease_id, dry_run="true" if dry_run else None)
        _response, found = self.request_manager.request(url, "PUT", body=changes, headers=base.API_1_1)
        return one(found, "preview" if dry_run else "lease")

    def changes(  # noqa: PLR0913  (the parameters of update)
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
        """Return the body that :meth:`update` would send for the same arguments, without sending it.

        If a start or end date changes, the lease is read.

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
        """Return all leases that the user can see, sorted by the key *sort_by* if given."""
        return all_pages(self.request_manager, path("leases"), "leases", sort_by)


def _to_create(  # noqa: PLR0913  (the parameters of create)
    name: str,
    start: str | datetime,
    end: str | datetime | None,
    reservations: Records | None,
    events: Records | None,
    before_end: str | datetime | None,
    duration: str | timedelta | None,
) -> Record:
    """Return the body of a request for a lease; see :meth:`LeaseClientManager.create`."""
    if (end is None) == (duration is None):
        raise exception.IncorrectLease(_("a lease needs either an end or a duration, not both or neither"))
    if reservations is None:
        raise exception.IncorrectLease(
            _("reservations are missing; for a lease without reservations, pass an empty list")
        )
    if duration is not None:
        start, end = _window(start, duration)
    return {
        "name": name,
        "start_date": utils.to_api_date(start),
        "end_date": utils.to_api_date(end),
        "reservations": reservations,
        "events": [] if events is None else events,
        "before_end_date": utils.to_api_date(before_end),
    }


def _shorter(refusal: exception.BlazarClientException) -> dict[str, Any]:
    """Return the body of the alternative that ends earlier, or raise *refusal* if it has none."""
    for each in refusal.kwargs.get("alternatives", ()):
        if each["kind"] == "shorter" and len(each["bodies"]) == 1:
            return dict(each["bodies"][0])
    raise refusal


def _moved(current: str, new: str | datetime | None, *, later: str | None, earlier: str | None) -> str:
    """Return *new* or, without it, the *current* date moved by the first duration that is given."""
    if new:
        return _normalized(new)
    delta = utils.from_elapsed_time_to_delta(later or earlier or "", pos_sign=bool(later))
    try:
        moved = utils.parse_date(current, utils.LEASE_DATE_FORMAT) + delta
    except OverflowError:
        raise exception.InvalidDate(
            _("%(duration)r from %(date)s is beyond the year 9999")
            % {"duration": later or earlier, "date": current}
        ) from None
    return utils.render_date(moved)


def _window(start: str | datetime, duration: str | timedelta) -> tuple[str, str]:
    """Return the start and end of a lease that lasts *duration*, in the format of requests."""
    text = utils.to_api_date(start)
    length = duration if isinstance(duration, timedelta) else durations.parse(duration)
    now, zone = clock.now(), clock.local_zone()
    return dates.to_api(text, now, zone), dates.end_of(dates.parse(text, now, zone), length)


def _normalized(new: str | datetime) -> str:
    if new == NOW:
        return NOW
    return utils.render_date(utils.parse_date(utils.to_api_date(new), utils.API_DATE_FORMAT))
