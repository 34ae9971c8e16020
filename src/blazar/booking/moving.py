"""Storing moves of reservations to other resources. The cloud follows with the next reconcile pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from blazar.booking.clearing import Move
from blazar.booking.context import Context
from blazar.booking.scheduling import next_pass_of, reschedule_missing
from blazar.domain.lease import ResourceId
from blazar.domain.wording import first_few
from blazar.ports.journal import JournalEntry
from blazar.ports.store import Transaction

MOVED = "reservation.moved"
"""The journal's event; its reason lists the resources and says why they were replaced."""


def connected(moves: Sequence[Move]) -> Iterator[Sequence[Move]]:
    """Yield groups of moves to store in one transaction each, in the order of the moves.

    Moves are in one group if they change the same lease, or if one takes the resource that another leaves.
    """
    group_of: dict[object, int] = {}
    groups: dict[int, list[Move]] = {}
    for number, move in enumerate(moves):
        keys = {move.lease.id, *move.removed, *move.added}
        joined = {group_of[key] for key in keys if key in group_of}
        merged = [each for one in sorted(joined) for each in groups.pop(one)]
        groups[number] = [*merged, move]
        for each in groups[number]:
            group_of.update(dict.fromkeys((each.lease.id, *each.removed, *each.added), number))
    yield from groups.values()


def store_moves(
    context: Context, moves: Sequence[Move], generations: Mapping[ResourceId, int], reason: str, actor: str
) -> None:
    """Store connected moves in one transaction.

    Args:
        context: The context.
        moves: A group of :func:`connected`.
        generations: The generation of each added resource when it was free, or was to become free.
        reason: Why the reservations move, for the journal.
        actor: The actor recorded in the journal.

    Raises:
        ConcurrentUpdate: A lease or a resource was changed meanwhile; nothing was stored.
    """
    leases = {move.lease.id: move.lease for move in moves}
    now = context.clock.now()
    with context.store.begin() as transaction:
        stored = {key: transaction.leases.replace(lease, lease, now) for key, lease in sorted(leases.items())}
        _book(transaction, moves, generations)
        transaction.journal.append(_entries(context, transaction, moves, reason, actor))
        for lease in stored.values():
            is_prepared = any(each.is_deployed for each in lease.reservations)
            transaction.work.schedule([lease.id], now if is_prepared else next_pass_of(context, lease))
        reschedule_missing(context, transaction)
        transaction.commit()


def _book(transaction: Transaction, moves: Sequence[Move], generations: Mapping[ResourceId, int]) -> None:
    added = {(key, move.reservation.id) for move in moves for key in move.added}
    removed = {(key, move.reservation.id) for move in moves for key in move.removed}
    claimed = {key for key, _ in added}
    allocations = transaction.allocations
    # A resource may be left by one move and taken by another.
    allocations.claim(
        {key: generations[key] for key in sorted(claimed)},
        added | {each for each in removed if each[0] in claimed},
    )
    allocations.touch_bookings({each for each in removed if each[0] not in claimed})
    for move in moves:
        allocations.remove(move.reservation.id, move.removed)
    allocations.insert([each for move in moves for _, each in sorted(move.added.items())])


def _entries(
    context: Context, transaction: Transaction, moves: Sequence[Move], reason: str, actor: str
) -> list[JournalEntry]:
    names = transaction.maintenances.names_of({key for move in moves for key in (*move.removed, *move.added)})

    def named(keys: Iterable[ResourceId]) -> str:
        return first_few(sorted(names.get(key, key) for key in keys))

    return [
        JournalEntry(
            at=context.clock.now(),
            lease_id=move.lease.id,
            reservation_id=move.reservation.id,
            event=MOVED,
            reason=f"{named(move.removed)} -> {named(move.added)}: {reason}",
            actor=actor,
        )
        for move in moves
    ]
