"""Other resources for those of a reservation that cannot serve it.

The books are changed first and the cloud follows: the next look at the lease finds its new resources.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from blazar.booking.search import Found, Search, beside, find_resources, holdings_of, search_for
from blazar.booking.context import Context
from blazar.domain.capacity import Share
from blazar.domain.errors import BadRequest, Conflict
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, Lease, Reservation, ResourceId
from blazar.ports.store import JournalEntry
from blazar.ports.work import Claim
from blazar.reconcile.telling import tell

_logger = logging.getLogger(__name__)
_NOTHING = object()
_NEVER_HELD = {"nothing": "it held less than it was promised"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing:
    """A reservation whose resources are to be replaced."""

    context: Context
    lease: Lease
    """As it was read last."""
    reservation: Reservation
    held: Sequence[Allocation]
    """All that the reservation holds."""
    reasons: Mapping[ResourceId, str]
    """Which of that is to be replaced, and why."""
    avoided: frozenset[ResourceId] = frozenset()
    """What must not be chosen besides."""
    was_used: bool = False
    """The lessee may have used what is to be replaced, so that cleaning time is owed."""

    @property
    def remaining(self) -> Holdings:
        """Return what the reservation keeps in any case."""
        return {each.resource_id: each.share for each in self.held if each.resource_id not in self.reasons}

    def find(self, attempt: int) -> Found | None:
        """Return what the reservation is to hold, which may be fewer resources if that is enough for it.

        Args:
            attempt: As for :func:`~blazar.booking.search.find_resources`.

        Returns:
            None if there is nothing that could take their place.
        """
        try:
            return find_resources(self.context, [self._search(self.avoided | self.reasons.keys())], attempt)
        except (BadRequest, Conflict) as error:
            # What is asked for may have become impossible: the last host with a property has gone, say.
            what = ", ".join(sorted(self.reasons)) or "what was never there"
            _logger.info("nothing can take the place of %s: %s", what, error)
            return None

    def is_enough(self) -> bool:
        """Return whether what the reservation keeps is all that it needs."""
        collection = self.context.plugin_for(self.reservation.resource_type).collection
        with self.context.store.read() as transaction:
            everything = transaction.availability.all_generations(collection).keys()
        try:
            find_resources(self.context, [self._search(everything)], 0)
        except (BadRequest, Conflict):
            return False
        return True

    def _search(self, excluded: Collection[ResourceId]) -> Search:
        """Return the search for what the reservation is to hold, without anything new that is excluded."""
        search = search_for(self.context, self.lease, self.reservation, self._window)
        wish = replace(
            search.wish,
            held=self.remaining,
            is_active=True,  # what was handed over, or promised, and is as it should be, is kept
            excluded=frozenset(excluded) - self.remaining.keys(),
            beside=self._held_by_others(),
        )
        return replace(search, wish=wish)

    def added(self, found: Found) -> Holdings:
        """Return what comes in their place; a share that grows is among it, as it will be."""
        remaining = self.remaining
        return {key: each for key, each in found.chosen[0].items() if remaining.get(key, _NOTHING) != each}

    def store(self, found: Found, after: Lease, claim: Claim, actor: str) -> Lease:
        """Change the books.

        Args:
            found: What :meth:`find` found.
            after: The lease as it is to be from now on.
            claim: The right to work on it.
            actor: Who works, for the journal.

        Returns:
            The lease at its new revision.

        Raises:
            ConcurrentUpdate: Somebody else was faster, or the claim was taken over; nothing has changed.
        """
        remaining, added = self.remaining, self.added(found)
        now = self.context.clock.now()
        with self.context.store.begin() as transaction:
            after = transaction.leases.replace(self.lease, after, now)
            transaction.allocations.claim(
                {key: generation for key, generation in found.generations.items() if key in added}
            )
            transaction.allocations.touch(self.reasons)
            # A share that grows is written anew.
            transaction.allocations.remove(
                self.reservation.id, [*self.reasons, *(added.keys() & remaining.keys())]
            )
            transaction.allocations.insert(
                [
                    *(self._allocation(key, share) for key, share in added.items()),
                    *self._to_be_cleaned(now),
                ]
            )
            transaction.journal.append(self._entries(list(added), now, actor))
            tell(self.context, transaction, self.lease, after, actor, now)
            # Resources before work, like everybody else: who notes a failure locks them in this order, too.
            transaction.work.keep(claim)
            transaction.commit()
        for resource_id, reason in self.reasons.items():
            _logger.warning(
                "reservation %s gives up resource %s: %s", self.reservation.id, resource_id, reason
            )
        return after

    @property
    def _window(self) -> Interval:
        """Return when the resources are needed: what was before has passed."""
        window = self.held[0].window if self.held else Interval(self.lease.start, self.lease.end)
        return Interval(max(window.start, self.context.clock.now()), window.end)

    def _held_by_others(self) -> Mapping[ResourceId, tuple[Share | None, ...]]:
        others = [each.id for each in self.lease.reservations if each.id != self.reservation.id]
        with self.context.store.read() as transaction:
            allocations = transaction.allocations.of_reservations(others)
        return beside(holdings_of(allocations).values())

    def _allocation(self, resource_id: ResourceId, share: Share | None) -> Allocation:
        return Allocation(
            resource_id=resource_id,
            reservation_id=self.reservation.id,
            window=self._window,
            share=share,
        )

    def _to_be_cleaned(self, now: datetime) -> Sequence[Allocation]:
        if not self.was_used or not self.context.settings.leases.cleaning_time:
            return []
        return [
            replace(each, window=Interval(each.window.start, now), released_at=now)
            for each in self.held
            if each.resource_id in self.reasons and each.window.start < now
        ]

    def _entries(self, added: Sequence[ResourceId], at: datetime, actor: str) -> Sequence[JournalEntry]:
        return [
            JournalEntry(
                at=at,
                lease_id=self.lease.id,
                reservation_id=self.reservation.id,
                event="reservation.replaced",
                reason=f"{given_up} -> {', '.join(added) or 'nothing'}: {reason}",
                actor=actor,
            )
            for given_up, reason in (self.reasons or _NEVER_HELD).items()
        ]
