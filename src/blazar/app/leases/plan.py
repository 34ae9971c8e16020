"""Planning a change of a lease: its new dates, specs, events and resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from blazar.app.leases.change_search import (
    Booking,
    ChangeSearch,
    Outline,
    PresentHoldings,
    find_before,
    read_held_for,
    requirement_before,
    search_for_change,
)
from blazar.app.leases.changes import Changes, OnConflict, parse_changes
from blazar.app.leases.chosen_releases import check_replaceable, reduced
from blazar.app.leases.conflicts import find_conflicts
from blazar.app.leases.groupings import revise_grouping
from blazar.app.leases.limits import (
    check_changed_grammar,
    check_conditions,
    check_expressions,
    check_grammar,
)
from blazar.app.leases.releasing import is_active
from blazar.app.leases.requests import JsonObject, NewReservation
from blazar.app.request_work import RequestWork
from blazar.booking.assignments import exists_ahead
from blazar.booking.context import Context
from blazar.booking.holding import find_kept
from blazar.booking.search import Found, find_resources
from blazar.booking.specs import intact_spec, rendered_spec
from blazar.domain.dates import before_end_for_changed, check_changed_dates, counted_as_now, parse_date
from blazar.domain.errors import CannotChange
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Event,
    EventStatus,
    EventType,
    Holdings,
    Lease,
    LeaseStatus,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
)
from blazar.domain.lifecycle import with_status
from blazar.domain.offers import Offer
from blazar.domain.wording import shortened, with_short_texts
from blazar.ports.journal import LONGEST_REASON
from blazar.ports.manager import Caller

_INSTANT = timedelta(microseconds=1)
_LONGEST_TEXT: Final = 1_000
"""The most characters of a value of a spec in the journal."""


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

    @property
    def before(self) -> Mapping[ReservationId, Holdings]:
        """Return the present holdings of each reservation."""
        return {each.reservation.id: each.before for each in self.bookings}

    @property
    def after(self) -> Mapping[ReservationId, Holdings]:
        """Return the new holdings of each reservation."""
        return {each.reservation.id: each.after for each in self.bookings}

    @property
    def pairs(self) -> frozenset[tuple[ResourceId, ReservationId]]:
        """Return every resource that is held before or after, with each reservation that holds it."""
        return frozenset(
            (key, each.reservation.id) for each in self.bookings for key in (*each.before, *each.after)
        )

    @property
    def removes_reservations(self) -> bool:
        """Return whether the lease has fewer reservations afterwards."""
        return bool(
            {each.reservation.id for each in self.bookings} - {each.id for each in self.lease.reservations}
        )

    def frees_anything(self, before: Lease) -> bool:
        """Return whether the change frees capacity that the lease held *before*."""
        is_shorter = not self.window.covers(Interval(before.start, before.end))
        return is_shorter or any(each.dropped for each in self.bookings)

    def summary(self, context: Context, before: Lease, after: Lease) -> str:
        """Return a summary of the change, for the journal; :mod:`blazar.booking.history` reads it.

        Long texts in specs, such as requirements, are shortened: each change adds an entry, which is kept.
        """
        changed = [
            f"{name}: {old:%Y-%m-%d %H:%M} -> {new:%Y-%m-%d %H:%M}"
            for name, old, new in (("start", before.start, after.start), ("end", before.end, after.end))
            if old != new
        ]
        specs = {each.id: each.spec for each in before.reservations}
        kept = {each.id for each in after.reservations}
        changed += [f"reservation {key} added" for key in sorted(kept - specs.keys())]
        changed += [f"reservation {key} removed" for key in sorted(specs.keys() - kept)]
        added = sum(len(each.after.keys() - each.before.keys()) for each in self.bookings)
        released = sum(len(each.before.keys() - each.after.keys()) for each in self.bookings)
        if added or released:
            changed.append(f"resources: {added} added, {released} released")
        if before.status is LeaseStatus.ERROR:
            changed.append("retry after error")
        changed += [
            f"reservation {new.id}: {_spec_summary(context, new)}"
            for new in after.reservations
            if new.id not in specs or specs[new.id] != new.spec
        ]
        return shortened("; ".join(changed), LONGEST_REASON)


def _spec_summary(context: Context, reservation: Reservation) -> JsonObject:
    spec = context.plugin_for(reservation.resource_type).encode(reservation.spec)
    return with_short_texts(spec, _LONGEST_TEXT)


def plan_change(
    work: RequestWork,
    lease: Lease,
    renamed: Lease,
    asked: Mapping[str, object],
    attempt: int,
    offer: Offer | None = None,
) -> Plan:
    """Return the change that a request asks for, with the resources found for it; nothing is stored.

    Args:
        work: The cloud calls of the request.
        lease: The lease as it was read.
        renamed: The lease with its new name.
        asked: The keys of the request that have a value.
        attempt: The number of the attempt, from 0.
        offer: The offer that holds resources for the change, which are preferred.

    Raises:
        BadRequest, Conflict: The change is invalid or not possible.
    """
    context = work.context
    present = read_held_for(work, lease, asked)
    outline = outline_change(work, lease, asked, present)
    search = search_for_change(work, lease, outline, present)
    found = None if offer is None else _find_offered(context, search, outline, offer)
    if found is None:
        found = search.find(lambda searches: find_resources(context, searches, attempt))
    start, end = outline.start, outline.end
    changed = replace(
        renamed,
        start=start,
        end=end,
        reservations=tuple(_provided(context, work, lease, each) for each in outline.reservations),
        events=_moved_events(context, lease, start, end, outline.before_end, context.clock.now()),
    )
    return Plan(
        lease=with_status(changed),
        window=outline.window,
        ahead=outline.ahead,
        bookings=search.bookings(found),
        generations=found.generations,
    )


def _find_offered(context: Context, search: ChangeSearch, outline: Outline, offer: Offer) -> Found | None:
    """Return what an offer holds for the searched reservations, if the change still needs just that.

    Otherwise, return None: the lease holds something else by now, a resource has failed, or the conflict that
    the change was to resolve no longer exists.
    """
    change, before = offer.change, search.lease.reservations
    asked = [(each.id, each.spec, each.grouping) for each in offer.reservations]
    if change is None or asked != [(each.id, each.spec, each.grouping) for each in outline.reservations]:
        return None
    if any(search.held.get(each.id, {}) != change.before.get(each.id, {}) for each in before):
        return None
    stay = {each.id for each in outline.reservations}
    gone = [each for each in before if each.id not in stay]
    found = find_kept(context, [*outline.reservations, *gone], change.after, outline.ahead)
    if found is None:
        return None
    chosen = dict(zip((each.id for each in outline.reservations), found.chosen, strict=False))
    kept = tuple(chosen[each.id] for each in search.searched)
    claimed = {key: found.generations[key] for each in kept for key in each}
    return Found(chosen=kept, generations=claimed)


def outline_change(
    work: RequestWork, lease: Lease, asked: Mapping[str, object], present: PresentHoldings
) -> Outline:
    """Return the change that a request asks for, without resources. Raises as :func:`plan_change`."""
    context = work.context
    now = context.clock.now()
    start = _asked_date("start_date", asked, lease.start, now)
    end = _asked_date("end_date", asked, lease.end, now)
    changes = parse_changes(context, work, lease, asked.get("reservations"), now)
    check_changed_dates(lease, start, end, now)
    before_end = before_end_for_changed(asked.get("before_end_date"), lease, start, end)
    # A lease that is ended "now" holds its resources up to this instant.
    window = Interval(start, end) if end > now else Interval.at_least_an_instant(start, now)
    ahead = part_ahead(window, now)
    check_replaceable(context, lease, changes.replaced, present)
    conflicts = find_conflicts(context, lease, changes.on_conflict, ahead, present)
    dropped = {key: conflicts[key] for key in conflicts if changes.on_conflict[key] is OnConflict.DROP}
    changes = replace(changes, released={**changes.released, **dropped})
    reservations = (
        *(
            _revised(work, each, changes, present)
            for each in lease.reservations
            if each.id not in changes.removed
        ),
        *(_new(work, lease, each, now) for each in changes.added),
    )
    if changes:
        _check_conditions(context, work.caller, lease.reservations, reservations)
    return Outline(
        start=start,
        end=end,
        before_end=before_end,
        reservations=reservations,
        released={**changes.released, **conflicts, **changes.replaced},
        window=window,
        ahead=ahead,
    )


def part_ahead(window: Interval, now: datetime) -> Interval:
    """Return the part of a lease's window that has not passed; its last instant if all of it has."""
    return replace(window, start=max(window.start, min(now, window.end - _INSTANT)))


