"""Clearing resources for a period: which upcoming reservations can move to others, and which cannot."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from blazar.booking.context import Context
from blazar.booking.reports import read_reported
from blazar.booking.search import Found, find_in_window, holdings_of, search_for
from blazar.booking.shares import beside
from blazar.booking.specs import intact_spec, requirement_of
from blazar.booking.visibility import visible_to
from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.errors import BlazarError, ConcurrentUpdate
from blazar.domain.instants import MICROSECOND, micros
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Allocation,
    Holdings,
    Lease,
    LeaseId,
    LeaseStatus,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
)
from blazar.domain.lifecycle import has_started
from blazar.domain.moves import Moves, Piece, plan_moves
from blazar.domain.requirements import Requirement
from blazar.plugins.capabilities import RequiresProperties
from blazar.ports.maintenance import AffectedAllocation

_logger = logging.getLogger(__name__)

_FOREVER: Final = 2**62
_NOT_AHEAD: Final = frozenset({LeaseStatus.DELETING, LeaseStatus.TERMINATING, LeaseStatus.TERMINATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """New resources for a reservation that has not started."""

    lease: Lease
    reservation: Reservation
    removed: frozenset[ResourceId]
    added: Mapping[ResourceId, Allocation]


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A reservation that keeps a resource for which there is another plan."""

    lease: Lease
    reservation: Reservation
    allocation: Allocation


@dataclass(slots=True, kw_only=True)
class Clearing:
    """The plan to clear resources."""

    moves: list[Move] = field(default_factory=list)
    active: list[Affected] = field(default_factory=list)
    """Holdings of leases that have begun."""
    unmovable: list[Affected] = field(default_factory=list)
    """Holdings of leases that have not begun, for which no other resource was found."""
    cleared: dict[ResourceId, int] = field(default_factory=dict)
    """The resources to clear, with their generations when the plan was made."""
    generations: dict[ResourceId, int] = field(default_factory=dict)
    """The generations of the resources that the moves need, when they were free."""


def plan_clearing(
    context: Context,
    collection: str,
    resource_ids: Collection[ResourceId],
    window: Interval,
    *,
    are_lost: bool = False,
) -> Clearing:
    """Return how to clear resources of a collection for a period; nothing is stored.

    Reservations of leases that have not begun get other resources, under the conditions of their requests and
    with as few moves as possible. The same data always give the same plan.

    Args:
        context: The context.
        collection: The collection.
        resource_ids: The resources to clear.
        window: The period.
        are_lost: Whether the resources fail now, so that reservations which have begun also need others, from
            now on. Such a plan is not for :func:`~blazar.booking.moving.store_moves`.
    """
    cleared, clearing = frozenset(resource_ids), Clearing()
    with context.indexes[collection].searching() as view:
        clearing.cleared = {key: view.generation_of(key) for key in sorted(cleared) if view.get(key)}
    ahead: list[Affected] = []
    for each in _read(context, cleared, window):
        if _is_ahead(context, each.lease, each.reservation):
            ahead.append(each)
        elif not are_lost:
            clearing.active.append(each)
        elif _is_needed(context, each):
            ahead.append(replace(each, allocation=_from_now(context, each.allocation)))
    pieces = [each for each in ahead if _is_piece(context, each)]
    _Wholes(context, collection, cleared, clearing).plan(pieces)
    _plan_one_by_one(context, cleared, clearing, [each for each in ahead if not _is_piece(context, each)])
    return clearing


def _read(context: Context, resource_ids: Collection[ResourceId], window: Interval) -> Sequence[Affected]:
    with context.store.read() as transaction:
        found = transaction.maintenances.allocations_within(resource_ids, window)
        leases = {each.id: each for each in transaction.leases.get_many({each.lease_id for each in found})}
    return list(_with_leases(found, leases))


def _with_leases(found: Iterable[AffectedAllocation], leases: Mapping[LeaseId, Lease]) -> Iterable[Affected]:
    for each in found:
        lease = leases.get(each.lease_id)
        for reservation in () if lease is None else lease.reservations:
            if lease is not None and reservation.id == each.allocation.reservation_id:
                yield Affected(lease=lease, reservation=reservation, allocation=each.allocation)


def _is_ahead(context: Context, lease: Lease, reservation: Reservation) -> bool:
    """Return whether the lessee cannot use the reservation yet."""
    return (
        not has_started(lease)
        and lease.start > context.clock.now()
        and lease.status not in _NOT_AHEAD
        and not lease.is_deleting
        and reservation.status is ReservationStatus.PENDING
    )


def _is_needed(context: Context, each: Affected) -> bool:
    """Return whether the lessee of a lease that has begun can still use the resource."""
    lease = each.lease
    is_over = lease.status in _NOT_AHEAD or lease.is_deleting
    return not is_over and each.allocation.window.end > context.clock.now()


