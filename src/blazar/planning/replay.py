"""A replay of past requests on other hosts: how many would be refused, and how much would be in use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.booking.grouped_choice import choose
from blazar.booking.shares import beside
from blazar.booking.visibility import visible_to
from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.errors import BadRequest, Conflict
from blazar.domain.instants import micros
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, ResourceId
from blazar.planning.copy import HOSTS
from blazar.planning.load import load_of, merged
from blazar.planning.past import PastRequest
from blazar.plugins.contract import Wish
from blazar.plugins.hosts.host import HOST_TEXT_FACTS

_PRUNED_AFTER = 2000
"""Requests after which bookings that are over are removed, since each search reads all bookings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request that a replay refuses."""

    lease_id: str
    lease_name: str
    project_id: str | None
    start: datetime
    end: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The result of a replay."""

    hosts: int
    requests: int
    refused_then: int
    """How many of the requests were refused when they were made."""
    refused: tuple[Refused, ...]
    utilisation_percent: float
    """The share of the hosts' time for which they are reserved, in whole or in part."""
    peak: int
    """The most hosts that are reserved at the same time."""

    @property
    def refused_percent(self) -> float:
        """Return how many of the requests are refused, in per cent."""
        return round(100 * len(self.refused) / self.requests, 2) if self.requests else 0.0


def hosts_of(copy: Context, without: Collection[ResourceId] = ()) -> tuple[Resource, ...]:
    """Return the hosts of a copy that can be reserved, in the order in which searches prefer equal ones."""
    with copy.indexes[HOSTS].searching() as view:
        found = [view.get(key) for key in view.generations() if key not in without]
    return tuple(each for each in found if each is not None and each.is_reservable)


def replay(
    copy: Context,
    granted: Sequence[PastRequest],
    refused_then: Sequence[PastRequest],
    hosts: Sequence[Resource],
    period: Interval,
) -> Replay:
    """Return the result of making requests on hosts that nothing books.

    A request gets the hosts that it held if they are free then: with others, a later one that was granted
    could be refused. Those that were refused come after all others, and get what these leave.

    Args:
        copy: A context of :func:`~blazar.planning.copy.copied`.
        granted: The requests of the period that were granted, in their order.
        refused_then: Those that were refused, in their order.
        hosts: The hosts.
        period: The period for which the utilisation is computed.
    """
    run = _Run(copy, hosts)
    refused = [*run.make_all(granted), *run.make_all(refused_then)]
    uses = list(run.uses())
    load = load_of(((start, end, 1.0) for _, start, end in uses), period)
    used = _reserved_time(uses, period)
    available = len(hosts) * (period.duration / timedelta(microseconds=1))
    return Replay(
        hosts=len(hosts),
        requests=len(granted) + len(refused_then),
        refused_then=len(refused_then),
        refused=tuple(refused),
        utilisation_percent=round(100 * used / available, 2) if available else 0.0,
        peak=round(load.peak),
    )


def _reserved_time(uses: Iterable[tuple[ResourceId, int, int]], period: Interval) -> int:
    first, last = micros(period.start), micros(period.end)
    return sum(max(0, min(end, last) - max(start, first)) for _, start, end in uses)


class _Run:
    """The hosts and their bookings during a replay."""

    def __init__(self, copy: Context, hosts: Sequence[Resource]) -> None:
        self._copy = copy
        self._hosts = hosts
        self._bookings: list[Booking] = []
        self._over: list[Booking] = []
        self._made = 0
        self._view = self._load()

    def make_all(self, requests: Iterable[PastRequest]) -> Sequence[Refused]:
        """Book what requests get, in their order; return those that are refused."""
        if self._over:
            self._bookings, self._over = [*self._over, *self._bookings], []
            self._view = self._load()
        return [each for request in requests if (each := self._make(request)) is not None]

    def _make(self, request: PastRequest) -> Refused | None:
        """Book what a request gets; return why it is refused, or None."""
        self._made += 1
        if self._made % _PRUNED_AFTER == 0:
            self._prune(min(request.requested_at, request.window.start))
        try:
            held = self._choose(request)
        except (BadRequest, Conflict) as error:
            lease = request.lease
            return Refused(
                lease_id=lease.id,
                lease_name=lease.name,
                project_id=lease.project_id,
                start=lease.start,
                end=lease.end,
                reason=error.message,
            )
        for (_, reservation, _), holdings in zip(request.wanted, held, strict=True):
            for key, share in holdings.items():
                booking = Booking(
                    resource_id=key,
                    reservation_id=reservation.id,
                    window=request.window,
                    share=share,
                    # Otherwise, it would count as late once it is over.
                    released_at=request.window.end,
                )
                self._bookings.append(booking)
                position = self._view.position_of(key)
                assert position is not None
                self._view.bookings.add(position, [booking])
        return None

    def uses(self) -> Iterable[tuple[ResourceId, int, int]]:
        """Yield when each host is reserved, without overlaps."""
        times: dict[ResourceId, list[tuple[int, int]]] = {}
        for each in (*self._over, *self._bookings):
            window = each.window
            times.setdefault(each.resource_id, []).append((micros(window.start), micros(window.end)))
        for key, own in times.items():
            for start, end in merged(own):
                yield key, start, end

    def _choose(self, request: PastRequest) -> Sequence[Holdings]:
        held: list[Holdings] = []
        view = visible_to(self._copy, HOSTS, self._view, request.lease.project_id)
        for plugin, reservation, spec in request.wanted:
            wish = Wish(
                spec=spec,
                window=request.window,
                now=min(request.requested_at, request.window.start),
                cleaning_time=self._copy.settings.leases.cleaning_time,
                held=request.held.get(reservation.id, {}),
                beside=beside(held),
            )
            held.append(choose(plugin, wish, view, reservation.grouping))
        return held

    def _load(self) -> Availability:
        view = Availability(HOST_TEXT_FACTS)
        view.load(self._hosts, (), self._bookings)
        return view

    def _prune(self, now: datetime) -> None:
        """Forget bookings that cannot matter for requests from *now* on."""
        cleaning = self._copy.settings.leases.cleaning_time
        over = [each for each in self._bookings if each.window.end + cleaning <= now]
        self._over += over
        self._bookings = [each for each in self._bookings if each.window.end + cleaning > now]
        self._view = self._load()
