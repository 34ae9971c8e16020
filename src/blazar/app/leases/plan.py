"""Planning a change of a lease: its new dates, specs, events and resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from blazar.app.leases.changes import parse_changes
from blazar.app.leases.limits import check_changed_grammar, check_conditions, check_grammar
from blazar.app.leases.releasing import count_in_use, is_active
from blazar.app.leases.requests import JsonObject, NewReservation
from blazar.app.properties import hidden_in_request
from blazar.app.request_work import RequestWork
from blazar.booking.assignments import assign, exists_ahead
from blazar.booking.context import Context, Plugin
from blazar.booking.search import Found, Search, beside, find_resources, holdings_of, search_for
from blazar.booking.specs import intact_spec, requirement_of
from blazar.domain.dates import before_end_for_changed, check_changed_dates, counted_as_now, parse_date
from blazar.domain.errors import CannotChange, Conflict
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Event,
    EventStatus,
    EventType,
    Holdings,
    Lease,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
)
from blazar.domain.lifecycle import with_status
from blazar.domain.requirements import Requirement
from blazar.ports.manager import Caller

_INSTANT = timedelta(microseconds=1)


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
class Plan:
    """A feasible change: the new lease, and the holdings of its reservations."""

    lease: Lease
    window: Interval
    ahead: Interval
    """The part of the window that has not passed; its last instant if all of it has."""
    bookings: tuple[Booking, ...]
    """The holdings of all reservations, before and after; those of a removed one are empty afterwards."""
    generations: Mapping[ResourceId, int]

    def frees_anything(self, before: Lease) -> bool:
        """Return whether the change frees capacity that the lease held *before*."""
        is_shorter = not self.window.covers(Interval(before.start, before.end))
        return is_shorter or any(each.dropped for each in self.bookings)


def plan_change(
    context: Context,
    work: RequestWork,
    lease: Lease,
    renamed: Lease,
    asked: Mapping[str, object],
    attempt: int,
) -> Plan:
    """Return the change that a request asks for, with the resources found for it; nothing is stored.

    Args:
        context: The context.
        work: The cloud calls of the request.
        lease: The lease as it was read.
        renamed: The lease with its new name.
        asked: The keys of the request that have a value.
        attempt: The number of the attempt, from 0.

    Raises:
        BadRequest, Conflict: The change is invalid or not possible.
    """
    now = context.clock.now()
    start = _asked_date("start_date", asked, lease.start, now)
    end = _asked_date("end_date", asked, lease.end, now)
    changes = parse_changes(context, work, lease, asked.get("reservations"), now)
    check_changed_dates(lease, start, end, now)
    before_end = before_end_for_changed(asked.get("before_end_date"), lease, start, end)
    # A lease that is ended "now" holds its resources up to this instant.
    window = Interval(start, end) if end > now else Interval.at_least_an_instant(start, now)
    reservations = (
        *(
            _revised(context, work, lease, each, changes.revised.get(each.id))
            for each in lease.reservations
            if each.id not in changes.removed
        ),
        *(_new(work, lease, each, now) for each in changes.added),
    )
    ahead = replace(window, start=max(start, min(now, window.end - _INSTANT)))
    if changes:
        _check_conditions(context, work.caller, lease.reservations, reservations)
    bookings, generations = _bookings(context, work, lease, reservations, ahead, attempt)
    changed = replace(
        renamed,
        start=start,
        end=end,
        reservations=tuple(_provided(context, work, lease, each) for each in reservations),
        events=_moved_events(context, lease, start, end, before_end, now),
    )
    return Plan(
        lease=with_status(changed), window=window, ahead=ahead, bookings=bookings, generations=generations
    )


def _asked_date(name: str, asked: Mapping[str, object], present: datetime, now: datetime) -> datetime:
    """Return a date of the lease after the change; an unchanged date is kept exactly."""
    date = parse_date(name, asked[name], now) if name in asked else present
    return date if date == present else counted_as_now(date, now)


def _check_conditions(
    context: Context, caller: Caller, before: Sequence[Reservation], after: Sequence[Reservation]
) -> None:
    """Raise InvalidParameter if a lease would have more conditions than it has now and than are allowed.

    Raises also InvalidRequirement, if the API version does not know a new expression.
    """
    old, new = (
        [_requirement(context.plugin_for(each.resource_type), each) for each in reservations]
        for reservations in (before, after)
    )
    check_grammar(caller, new, old)
    check_conditions(context.settings.leases.limits, new, old)


def _revised(
    context: Context, work: RequestWork, lease: Lease, reservation: Reservation, changes: JsonObject | None
) -> Reservation:
    """Return a reservation with its changes; one that was in error is set to be retried."""
    if changes is not None:
        plugin = context.plugin_for(reservation.resource_type)
        present = intact_spec(plugin, reservation)
        try:
            spec = plugin.revise(present, changes, is_active=is_active(reservation))
        except CannotChange:
            check_changed_grammar(work.caller, changes)
            raise
        reservation = replace(reservation, spec=work.look_up(plugin, reservation.id, spec))
    if reservation.status is ReservationStatus.ERROR:
        reservation = replace(reservation, status=ReservationStatus.PENDING, problem=None)
    return reservation


def _new(work: RequestWork, lease: Lease, asked: NewReservation, now: datetime) -> Reservation:
    return Reservation(
        id=asked.id,
        lease_id=lease.id,
        resource_type=asked.resource_type,
        spec=work.look_up(asked.plugin, asked.id, asked.spec),
        created_at=now,
        updated_at=now,
    )


def _provided(context: Context, work: RequestWork, lease: Lease, after: Reservation) -> Reservation:
    """Return a reservation with what it needs in the lessee's project; after an error, provide it again."""
    before = _find_before(lease, after)
    if before is None:
        plugin = context.plugin_for(after.resource_type)
        after = replace(after, spec=work.provide(plugin, after.id, None, after.spec))
        return replace(after, is_deployed=exists_ahead(context, lease, after))
    has_failed = before.status is ReservationStatus.ERROR
    if after.spec == before.spec and not has_failed:
        return after
    plugin = context.plugin_for(after.resource_type)
    present, asked = intact_spec(plugin, before), intact_spec(plugin, after)
    after = replace(after, spec=work.provide(plugin, after.id, present, asked, afresh=has_failed))
    return replace(after, is_deployed=after.is_deployed or exists_ahead(context, lease, after))


