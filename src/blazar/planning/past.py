"""Past requests for hosts, as far as they are recorded: the leases that have not been deleted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from blazar.booking.context import Context, Plugin
from blazar.booking.specs import intact_spec, need_of
from blazar.domain.capacity import Demand, count_slots
from blazar.domain.instants import micros
from blazar.domain.interval import Interval
from blazar.domain.lease import EventType, Holdings, Lease, LeaseStatus, Reservation
from blazar.domain.providers import HostProvider
from blazar.planning.copy import HOSTS
from blazar.planning.load import Use, quantile
from blazar.plugins.capabilities import StatesNeed

_CREATED: Final = "create"
_STATUS: Final = "lease.status"
_OVER: Final = re.compile(r"-> (TERMINATED|gone)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRequest:
    """A lease as it was requested, or as it is after its last change."""

    lease: Lease
    requested_at: datetime
    window: Interval
    wanted: tuple[tuple[Plugin, Reservation, Any], ...]
    """The reservations of hosts, each with its plugin and its spec."""
    held: Mapping[str, Holdings] = field(default_factory=dict)
    """What the reservations have held, by id, as far as it is recorded."""

    def has_begun(self, now: datetime) -> bool:
        """Return whether the lease has started."""
        return self.lease.start < now and self.lease.status is not LeaseStatus.PENDING

    def least(self) -> PastRequest:
        """Return the request for the fewest units that it accepts."""
        wanted = tuple((plugin, one, _least_of(plugin, spec)) for plugin, one, spec in self.wanted)
        return replace(self, wanted=wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """Durations of several leases."""

    median: timedelta = timedelta(0)
    usual: timedelta = timedelta(0)
    """95 % of them are not longer."""
    longest: timedelta = timedelta(0)

    @classmethod
    def of(cls, values: Sequence[timedelta]) -> Durations:
        """Return the figures of some durations; zero without any."""
        seconds = [each.total_seconds() for each in values]
        figures = (timedelta(seconds=quantile(seconds, share)) for share in (0.5, 0.95, 1))
        return cls(**dict(zip(("median", "usual", "longest"), figures, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """The habits of lessees who reserved hosts in a period."""

    since: datetime
    leases: int
    """Leases of hosts that were created in it."""
    deleted: int
    """Further leases that were created in it and have been deleted; only their holdings are known."""
    durations: Durations
    lead_times: Durations
    """From the request to the start."""
    reclaiming: Durations
    """From the end of a lease until its resources were free."""
    reclaimed: int
    """How many ends of leases this is based on."""
    by_type: Mapping[str, int]
    """Reservations by resource type."""


def read_requests(context: Context) -> Sequence[PastRequest]:
    """Return all requests for hosts that are recorded, in the order in which they were made."""
    with context.store.read() as transaction:
        leases = transaction.leases.list()
    found = [each for lease in leases if (each := _request(context, lease)) is not None]
    return sorted(found, key=lambda each: (each.requested_at, each.lease.id))


def read_refused(context: Context, since: datetime) -> Sequence[PastRequest]:
    """Return the requests for hosts that were refused for lack of free ones, in their order."""
    with context.store.read() as transaction:
        leases = transaction.usage.list_refused(since)
    return [each for lease in leases if (each := _request(context, lease)) is not None]


def read_habits(context: Context, requests: Sequence[PastRequest], since: datetime) -> Habits:
    """Return how lessees have reserved since an instant; *requests* may have earlier ones."""
    with context.store.read() as transaction:
        created = transaction.journal.list_event(_CREATED)
        changes = transaction.journal.list_event(_STATUS)
        known = transaction.leases.list_revisions()
    recent = [each for each in requests if each.requested_at >= since]
    ends = {each.lease.id: each.lease.end for each in requests}
    over = {each.lease_id: each.at for each in changes if _OVER.search(each.reason) and each.at >= since}
    reclaiming = [
        max(timedelta(0), at - ends[key]) for key, at in over.items() if key is not None and key in ends
    ]
    types = Counter(one.resource_type for each in recent for _, one, _ in each.wanted)
    return Habits(
        since=since,
        leases=len(recent),
        deleted=len({each.lease_id for each in created if each.at >= since} - known.keys()),
        durations=Durations.of([each.window.duration for each in recent]),
        lead_times=Durations.of(
            [max(timedelta(0), each.window.start - each.requested_at) for each in recent]
        ),
        reclaiming=Durations.of(reclaiming),
        reclaimed=len(reclaiming),
        by_type=dict(sorted(types.items())),
    )


def past_uses(context: Context, requests: Iterable[PastRequest]) -> Iterator[Use]:
    """Yield what requests have used up to now, in hosts."""
    now, typical = context.clock.now(), typical_tree(context)
    for request in requests:
        if not request.has_begun(now):
            continue
        for plugin, _, spec in request.wanted:
            amount = hosts_needed(plugin, spec, typical)
            yield micros(request.lease.start), micros(min(request.window.end, now)), amount


def requested_uses(context: Context, requests: Iterable[PastRequest]) -> Iterator[Use]:
    """Yield what requests would have used, in hosts."""
    typical = typical_tree(context)
    for request in requests:
        for plugin, _, spec in request.wanted:
            amount = hosts_needed(plugin, spec, typical)
            yield micros(request.window.start), micros(request.window.end), amount


def hosts_needed(plugin: Plugin, spec: Any, typical: Sequence[HostProvider]) -> float:
    """Return how many hosts of a typical size a reservation takes at most; a fraction for instances.

    An instance counts as a host if no host of that size has room for it.
    """
    need = need_of(plugin, spec)
    if need.demand is None:
        return need.most
    return need.most / (slots_on(typical, need.demand) or 1)


def _least_of(plugin: Plugin, spec: Any) -> Any:
    """Return a spec for the least of its need; the same spec if its need is not a range."""
    need = need_of(plugin, spec)
    if need.least == need.most or not isinstance(plugin, StatesNeed):
        return spec
    return plugin.revise(spec, plugin.change_need(need.least), is_active=False)


def slots_on(providers: Sequence[HostProvider], demand: Demand) -> int:
    """Return how many slots an empty host has."""
    return count_slots(providers, demand, []) if providers else 0


def typical_tree(context: Context) -> Sequence[HostProvider]:
    """Return the providers of the most frequent size of registered hosts; empty without hosts."""
    with context.indexes[HOSTS].searching() as view:
        resources = [view.get(key) for key in sorted(view.generations())]
        sizes = Counter(each.size for each in resources if each is not None and each.providers)
        frequent = max(sizes, key=lambda each: (sizes[each], each), default=None)
        return next(
            (each.providers for each in resources if each and each.providers and each.size == frequent), ()
        )


def _request(context: Context, lease: Lease) -> PastRequest | None:
    """Return a lease as a request; None if it reserves no hosts or cannot be read."""
    wanted = []
    for each in lease.reservations:
        plugin = context.plugins.get(each.resource_type)
        if plugin is not None and plugin.collection == HOSTS and not each.is_damaged:
            wanted.append((plugin, each, intact_spec(plugin, each)))
    if not wanted or lease.damage is not None or lease.start >= lease.end:
        return None
    began = lease.find_event(EventType.START)
    requested_at = lease.created_at or (began.created_at if began else None) or lease.start
    return PastRequest(
        lease=lease,
        requested_at=min(requested_at, lease.start) if lease.created_at is None else requested_at,
        window=Interval(lease.start, lease.end),
        wanted=tuple(wanted),
    )
