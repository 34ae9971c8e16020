"""Leases that do not exist yet: would they fit into a copy of the data?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from blazar.app.leases.new_lease import NewLease, parse_new_lease
from blazar.app.leases.requests import NewReservation
from blazar.booking.context import Context
from blazar.booking.search import Search, find_resources
from blazar.booking.specs import booked_window
from blazar.domain.errors import BadRequest, CloudError, Conflict, InvalidParameter, NotFound
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.planning.changes import book
from blazar.planning.goals import OperatorCompute
from blazar.plugins.capabilities import ReadsAsLessee
from blazar.plugins.contract import Wish
from blazar.ports.manager import Caller

_NEWEST_API = (1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseFile:
    """The description of a lease, as the body of a request, and the file that has it."""

    source: str
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLeaseResult:
    """The result for a lease."""

    source: str
    name: str
    start: datetime
    end: datetime
    fits: bool
    resources: tuple[str, ...]
    """The names of the resources that it would get; their ids, if they have no name."""
    reason: str = ""
    """The reason why it does not fit."""


def try_leases(
    copy: Context, files: Sequence[LeaseFile], names: Mapping[ResourceId, str]
) -> tuple[NewLeaseResult, ...]:
    """Return whether leases fit, one after the other: each one that fits is booked in the copy.

    Raises:
        InvalidParameter: A description is invalid; the message names the file and the key.
    """
    return tuple(_try_lease(copy, each, names) for each in files)


def _try_lease(copy: Context, file: LeaseFile, names: Mapping[ResourceId, str]) -> NewLeaseResult:
    project_id = file.body.get("project_id")
    # Not converted to text: a few lines of YAML can describe lists of any size.
    if not isinstance(project_id, str | None):
        raise InvalidParameter("--lease", f"{file.source}: project_id: must be text")
    caller = Caller(
        user_id=None,
        project_id=project_id,
        sees_private_properties=True,
        api_version=_NEWEST_API,
    )
    try:
        lease = parse_new_lease(copy, caller, file.body)
        reservations = [_completed(copy, each) for each in lease.reservations]
    except (BadRequest, NotFound, CloudError) as error:
        raise InvalidParameter("--lease", f"{file.source}: {error.message}") from error
    window = Interval(lease.start, lease.end)
    searches = [_search(copy, each, window, project_id) for each in reservations]
    try:
        found = find_resources(copy, searches, attempt=0)
    except Conflict as error:
        return _result(file, lease, (), error.message)
    except BadRequest as error:
        raise InvalidParameter("--lease", f"{file.source}: {error.message}") from error
    for reservation, chosen in zip(reservations, found.chosen, strict=True):
        booked = booked_window(reservation.plugin, reservation.spec, window)
        book(copy, reservation.plugin.collection, reservation.id, booked, chosen)
    held = sorted(names.get(key, key) for chosen in found.chosen for key in chosen)
    return _result(file, lease, tuple(held))


def _completed(copy: Context, reservation: NewReservation) -> NewReservation:
    plugin = reservation.plugin
    if not isinstance(plugin, ReadsAsLessee):
        return reservation
    spec = plugin.look_up(reservation.spec, OperatorCompute(copy.cloud.flavors))
    return replace(reservation, spec=spec)


def _search(copy: Context, reservation: NewReservation, window: Interval, project_id: str | None) -> Search:
    return Search(
        plugin=reservation.plugin,
        wish=Wish(
            spec=reservation.spec,
            window=window,
            now=copy.clock.now(),
            cleaning_time=copy.settings.leases.cleaning_time,
        ),
        grouping=reservation.grouping,
        project_id=project_id,
    )


def _result(file: LeaseFile, lease: NewLease, resources: tuple[str, ...], reason: str = "") -> NewLeaseResult:
    return NewLeaseResult(
        source=file.source,
        name=lease.name,
        start=lease.start,
        end=lease.end,
        fits=not reason,
        resources=resources,
        reason=reason,
    )