def _find_before(lease: Lease, after: Reservation) -> Reservation | None:
    """Return the reservation before the change; None for a new one."""
    return next((each for each in lease.reservations if each.id == after.id), None)


def _bookings(
    context: Context,
    work: RequestWork,
    lease: Lease,
    revised: Sequence[Reservation],
    ahead: Interval,
    attempt: int,
) -> tuple[tuple[Booking, ...], Mapping[ResourceId, int]]:
    """Return the new holdings of each reservation, and the generations that they rely on."""
    with context.store.read() as transaction:
        allocations = transaction.allocations.of_reservations([each.id for each in lease.reservations])
        states = transaction.resources.get_states({each.resource_id for each in allocations})
    all_held = holdings_of(allocations)
    stay = {each.id for each in revised}
    held = {key: each for key, each in all_held.items() if key in stay}
    searched = [
        (before, after)
        for before, after in ((_find_before(lease, each), each) for each in revised)
        if before is None
        or after.spec != before.spec
        # An allocation added after the lease began starts at the time when it was added.
        or any(not each.window.covers(ahead) for each in allocations)
        or not held.get(after.id)
    ]
    searches = []
    for before, after in searched:
        search = search_for(context, lease, after, ahead)
        own = [one for one in allocations if one.reservation_id == after.id]
        wish = search.wish
        wish = replace(
            wish,
            held=held.get(after.id, {}),
            is_active=is_active(before or after),
            hidden=hidden_in_request(
                context,
                work.caller,
                requirement_of(search.plugin, wish.spec),
                Requirement() if before is None else _requirement(search.plugin, before),
            ),
            in_use=count_in_use(context, before or after, assign(context, lease, after, own, states)),
        )
        searches.append(replace(search, wish=wish))
    ids = [each.id for _, each in searched]
    found = _find(context, searches, ids, held, attempt)
    holdings = {**held, **dict(zip(ids, found.chosen, strict=True))}
    gone = [each for each in lease.reservations if each.id not in stay]
    bookings = [
        Booking(reservation=each, before=all_held.get(each.id, {}), after=holdings.get(each.id, {}))
        for each in (*revised, *gone)
    ]
    return tuple(bookings), found.generations


def _requirement(plugin: Plugin, reservation: Reservation) -> Requirement:
    return requirement_of(plugin, intact_spec(plugin, reservation))


def _find(
    context: Context,
    searches: Sequence[Search],
    searched: Sequence[ReservationId],
    held: Mapping[ReservationId, Holdings],
    attempt: int,
) -> Found:
    """Return resources for some of a lease's reservations, next to the holdings of the others.

    At first, reservations that are searched later keep their holdings. If that fails, the search is repeated
    without these, because one of them may be about to release what an earlier one needs.
    """
    others = {key: each for key, each in held.items() if key not in searched}

    def together(standing: Callable[[int], Mapping[ReservationId, Holdings]]) -> Found:
        wishes = [
            replace(each, wish=replace(each.wish, beside=beside({**others, **standing(number)}.values())))
            for number, each in enumerate(searches)
        ]
        return find_resources(context, wishes, attempt)

    try:
        return together(lambda number: {key: held.get(key, {}) for key in searched[number + 1 :]})
    except Conflict:
        if len(searches) < 2:
            raise
        return together(lambda _: {})


def _moved_events(
    context: Context,
    lease: Lease,
    start: datetime,
    end: datetime,
    before_end: datetime | None,
    now: datetime,
) -> tuple[Event, ...]:
    """Return the events with their new times.

    A failed start is retried. A ``before_end_lease`` event that has fired fires again only if it was moved
    into the future; it does not fire after every update.
    """
    times = {EventType.START: start, EventType.END: end, EventType.BEFORE_END: before_end}
    moved = []
    for event in lease.events:
        time = times[event.event_type]
        status = event.status
        if event.event_type is EventType.START and status is EventStatus.ERROR:
            status = EventStatus.UNDONE
        if (
            event.event_type is EventType.BEFORE_END
            and time is not None
            and time != event.time
            and time > now
        ):
            status = EventStatus.UNDONE
        moved.append(replace(event, time=time or event.time, status=status))
    if before_end is not None and lease.find_event(EventType.BEFORE_END) is None:
        moved.append(
            Event(id=context.new_id(), event_type=EventType.BEFORE_END, time=before_end, created_at=now)
        )
    return tuple(moved)
