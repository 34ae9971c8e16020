"""Changing a lease: name, dates, reservations. Refused means that nothing has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from blazar.booking import event_types
from blazar.booking.assignments import assign, exists_ahead
from blazar.booking.search import Found, Search, beside, find_resources, holdings_of, search_for
from blazar.booking.context import Context
from blazar.booking.health import have_missing_sought
from blazar.app.in_use import count_in_use, giving_up, is_active
from blazar.app.looking import next_look
from blazar.app.records import announce, record_request
from blazar.app.request_work import RequestWork
from blazar.app.requests import JsonObject, parse_changes, parse_name
from blazar.domain.dates import before_end_for_changed, check_changed_dates, parse_date
from blazar.domain.errors import Conflict, InvalidLeaseStatus
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Allocation,
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
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations")
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Booking:
    """What a changed reservation holds, and what it is to hold."""

    reservation: Reservation
    before: Holdings
    after: Holdings

    @property
    def dropped(self) -> frozenset[ResourceId]:
        """Return the resources whose allocations go; of a share that changes, another one comes."""
        return frozenset(key for key in self.before if not self._keeps(key))

    @property
    def added(self) -> Holdings:
        """Return what is to be allocated anew."""
        return {key: share for key, share in self.after.items() if not self._keeps(key)}

    def _keeps(self, key: ResourceId) -> bool:
        return key in self.before and key in self.after and self.before[key] == self.after[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A change that can be had: the lease as it will be, and who holds what, when."""

    lease: Lease
    window: Interval
    ahead: Interval
    """What of the window has not passed; its last instant if all of it has."""
    bookings: tuple[_Booking, ...]
    generations: Mapping[ResourceId, int]

    def frees_anything(self, before: Lease) -> bool:
        """Return whether others can have what the lease had *before*."""
        is_shorter = not self.window.covers(Interval(before.start, before.end))
        return is_shorter or any(each.dropped for each in self.bookings)


def update_once(
    context: Context, caller: Caller, work: RequestWork, lease: Lease, body: JsonObject, attempt: int
) -> Lease:
    """Return the lease with the change that *body* asks for; see ``leases.update_lease``.

    Raises:
        ConcurrentUpdate: Somebody else was faster; read the lease again.
    """
    asked = {key: body[key] for key in _KEYS if body.get(key) is not None}
    if not asked:
        return lease
    if not lease.status.is_stable:
        raise InvalidLeaseStatus(lease.id, lease.status, "updated")
    renamed = replace(lease, name=parse_name(asked["name"])) if "name" in asked else lease
    if set(asked) == {"name"}:
        return _rename(context, caller, lease, renamed)
    plan = _plan(context, work, lease, renamed, asked, attempt)
    work.enforcing.check_update(
        lease,
        {each.reservation.id: each.before for each in plan.bookings},
        plan.lease,
        {each.reservation.id: each.after for each in plan.bookings},
    )
    work.quota.prepare()
    changes = [(each.reservation.id, each.before, each.after) for each in plan.bookings]
    with giving_up(context, lease, changes) as given_up:
        now = context.clock.now()
        with context.store.begin() as transaction:
            with work.quota.kept(transaction):
                changed = transaction.leases.replace(lease, plan.lease, now)
                _book(transaction, lease, plan)
            if plan.frees_anything(lease):
                have_missing_sought(context, transaction)
            transaction.allocations.insert(given_up.to_be_cleaned)
            if given_up.claim is None:
                transaction.work.schedule([lease.id], next_look(context, changed))
            else:
                transaction.work.finish(given_up.claim, now, 0)
            record_request(context, transaction, changed, "update", caller, _summary(lease, changed))
            _announce(context, transaction, lease, changed, now)
            work.enforcing.commit(transaction)
            transaction.commit()
    return changed


def _announce(
    context: Context, transaction: Transaction, before: Lease, changed: Lease, now: datetime
) -> None:
    """Notify of a change; the status is then what consumers know it to be at that point (behaviour 2.7)."""
    shown = replace(changed, status=LeaseStatus.UPDATING)
    notice, again = (each.find_event(EventType.BEFORE_END) for each in (before, changed))
    was_given = notice is not None and notice.status is not EventStatus.UNDONE
    if was_given and again is not None and again.status is EventStatus.UNDONE:
        announce(context, transaction, shown, event_types.BEFORE_END_REVOKED, now)
    announce(context, transaction, shown, event_types.UPDATED, now)


def _rename(context: Context, caller: Caller, lease: Lease, renamed: Lease) -> Lease:
    with context.store.begin() as transaction:
        changed = transaction.leases.replace(lease, renamed, context.clock.now())
        record_request(context, transaction, changed, "rename", caller)
        transaction.commit()
    return changed


def _plan(
    context: Context,
    work: RequestWork,
    lease: Lease,
    renamed: Lease,
    asked: Mapping[str, object],
    attempt: int,
) -> _Plan:
    now = context.clock.now()
    start = parse_date("start_date", asked["start_date"], now) if "start_date" in asked else lease.start
    end = parse_date("end_date", asked["end_date"], now) if "end_date" in asked else lease.end
    changes = parse_changes(context, lease, asked.get("reservations"))
    check_changed_dates(lease, start, end, now)
    before_end = before_end_for_changed(asked.get("before_end_date"), lease, start, end)
    # A lease that is ended "now" holds its resources up to this very instant.
    window = Interval(start, end if end > now else max(now, start + _INSTANT))
    reservations = tuple(
        _revised(context, work, lease, each, changes.get(each.id)) for each in lease.reservations
    )
    ahead = replace(window, start=max(start, min(now, window.end - _INSTANT)))
    bookings, generations = _bookings(context, lease, reservations, ahead, attempt)
    changed = replace(
        renamed,
        start=start,
        end=end,
        reservations=tuple(
            _provided(context, work, lease, before, each.reservation)
            for before, each in zip(lease.reservations, bookings, strict=True)
        ),
        events=_moved_events(context, lease, start, end, before_end, now),
    )
    return _Plan(
        lease=with_status(changed), window=window, ahead=ahead, bookings=bookings, generations=generations
    )


