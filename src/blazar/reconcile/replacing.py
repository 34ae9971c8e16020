"""Other resources for those that cannot be handed over when their lease starts.

The books are changed first and the cloud follows: the next pass over the lease finds its new resources.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from blazar.app.choosing import beside, find_resources, holdings_of, search_for
from blazar.app.context import Context
from blazar.domain.capacity import Share
from blazar.domain.errors import BadRequest, Conflict
from blazar.domain.lease import Allocation, Lease, Reservation, ResourceId
from blazar.plugins.contract import Unusable
from blazar.ports.store import Claim, JournalEntry

_logger = logging.getLogger(__name__)
_NOTHING = object()


def replace_resources(
    context: Context,
    claim: Claim,
    actor: str,
    lease: Lease,
    held: Sequence[Allocation],
    unusable: Mapping[ResourceId, Unusable],
) -> Lease | None:
    """Give a reservation other resources, or fewer if that is enough for it.

    Args:
        context: The context.
        claim: The right to work on the lease.
        actor: Who works, for the journal.
        lease: The lease, as it was read last.
        held: All allocations of one of its reservations.
        unusable: Which of its resources cannot be handed over, and why.

    Returns:
        The lease at its new revision; None if there is nothing that could take their place.

    Raises:
        ConcurrentUpdate: Somebody else was faster, or the claim was taken over; nothing has changed.
    """
    reservation = next(each for each in lease.reservations if each.id == held[0].reservation_id)
    remaining = {each.resource_id: each.share for each in held if each.resource_id not in unusable}
    search = search_for(context, lease, reservation, held[0].window)
    # What was handed over already is kept.
    wish = replace(
        search.wish,
        held=remaining,
        is_active=True,
        excluded=frozenset(unusable),
        beside=_held_by_others(context, lease, reservation),
    )
    try:
        found = find_resources(context, [replace(search, wish=wish)], claim.attempts)
    except (BadRequest, Conflict) as error:
        # A requirement may have become impossible to ask for: the last host with its property has gone.
        _logger.info("nothing can take the place of %s: %s", ", ".join(sorted(unusable)), error)
        return None
    added = {key: share for key, share in found.chosen[0].items() if remaining.get(key, _NOTHING) != share}
    now = context.clock.now()
    with context.store.begin() as transaction:
        after = transaction.leases.replace(lease, lease, now)
        transaction.work.keep(claim)
        transaction.allocations.claim(
            {key: generation for key, generation in found.generations.items() if key in added}
        )
        transaction.allocations.touch(unusable)
        # A share that grows is written anew.
        transaction.allocations.remove(reservation.id, [*unusable, *(added.keys() & remaining.keys())])
        window = held[0].window
        transaction.allocations.insert(
            [
                Allocation(resource_id=key, reservation_id=reservation.id, window=window, share=share)
                for key, share in added.items()
            ]
        )
        transaction.journal.append(
            [_entry(reservation, each, list(added), why, now, actor) for each, why in unusable.items()]
        )
        transaction.commit()
    for resource_id, why in unusable.items():
        _logger.warning("reservation %s gives up resource %s: %s", reservation.id, resource_id, why.reason)
    return after


def _held_by_others(
    context: Context, lease: Lease, reservation: Reservation
) -> Mapping[ResourceId, tuple[Share | None, ...]]:
    others = [each.id for each in lease.reservations if each.id != reservation.id]
    with context.store.read() as transaction:
        allocations = transaction.allocations.of_reservations(others)
    return beside(holdings_of(allocations).values())


def _entry(
    reservation: Reservation,
    given_up: ResourceId,
    added: Sequence[ResourceId],
    why: Unusable,
    at: datetime,
    actor: str,
) -> JournalEntry:
    return JournalEntry(
        at=at,
        lease_id=reservation.lease_id,
        reservation_id=reservation.id,
        event="reservation.replaced",
        reason=f"{given_up} -> {', '.join(added) or 'nothing'}: {why.reason}",
        actor=actor,
    )