def _from_now(context: Context, allocation: Allocation) -> Allocation:
    return replace(allocation, window=allocation.window.after(context.clock.now()))


def _is_piece(context: Context, each: Affected) -> bool:
    """Return whether any resource that satisfies the requirement of the reservation can replace another."""
    plugin = context.plugins.get(each.reservation.resource_type)
    return (
        isinstance(plugin, RequiresProperties)
        and each.allocation.share is None
        and each.reservation.grouping is None
        and not each.reservation.is_damaged
    )


class _Wholes:
    """Reservations of whole resources, which are planned together."""

    def __init__(
        self, context: Context, collection: str, cleared: frozenset[ResourceId], clearing: Clearing
    ) -> None:
        self._context = context
        self._collection = collection
        self._index = context.indexes[collection]
        self._cleared = cleared
        self._clearing = clearing
        self._reported: dict[LeaseId, frozenset[ResourceId]] = {}
        self._now = context.clock.now()
        self._cleaning = context.settings.leases.cleaning_time

    def plan(self, leaving: Sequence[Affected]) -> None:
        """Add the moves of these reservations."""
        if not leaving:
            return
        for requirement in {self._requirement(each) for each in leaving}:
            if requirement.conditions:
                self._index.prepare(requirement)
        self._note_reports(leaving)
        plan = self._solve(leaving, ())
        everything = leaving
        if plan.unmovable:
            # Reservations that could stay may make room. Reading them takes longer, so they come second.
            movable = self._read_movable([leaving[each] for each in plan.unmovable])
            self._note_reports(movable)
            everything = [*leaving, *movable]
            plan = self._solve(leaving, movable)
        self._clearing.unmovable += [everything[each] for each in sorted(plan.unmovable)]
        self._add(everything, plan.targets)

    def _note_reports(self, affected: Iterable[Affected]) -> None:
        """Read which resources were reported for the leases of these reservations."""
        unread = {each.lease.id for each in affected} - self._reported.keys()
        self._reported |= read_reported(self._context, unread)

    def _requirement(self, each: Affected) -> Requirement:
        plugin = self._context.plugin_for(each.reservation.resource_type)
        return requirement_of(plugin, intact_spec(plugin, each.reservation))

    def _solve(self, leaving: Sequence[Affected], movable: Sequence[Affected]) -> Moves:
        everything = [*leaving, *movable]
        window = _covering(everything).widened(self._cleaning)
        with self._index.searching_on() as view:
            candidates = self._candidates(view)
            visible = {
                key: visible_to(self._context, self._collection, view, key)
                for key in {each.lease.project_id for each in everything}
            }
            pieces = [self._piece(visible[each.lease.project_id], candidates, each) for each in everything]
            of_pieces = {
                (piece.position, code)
                for piece, each in zip(pieces[len(leaving) :], movable, strict=True)
                for code in view.bookings.owner_codes([each.reservation.id]).tolist()
            }
            fixed = list(self._fixed(view, candidates, window, of_pieces))
            # Not by position, which differs between managers: they would show and do different moves.
            order = np.asarray(view.in_order(np.ones(len(candidates), np.bool_)))
        return plan_moves(pieces, range(len(leaving)), fixed, order=order)

    def _candidates(self, view: Availability) -> Mask:
        return view.reservable() & ~view.mask_of(self._cleared)

    def _piece(self, view: Availability, candidates: Mask, each: Affected) -> Piece:
        position = view.position_of(each.allocation.resource_id)
        allowed = view.matching(self._requirement(each)) & candidates
        if reported := self._reported[each.lease.id]:
            allowed &= ~view.mask_of(reported)
        if position is not None and each.allocation.resource_id not in self._cleared:
            allowed[position] = True
        window = each.allocation.window
        return Piece(
            position=-1 if position is None else position,
            start=micros(window.start),
            end=micros(window.end) + self._cleaning // MICROSECOND,
            allowed=allowed,
        )

    def _fixed(
        self, view: Availability, candidates: Mask, window: Interval, of_pieces: Container[tuple[int, int]]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield the bookings that stay, as :func:`~blazar.domain.moves.plan_moves` expects them."""
        rows, now = view.bookings.rows, micros(self._now)
        for part in view.bookings.sorted_rows(candidates, window, present=self._now):
            found = rows.take(part)
            # A resource that should have been released by now, and was not, may stay held for a long time.
            ends = np.where(found.held & (found.ends <= now), _FOREVER, found.ends)
            columns = (found.positions, found.owners, found.starts, ends + self._cleaning // MICROSECOND)
            for position, owner, start, end in zip(*(each.tolist() for each in columns), strict=True):
                if (position, owner) not in of_pieces:
                    yield position, start, end

    def _read_movable(self, waiting: Sequence[Affected]) -> Sequence[Affected]:
        """Return the reservations that hold resources which the waiting ones could take."""
        with self._index.searching_on() as view:
            candidates = self._candidates(view)
            wanted = np.zeros(len(candidates), np.bool_)
            for requirement in {self._requirement(each) for each in waiting}:
                wanted |= view.matching(requirement) & candidates
            ids = [view.resource_at(each).id for each in np.flatnonzero(wanted).tolist()]
        return [
            each
            for each in _read(self._context, ids, _covering(waiting))
            if _is_ahead(self._context, each.lease, each.reservation) and _is_piece(self._context, each)
        ]

    def _add(self, everything: Sequence[Affected], targets: Mapping[int, int]) -> None:
        moved: dict[ReservationId, list[tuple[Affected, ResourceId]]] = defaultdict(list)
        with self._index.searching_on() as view:
            for number, position in sorted(targets.items()):
                resource = view.resource_at(position)
                self._clearing.generations[resource.id] = resource.generation
                each = everything[number]
                moved[each.reservation.id].append((each, resource.id))
        self._clearing.moves += [
            Move(
                lease=own[0][0].lease,
                reservation=own[0][0].reservation,
                removed=frozenset(each.allocation.resource_id for each, _ in own),
                added={to: replace(each.allocation, resource_id=to) for each, to in own},
            )
            for own in moved.values()
        ]


def _covering(everything: Sequence[Affected]) -> Interval:
    windows = [each.allocation.window for each in everything]
    return Interval(min(each.start for each in windows), max(each.end for each in windows))


def _plan_one_by_one(
    context: Context, cleared: frozenset[ResourceId], clearing: Clearing, ahead: Sequence[Affected]
) -> None:
    """Add the moves of reservations for which only their plugin can choose resources."""
    grouped: dict[ReservationId, list[Affected]] = defaultdict(list)
    for each in ahead:
        grouped[each.reservation.id].append(each)
    reported = read_reported(context, {each.lease.id for each in ahead})
    for own in grouped.values():
        move = _find_move(context, cleared, clearing, own[0], reported[own[0].lease.id])
        if move is None:
            clearing.unmovable += own
        else:
            clearing.moves.append(move)


def _find_move(
    context: Context,
    cleared: frozenset[ResourceId],
    clearing: Clearing,
    each: Affected,
    reported: frozenset[ResourceId],
) -> Move | None:
    lease, reservation = each.lease, each.reservation
    with context.store.read() as transaction:
        held = transaction.allocations.of_reservations([other.id for other in lease.reservations])
    holdings = holdings_of(held)
    if reservation.id not in holdings:
        raise ConcurrentUpdate(f"Lease {lease.id} has been deleted or changed meanwhile")
    own = holdings[reservation.id]
    keeping = {key: share for key, share in own.items() if key not in cleared}
    out = cleared | reported
    found = _search(context, out, clearing, each, keeping, holdings)
    if found is None and reservation.grouping is not None and reservation.grouping.same is not None:
        # All must have the same value of a property, so the others may have to move, too.
        found = _search(context, out, clearing, each, {}, holdings)
    if found is None:
        return None
    chosen = found.chosen[0]
    added = {key: share for key, share in chosen.items() if key not in own or own[key] != share}
    removed = frozenset(key for key in own if key not in chosen or key in added)
    clearing.generations.update({key: found.generations[key] for key in added})
    window = each.allocation.window
    return Move(
        lease=lease,
        reservation=reservation,
        removed=removed,
        added={
            key: Allocation(resource_id=key, reservation_id=reservation.id, window=window, share=share)
            for key, share in added.items()
        },
    )


def _search(
    context: Context,
    out: frozenset[ResourceId],
    clearing: Clearing,
    each: Affected,
    keeping: Holdings,
    holdings: Mapping[ReservationId, Holdings],
) -> Found | None:
    """Return the new holdings of a reservation that keeps some of its resources, or None.

    Resources that are *out* are only kept.
    """
    window = each.allocation.window
    taken: list[Holdings] = [holdings.get(key, {}) for key in holdings if key != each.reservation.id]
    for move in clearing.moves:
        taken += [
            {key: one.share}
            for key, one in move.added.items()
            if one.window.overlaps(window) and one.reservation_id != each.reservation.id
        ]
    wholes = {key for part in taken for key, share in part.items() if share is None}
    try:
        search = search_for(context, each.lease, each.reservation, window, out)
        wish = replace(
            search.wish,
            held=keeping,
            is_active=True,
            excluded=frozenset((search.wish.excluded | wholes) - keeping.keys()),
            beside=beside({key: share for key, share in part.items() if share} for part in taken),
        )
        return find_in_window(context, [replace(search, wish=wish)], window)
    except BlazarError as error:
        # The request may have become impossible, for example if the last host with a property is gone.
        _logger.info("no other resources found: reservation_id=%s reason=%s", each.reservation.id, error)
        return None
