"""Search for the resources of a lease after a change, with regard to what it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from blazar.app.leases.releasing import count_in_use, is_active
from blazar.app.properties import hidden_in_request
from blazar.app.request_work import RequestWork
from blazar.booking.assignments import assign
from blazar.booking.context import Context, Plugin
from blazar.booking.reports import list_reported, read_reported
from blazar.booking.search import Found, Search, holdings_of, search_for
from blazar.booking.shares import beside
from blazar.booking.specs import booked_window_of, intact_spec, requirement_of
from blazar.domain.errors import CannotChange, Conflict
from blazar.domain.health import ResourceState
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, Lease, Reservation, ReservationId, ResourceId
from blazar.domain.maintenance import Maintenance
from blazar.domain.requirements import Requirement
from blazar.domain.wording import first_few


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """The present and the new holdings of a reservation."""

    reservation: Reservation
    before: Holdings
    after: Holdings

    @property
    def dropped(self) -> frozenset[ResourceId]:
        """Return the resources whose allocations are removed; a share that changes is replaced by another."""
        return frozenset(key for key in self.before if not self._keeps(key))

    @property
    def added(self) -> Holdings:
        """Return the allocations to add."""
        return {key: share for key, share in self.after.items() if not self._keeps(key)}

    def _keeps(self, key: ResourceId) -> bool:
        return key in self.before and key in self.after and self.before[key] == self.after[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A requested change that was checked, without resources for it."""

    start: datetime
    end: datetime
    before_end: datetime | None
    reservations: tuple[Reservation, ...]
    """The reservations after the change: first those that the lease has now, then new ones."""
    released: Mapping[ReservationId, frozenset[ResourceId]]
    """Resources that the request releases, of each reservation that has any."""
    window: Interval
    ahead: Interval
    """The part of the window that has not passed; its last instant if all of it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentHoldings:
    """The holdings of a lease before a change, as they were read."""

    allocations: tuple[Allocation, ...]
    states: Mapping[ResourceId, ResourceState]
    reported: frozenset[ResourceId]
    """The resources that were reported as broken for the lease."""

    @property
    def by_reservation(self) -> Mapping[ReservationId, Holdings]:
        """Return the holdings of each reservation that has any."""
        return holdings_of(self.allocations)


def read_held(context: Context, lease: Lease) -> PresentHoldings:
    """Return what a lease holds."""
    with context.store.read() as transaction:
        allocations = transaction.allocations.of_reservations([each.id for each in lease.reservations])
        states = transaction.resources.get_states({each.resource_id for each in allocations})
        reported = list_reported(transaction, [lease.id])[lease.id]
    return PresentHoldings(allocations=allocations, states=states, reported=reported)


def read_held_for(work: RequestWork, lease: Lease, asked: Mapping[str, object]) -> PresentHoldings:
    """Return what a lease holds, as far as its change needs to know.

    If only dates of a lease that is not active change, the states of its resources do not matter.
    """
    allocations = work.take_held(lease)
    if allocations is None or "reservations" in asked or any(is_active(each) for each in lease.reservations):
        return read_held(work.context, lease)
    reported = read_reported(work.context, [lease.id])[lease.id]
    return PresentHoldings(allocations=allocations, states={}, reported=reported)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSearch:
    """The search for resources for the reservations of a lease for which a change needs one."""

    lease: Lease
    """The lease before the change."""
    reservations: tuple[Reservation, ...]
    """All reservations after the change."""
    searched: tuple[Reservation, ...]
    searches: tuple[Search, ...]
    """The searches for the resources of ``searched``."""
    held: Mapping[ReservationId, Holdings]
    """The holdings of all reservations before the change."""

    def find(self, finder: Callable[[Sequence[Search]], Found]) -> Found:
        """Return resources for the searched reservations, next to the holdings of the others.

        At first, reservations that are searched later keep their holdings. If that fails, the search is
        repeated without these holdings, because a later one may be about to release what an earlier one
        needs.

        Args:
            finder: Returns resources for all searches, or raises Conflict.
        """
        ids = [each.id for each in self.searched]
        stay = {each.id for each in self.reservations}
        others = {key: each for key, each in self.held.items() if key in stay and key not in ids}

        def together(standing: Callable[[int], Mapping[ReservationId, Holdings]]) -> Found:
            return finder(
                [
                    replace(each, wish=replace(each.wish, beside=beside({**others, **standing(at)}.values())))
                    for at, each in enumerate(self.searches)
                ]
            )

        try:
            return together(lambda at: {key: self.held.get(key, {}) for key in ids[at + 1 :]})
        except Conflict:
            if len(self.searches) < 2:
                raise
            return together(lambda _: {})

    def bookings(self, found: Found) -> tuple[Booking, ...]:
        """Return the new holdings of each reservation; those of a removed one are empty."""
        stay = {each.id for each in self.reservations}
        holdings = {key: each for key, each in self.held.items() if key in stay}
        holdings |= dict(zip((each.id for each in self.searched), found.chosen, strict=True))
        gone = [each for each in self.lease.reservations if each.id not in stay]
        return tuple(
            Booking(reservation=each, before=self.held.get(each.id, {}), after=holdings.get(each.id, {}))
            for each in (*self.reservations, *gone)
        )


def search_for_change(
    work: RequestWork,
    lease: Lease,
    outline: Outline,
    present: PresentHoldings,
    *,
    for_all: bool = False,
) -> ChangeSearch:
    """Return the search for the resources that a change needs.

    Args:
        work: The cloud calls of the request.
        lease: The lease before the change.
        outline: The change.
        present: What it holds.
        for_all: Whether to search for all reservations, even those that can stay as they are.
    """
    held = present.by_reservation
    booked = {
        each.id: booked_window_of(work.context.plugins, each, outline.ahead) for each in outline.reservations
    }
    # An allocation added after the lease began starts at the time when it was added.
    is_covered = all(
        each.window.covers(booked.get(each.reservation_id, outline.ahead)) for each in present.allocations
    )
    searched = tuple(
        each
        for each in outline.reservations
        if for_all
        or not is_covered
        or not held.get(each.id)
        or each.id in outline.released
        or _is_revised(lease, each)
    )
    searches = [_search(work, lease, each, outline, present) for each in searched]
    if any(each.wish.is_active for each in searches):
        kept = _find_kept_maintenances(work.context, lease, outline, present)
        searches = [_despite(each, kept) for each in searches]
    return ChangeSearch(
        lease=lease,
        reservations=outline.reservations,
        searched=searched,
        searches=tuple(searches),
        held=held,
    )


def _find_kept_maintenances(
    context: Context, lease: Lease, outline: Outline, present: PresentHoldings
) -> Sequence[Maintenance]:
    """Return the maintenances during which a lease that has begun keeps what it holds.

    A lease can keep its resources as long as it could without the change, but the time that the change adds
    must not contain maintenance.
    """
    held = {each.resource_id for each in present.allocations}
    known, ahead = Interval.at_least_an_instant(lease.start, lease.end), outline.ahead
    added = [
        Interval(start, end)
        for start, end in ((ahead.start, known.start), (max(known.end, ahead.start), ahead.end))
        if start < end
    ]
    with context.store.read() as transaction:
        maintenances = transaction.maintenances.list(ending_after=ahead.start)
    return [
        each
        for each in maintenances
        if held.intersection(each.resource_ids)
        and each.window.overlaps(ahead)
        and not any(each.window.overlaps(part) for part in added)
    ]


def _despite(search: Search, maintenances: Sequence[Maintenance]) -> Search:
    """Return a search that keeps held resources under maintenance, but chooses no further ones."""
    if not maintenances or not search.wish.is_active:
        return search
    under = frozenset(key for each in maintenances for key in each.resource_ids)
    wish = replace(
        search.wish,
        ignoring=search.wish.ignoring | {each.owner for each in maintenances},
        excluded=search.wish.excluded | (under - search.wish.held.keys()),
    )
    return replace(search, wish=wish)


def find_before(lease: Lease, after: Reservation) -> Reservation | None:
    """Return the reservation before the change; None for a new one."""
    return next((each for each in lease.reservations if each.id == after.id), None)


def requirement_before(plugin: Plugin, reservation: Reservation) -> Requirement:
    """Return the requirement of a reservation as it is stored."""
    return requirement_of(plugin, intact_spec(plugin, reservation))


def _is_revised(lease: Lease, after: Reservation) -> bool:
    before = find_before(lease, after)
    return before is None or (after.spec, after.grouping) != (before.spec, before.grouping)


def _search(
    work: RequestWork, lease: Lease, after: Reservation, outline: Outline, present: PresentHoldings
) -> Search:
    context = work.context
    before = find_before(lease, after)
    search = search_for(context, lease, after, outline.ahead, present.reported)
    own = [each for each in present.allocations if each.reservation_id == after.id]
    in_use: Mapping[ResourceId, int] = {}
    if is_active(before or after):
        in_use = count_in_use(context, before or after, assign(context, lease, after, own, present.states))
    released = outline.released.get(after.id, frozenset())
    _check_not_in_use(released, in_use)
    held = present.by_reservation.get(after.id, {})
    kept = {key: share for key, share in held.items() if key not in released}
    wish = replace(
        search.wish,
        # Includes what an offer holds for a new reservation.
        ignoring=search.wish.ignoring | {each.id for each in outline.reservations},
        held=kept,
        is_active=is_active(before or after),
        hidden=hidden_in_request(
            context,
            work.caller,
            _named(after, requirement_of(search.plugin, search.wish.spec)),
            _named(before, Requirement() if before is None else requirement_before(search.plugin, before)),
        ),
        excluded=(search.wish.excluded | released) - kept.keys(),
        in_use=in_use,
    )
    return replace(
        search,
        wish=wish,
        permit=work.rules.permit_for(after.resource_type, lease),
        present=Interval.at_least_an_instant(lease.start, lease.end),
    )


def _named(reservation: Reservation | None, requirement: Requirement) -> Requirement:
    """Return a requirement together with that of the reservation's grouping."""
    grouping = None if reservation is None else reservation.grouping
    return requirement if grouping is None else requirement & grouping.requirement


def _check_not_in_use(released: frozenset[ResourceId], in_use: Mapping[ResourceId, int]) -> None:
    """Raise CannotChange if the lessee uses resources that a request releases."""
    used = sorted(each for each in released if in_use.get(each))
    if used:
        raise CannotChange(
            f"release: in use: {first_few(used)}; delete the servers on a host, and remove an address from"
            " its port, before you release it"
        )
