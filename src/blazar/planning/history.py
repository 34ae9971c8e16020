"""The past of reservable hosts: recorded requests, and what was held, including by deleted leases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.domain.capacity import Share
from blazar.domain.instants import LAST, micros
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, LeaseId, LeaseStatus, Reservation, ResourceId
from blazar.domain.usage.records import Holding
from blazar.planning.copy import HOSTS
from blazar.planning.goals import HOST, INSTANCE
from blazar.planning.load import Use, load_of, merged
from blazar.planning.past import PastRequest, past_uses, read_refused, read_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The past, as far as it is recorded."""

    since: datetime
    """The instant from which it counts."""
    requests: tuple[PastRequest, ...]
    """All leases of hosts that exist, in the order of their requests.

    If it is not recorded what one has held, such as of a lease that had ended when it was imported, it counts
    with the fewest hosts of its range: how many it got is not known.
    """
    deleted: tuple[PastRequest, ...]
    """Reservations of deleted leases, as requests at their starts for what they held, without conditions."""
    refused: tuple[PastRequest, ...]
    """Requests that were refused since then, as far as they are recorded."""
    uses: tuple[Use, ...]
    """When hosts were reserved."""

    @property
    def recent(self) -> Sequence[PastRequest]:
        """Return the requests since the beginning, including those of deleted leases, in their order."""
        found = [each for each in (*self.requests, *self.deleted) if each.requested_at >= self.since]
        return sorted(found, key=lambda each: (each.requested_at, each.lease.id))


def read_history(context: Context, length: timedelta) -> History:
    """Return the past of at most this length."""
    now = context.clock.now()
    ever = _read_held(context, Interval(now - length, LAST))
    held = [each for each in ever if each.window.start < now]
    recorded = {each.reservation_id for each in held}
    requests = [
        each.least() if each.has_begun(now) and not _is_recorded(each, recorded) else each
        for each in _with_held(read_requests(context), ever)
    ]
    known = {one.id for each in requests for _, one, _ in each.wanted}
    deleted = _deleted(context, [each for each in held if each.reservation_id not in known])
    since = _since([*requests, *deleted], now, length)
    others = [each for each in requests if not _is_recorded(each, recorded)]
    return History(
        since=since,
        requests=tuple(requests),
        deleted=tuple(deleted),
        refused=tuple(read_refused(context, since)),
        uses=(*_held_uses(held, now), *past_uses(context, others)),
    )


def _is_recorded(request: PastRequest, recorded: Collection[str]) -> bool:
    """Return whether it is recorded what any reservation of a request has held."""
    return any(one.id in recorded for _, one, _ in request.wanted)


def _with_held(requests: Iterable[PastRequest], held: Collection[Holding]) -> Sequence[PastRequest]:
    """Return the requests with what each has held."""
    found: dict[str, dict[ResourceId, Share | None]] = defaultdict(dict)
    for each in held:
        found[each.reservation_id][each.resource_id] = each.share
    return [
        replace(each, held={one.id: found[one.id] for _, one, _ in each.wanted if one.id in found})
        for each in requests
    ]


def _read_held(context: Context, window: Interval) -> Sequence[Holding]:
    types = {key for key, plugin in context.plugins.items() if plugin.collection == HOSTS}
    with context.store.read() as transaction:
        found = transaction.usage.list_held(window)
    return [each for each in found if each.resource_type in types]


def _since(requests: Sequence[PastRequest], now: datetime, length: timedelta) -> datetime:
    """Return the instant from which the past counts: before the first request, no load is recorded.

    It is at most *length* ago, and at least a day.
    """
    first = min((min(each.requested_at, each.window.start) for each in requests), default=now)
    return min(max(now - length, first), now - timedelta(days=1))


def _held_uses(held: Collection[Holding], now: datetime) -> Iterator[Use]:
    """Yield the times at which each host was reserved, in whole or in part."""
    times: dict[ResourceId, list[tuple[int, int]]] = defaultdict(list)
    for each in held:
        start, end = each.window.start, min(each.window.end, now)
        if start < end:
            times[each.resource_id].append((micros(start), micros(end)))
    for own in times.values():
        yield from ((start, end, 1.0) for start, end in merged(own))


def _deleted(context: Context, held: Collection[Holding]) -> Sequence[PastRequest]:
    grouped: dict[str, list[Holding]] = defaultdict(list)
    for each in held:
        grouped[each.reservation_id].append(each)
    found = (_as_request(context, own) for own in grouped.values())
    return [each for each in found if each is not None]


def _as_request(context: Context, held: Sequence[Holding]) -> PastRequest | None:
    """Return the request for what a reservation held; None if its type is not enabled."""
    first = held[0]
    plugin = context.plugins.get(HOST if first.share is None else INSTANCE)
    if plugin is None:
        return None
    window = Interval(min(each.window.start for each in held), max(each.window.end for each in held))
    units = [(micros(each.window.start), micros(each.window.end), float(each.units)) for each in held]
    spec = plugin.parse(_body(first, round(load_of(units, window).peak)))
    lease_id = LeaseId(first.reservation_id)
    reservation = Reservation(
        id=first.reservation_id, lease_id=lease_id, resource_type=plugin.resource_type, spec=spec
    )
    lease = Lease(
        id=lease_id,
        name="(deleted)",
        user_id=first.user_id,
        project_id=first.project_id,
        start=window.start,
        end=window.end,
        status=LeaseStatus.TERMINATED,
        reservations=(reservation,),
    )
    return PastRequest(
        lease=lease, requested_at=window.start, window=window, wanted=((plugin, reservation, spec),)
    )


def _body(held: Holding, units: int) -> Mapping[str, object]:
    """Return a reservation as in a request."""
    if held.share is None:
        return {"min": units, "max": units, "hypervisor_properties": "", "resource_properties": ""}
    amounts = dict(held.share.demand.amounts)
    return {
        "vcpus": max(1, amounts.get("VCPU", 0)),
        "memory_mb": max(1, amounts.get("MEMORY_MB", 0)),
        "disk_gb": amounts.get("DISK_GB", 0),
        "amount": units,
        "affinity": None,
        "resource_properties": "",
    }