def _asked_date(name: str, asked: Mapping[str, object], present: datetime, now: datetime) -> datetime:
    """Return a date of the lease after the change; an unchanged date is kept exactly."""
    date = parse_date(name, asked[name], now) if name in asked else present
    return date if date == present else counted_as_now(date, now)


def _check_conditions(
    context: Context, caller: Caller, before: Sequence[Reservation], after: Sequence[Reservation]
) -> None:
    """Raise InvalidParameter if a lease would have more conditions, or longer ones, than it has and may have.

    Also raises InvalidRequirement if the API version does not know a new expression.
    """
    old, new = (
        [requirement_before(context.plugin_for(each.resource_type), each) for each in reservations]
        for reservations in (before, after)
    )
    check_grammar(caller, new, old)
    limits = context.settings.leases.limits
    check_conditions(limits, new, old)
    present, revised = (
        [rendered_spec(context.plugin_for(each.resource_type), each) for each in reservations]
        for reservations in (before, after)
    )
    check_expressions(limits, revised, present)


def _revised(
    work: RequestWork, reservation: Reservation, changes: Changes, present: PresentHoldings
) -> Reservation:
    """Return a reservation with its changes; one that was in error is set to be retried."""
    context, revised = work.context, changes.revised.get(reservation.id)
    plugin = context.plugin_for(reservation.resource_type)
    if reservation.id in changes.released:
        reservation = reduced(plugin, reservation, changes.released[reservation.id], present)
    elif revised is not None:
        spec_before = intact_spec(plugin, reservation)
        try:
            spec = plugin.revise(spec_before, revised, is_active=is_active(reservation))
        except CannotChange:
            check_changed_grammar(work.caller, revised)
            raise
        grouping = revise_grouping(
            work.caller, plugin, spec, reservation.grouping, revised, is_active=is_active(reservation)
        )
        spec = work.look_up(plugin, reservation.id, spec)
        reservation = replace(reservation, spec=spec, grouping=grouping)
    if reservation.status is ReservationStatus.ERROR:
        reservation = replace(reservation, status=ReservationStatus.PENDING, problem=None)
    return reservation


def _new(work: RequestWork, lease: Lease, asked: NewReservation, now: datetime) -> Reservation:
    return Reservation(
        id=asked.id,
        lease_id=lease.id,
        resource_type=asked.resource_type,
        spec=work.look_up(asked.plugin, asked.id, asked.spec),
        grouping=asked.grouping,
        created_at=now,
        updated_at=now,
    )


def _provided(context: Context, work: RequestWork, lease: Lease, after: Reservation) -> Reservation:
    """Return a reservation with what it needs in the lessee's project; after an error, provide it again."""
    before = find_before(lease, after)
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
