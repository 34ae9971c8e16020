"""The effect of changes of the cloud on a copy of the data: what moves, what fails, what fits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.booking.clearing import Clearing, Move, plan_clearing
from blazar.booking.context import Context
from blazar.domain.availability import Resource
from blazar.domain.instants import micros
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.planning.booked import booked_times
from blazar.planning.changes import Addition, add_hosts, apply_clearing, closed_hosts, host_names
from blazar.planning.copy import HOSTS, copied
from blazar.planning.history import History, read_history
from blazar.planning.load import load_of
from blazar.planning.loss import AffectedReservation, affected_reservations
from blazar.planning.new_leases import LeaseFile, NewLeaseResult, try_leases
from blazar.planning.replay import Replay, hosts_of, replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes to try."""

    addition: Addition | None = None
    closed: tuple[str, ...] = ()
    """Conditions; hosts that satisfy any of them are closed."""
    window: Interval
    """When they are closed, and for which the utilisation is computed."""
    leases: tuple[LeaseFile, ...] = ()
    history: timedelta
    """How far back requests are replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedReservation:
    """A reservation that gets other hosts."""

    lease_id: str
    lease_name: str
    project_id: str | None
    reservation_id: str
    start: datetime
    end: datetime
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """The reserved part of the hosts' time in the window."""

    hosts: int
    host_hours: float
    """The time in which hosts can be reserved: without that in which they are closed."""
    reserved_hours: float
    """The reserved part of this time: without bookings of closed hosts."""
    peak: int

    @property
    def percent(self) -> float:
        """Return the reserved share of the time, in per cent."""
        return round(100 * self.reserved_hours / self.host_hours, 2) if self.host_hours else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of the changes."""

    made_at: datetime
    window_start: datetime
    window_end: datetime
    added: tuple[str, ...]
    closed: tuple[str, ...]
    moves: tuple[MovedReservation, ...]
    keeping: tuple[AffectedReservation, ...]
    """Reservations that have begun, and keep their closed hosts as with maintenance."""
    failing: tuple[AffectedReservation, ...]
    """Reservations that have not begun, and find no other hosts."""
    leases: tuple[NewLeaseResult, ...]
    utilisation_before: Utilisation
    utilisation_after: Utilisation
    utilisation_before_percent: float
    utilisation_after_percent: float
    history_start: datetime
    replay_before: Replay
    replay_after: Replay
    refused_before_percent: float
    refused_after_percent: float


def try_changes(context: Context, changes: Changes) -> Effects:
    """Return the effects of changes; nothing is stored.

    Hosts are added first, then hosts are closed, and then the leases are tried in their order.

    Raises:
        InvalidParameter: A host or a property does not exist, or the description of a lease is invalid.
    """
    with copied(context) as copy:
        return _effects(copy, changes)


def _effects(copy: Context, changes: Changes) -> Effects:
    now, window = copy.clock.now(), changes.window
    history = read_history(copy, changes.history)
    past = Interval(history.since, now)
    before, present = _utilisation(copy, window, ()), hosts_of(copy)
    added = () if changes.addition is None else add_hosts(copy, changes.addition)
    closed = closed_hosts(copy, changes.closed)
    clearing = _close(copy, closed, window)
    names = host_names(copy)
    leases = try_leases(copy, changes.leases, names)
    after = _utilisation(copy, window, closed)
    first, second = _replays(copy, history, past, present, closed)
    return Effects(
        made_at=now,
        window_start=window.start,
        window_end=window.end,
        added=added,
        closed=tuple(sorted(names[each] for each in closed)),
        moves=tuple(_moved(each, names) for each in clearing.moves),
        keeping=tuple(affected_reservations(clearing.active, names, now)),
        failing=tuple(affected_reservations(clearing.unmovable, names, now)),
        leases=leases,
        utilisation_before=before,
        utilisation_after=after,
        utilisation_before_percent=before.percent,
        utilisation_after_percent=after.percent,
        history_start=past.start,
        replay_before=first,
        replay_after=second,
        refused_before_percent=first.refused_percent,
        refused_after_percent=second.refused_percent,
    )


def _close(copy: Context, closed: Collection[ResourceId], window: Interval) -> Clearing:
    if not closed:
        return Clearing()
    clearing = plan_clearing(copy, HOSTS, closed, window)
    apply_clearing(copy, clearing, closed, window)
    return clearing


def _replays(
    copy: Context,
    history: History,
    past: Interval,
    present: Sequence[Resource],
    closed: Collection[ResourceId],
) -> tuple[Replay, Replay]:
    """Return the replays on the present hosts, and on the changed ones."""
    changed = hosts_of(copy, closed)
    first = replay(copy, history.recent, history.refused, present, past)
    is_same = {each.id for each in present} == {each.id for each in changed}
    return first, first if is_same else replay(copy, history.recent, history.refused, changed, past)


def _utilisation(copy: Context, window: Interval, closed: Collection[ResourceId]) -> Utilisation:
    hour = timedelta(hours=1) / timedelta(microseconds=1)
    usable = {each.id for each in hosts_of(copy)}
    booked = {key: each for key, each in booked_times(copy, window).reserved.items() if key not in closed}
    load = load_of(((start, end, 1.0) for each in booked.values() for start, end in each), window)
    hours = window.duration / timedelta(hours=1)
    first, last = micros(window.start), micros(window.end)
    reserved = sum(
        max(0, min(end, last) - max(start, first)) for each in booked.values() for start, end in each
    )
    return Utilisation(
        hosts=len(usable),
        host_hours=round(hours * len(usable - set(closed)), 2),
        reserved_hours=round(reserved / hour, 2),
        peak=round(load.peak),
    )


def _moved(move: Move, names: Mapping[ResourceId, str]) -> MovedReservation:
    lease = move.lease
    return MovedReservation(
        lease_id=lease.id,
        lease_name=lease.name,
        project_id=lease.project_id,
        reservation_id=move.reservation.id,
        start=lease.start,
        end=lease.end,
        removed=tuple(sorted(names.get(key, key) for key in move.removed)),
        added=tuple(sorted(names.get(key, key) for key in move.added)),
    )