def _revised(
    context: Context, work: RequestWork, lease: Lease, reservation: Reservation, changes: JsonObject | None
) -> Reservation:
    """Return a reservation with its changes; one that was in error is tried again."""
    if changes is not None:
        plugin = context.plugin_for(reservation.resource_type)
        spec = plugin.revise(plugin.decode(reservation.spec), changes, is_active=is_active(reservation))
        spec = work.look_up(plugin, reservation.id, spec)
        reservation = replace(reservation, spec=plugin.encode(spec))
    if reservation.status is ReservationStatus.ERROR:
        reservation = replace(reservation, status=ReservationStatus.PENDING, problem=None)
    return reservation


def _provided(
    context: Context, work: RequestWork, lease: Lease, before: Reservation, after: Reservation
) -> Reservation:
    """Return a reservation with what it needs of the lessee's own; one that failed is losing that."""
    has_failed = before.status is ReservationStatus.ERROR
    if after.spec == before.spec and not has_failed:
        return after
    plugin = context.plugin_for(after.resource_type)
    spec = work.provide(
        plugin, after.id, plugin.decode(before.spec), plugin.decode(after.spec), afresh=has_failed
    )
    after = replace(after, spec=plugin.encode(spec))
    return replace(after, is_deployed=after.is_deployed or exists_ahead(context, lease, after))


def _bookings(
    context: Context,
    lease: Lease,
    revised: Sequence[Reservation],
    ahead: Interval,
    attempt: int,
) -> tuple[tuple[_Booking, ...], Mapping[ResourceId, int]]:
    """Return what each reservation is to hold, and the generations that this relies on."""
    with context.store.read() as transaction:
        allocations = transaction.allocations.of_reservations([each.id for each in lease.reservations])
        states = transaction.resources.get_states({each.resource_id for each in allocations})
    held = holdings_of(allocations)
    searched = [
        (before, after)
        for before, after in zip(lease.reservations, revised, strict=True)
        if after.spec != before.spec
        # What came into a lease after it began is held from then on.
        or any(not each.window.covers(ahead) for each in allocations)
        or not held.get(after.id)
    ]
    searches = []
    for before, after in searched:
        search = search_for(context, lease, after, ahead)
        own = [one for one in allocations if one.reservation_id == after.id]
        wish = replace(
            search.wish,
            held=held.get(after.id, {}),
            is_active=is_active(before),
            in_use=count_in_use(context, before, assign(context, lease, after, own, states)),
        )
        searches.append(replace(search, wish=wish))
    found = _find(context, searches, [after.id for _, after in searched], held, attempt)
    chosen = {after.id: holdings for (_, after), holdings in zip(searched, found.chosen, strict=True)}
    bookings = tuple(
        _Booking(
            reservation=each,
            before=held.get(each.id, {}),
            after=chosen.get(each.id, held.get(each.id, {})),
        )
        for each in revised
    )
    return bookings, found.generations


def _find(
    context: Context,
    searches: Sequence[Search],
    searched: Sequence[ReservationId],
    held: Mapping[ReservationId, Holdings],
    attempt: int,
) -> Found:
    """Return what is found for some of a lease's reservations beside what the others hold.

    At first those that are searched later keep what they have; but one of them may be about to give up
    just what an earlier one asks for.
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
    """Return the events at their new times.

    A start that failed is tried again. A ``before_end_lease`` event that has fired fires again only if
    it was moved into the future; the reference fires it after every update (behaviour 12, 26).
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


def _book(transaction: Transaction, lease: Lease, plan: _Plan) -> None:
    reservation_ids = [each.reservation.id for each in plan.bookings]
    transaction.allocations.claim(plan.generations)
    untouched = {
        resource_id
        for each in plan.bookings
        for resource_id in each.before
        if resource_id not in plan.generations
    }
    transaction.allocations.touch(untouched)
    for each in plan.bookings:
        transaction.allocations.remove(each.reservation.id, each.dropped)
    transaction.allocations.move(reservation_ids, plan.window, began_at=lease.start)
    transaction.allocations.insert(
        [
            Allocation(
                resource_id=resource_id,
                reservation_id=each.reservation.id,
                window=plan.ahead,
                share=share,
            )
            for each in plan.bookings
            for resource_id, share in each.added.items()
        ]
    )


def _summary(before: Lease, after: Lease) -> str:
    """Return what was changed, for the journal."""
    changed = [
        f"{name}: {old:%Y-%m-%d %H:%M} -> {new:%Y-%m-%d %H:%M}"
        for name, old, new in (("start", before.start, after.start), ("end", before.end, after.end))
        if old != new
    ]
    changed += [
        f"reservation {new.id}: {dict(new.spec)}"
        for old, new in zip(before.reservations, after.reservations, strict=True)
        if old.spec != new.spec
    ]
    if before.status is LeaseStatus.ERROR:
        changed.append("what was in error is tried again")
    return "; ".join(changed)
