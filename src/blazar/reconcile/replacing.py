"""Replacement of resources that cannot serve a reservation.

The database is changed first and the cloud follows: the next pass over the lease finds the new resources.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.booking.past_uses import record_uses
from blazar.booking.reports import list_reported
from blazar.booking.search import Found, Search, find_resources, holdings_of, search_for
from blazar.booking.shares import beside
from blazar.booking.specs import booked_window_of
from blazar.booking.transitions import record_changes
from blazar.domain.capacity import Share
from blazar.domain.errors import BadRequest, Conflict
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, Lease, Reservation, ResourceId
from blazar.domain.lifecycle import has_started
from blazar.ports.journal import JournalEntry
from blazar.ports.work import Claim

_logger = logging.getLogger(__name__)
_NOTHING = object()
_MOMENT = timedelta(microseconds=1)
_NEVER_HELD = {"nothing": "it held less than was reserved"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing:
    """A replacement of resources of one reservation."""

    context: Context
    lease: Lease
    """The lease as last read."""
    reservation: Reservation
    held: Sequence[Allocation]
    """All allocations of the reservation."""
    reasons: Mapping[ResourceId, str]
    """The resources to replace, with the reason for each."""
    avoided: frozenset[ResourceId] = frozenset()
    """Further resources that must not be chosen."""
    was_used: bool = False
    """Whether the lessee may have used the replaced resources, so that cleaning time applies."""

    @property
    def remaining(self) -> Holdings:
        """Return the resources that the reservation keeps in any case."""
        return {each.resource_id: each.share for each in self.held if each.resource_id not in self.reasons}

    def find(self, attempt: int) -> Found | None:
        """Return the new holdings of the reservation; fewer resources are possible if they are enough.

        Args:
            attempt: See :func:`~blazar.booking.search.find_resources`.

        Returns:
            None if no replacement is available, or the lease has ended since it was read.
        """
        if self.context.clock.now() >= self.lease.end:
            return None
        try:
            return find_resources(self.context, [self._search(self.avoided | self.reasons.keys())], attempt)
        except (BadRequest, Conflict) as error:
            # The request may have become impossible, for example if the last host with a property is gone.
            what = ", ".join(sorted(self.reasons)) or "missing resources"
            _logger.info("no replacement found: resource=%s reason=%s", what, error)
            return None

    def is_enough(self) -> bool:
        """Return whether the kept resources satisfy the reservation."""
        collection = self.context.plugin_for(self.reservation.resource_type).collection
        with self.context.store.read() as transaction:
            everything = transaction.availability.all_generations(collection).keys()
        try:
            find_resources(self.context, [self._search(everything)], 0)
        except (BadRequest, Conflict):
            return False
        return True

    def _search(self, excluded: Collection[ResourceId]) -> Search:
        """Return the search for the new holdings, without new resources that are excluded."""
        others = [each.id for each in self.lease.reservations if each.id != self.reservation.id]
        with self.context.store.read(of_one_instant=False) as transaction:
            reported = list_reported(transaction, [self.lease.id])[self.lease.id]
            held_by_others = transaction.allocations.of_reservations(others)
        search = search_for(self.context, self.lease, self.reservation, self._window, reported)
        wish = replace(
            search.wish,
            held=self.remaining,
            is_active=True,  # healthy resources that were handed over or reserved are kept
            excluded=search.wish.excluded.union(excluded) - self.remaining.keys(),
            beside=beside(holdings_of(held_by_others).values()),
        )
        return replace(search, wish=wish)

    def added(self, found: Found) -> Holdings:
        """Return the added resources; a share that grows is included with its new size."""
        remaining = self.remaining
        return {key: each for key, each in found.chosen[0].items() if remaining.get(key, _NOTHING) != each}

    def store(self, found: Found, after: Lease, claim: Claim, actor: str) -> Lease:
        """Store the replacement.

        Args:
            found: The result of :meth:`find`.
            after: The new state of the lease.
            claim: The claim on the lease.
            actor: The actor recorded in the journal.

        Returns:
            The lease at its new revision.

        Raises:
            ConcurrentUpdate: A concurrent update was faster, or the claim was taken over; nothing was stored.
        """
        remaining, added = self.remaining, self.added(found)
        now = self.context.clock.now()
        with self.context.store.begin() as transaction:
            after = transaction.leases.replace(self.lease, after, now)
            transaction.allocations.claim(
                {key: generation for key, generation in found.generations.items() if key in added},
                {(key, self.reservation.id) for key in added},
            )
            if self.was_used:
                record_uses(self.context, transaction, self.reservation.id, self.reasons.keys(), now)
            # A share that grows is removed and inserted again.
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
            record_changes(self.context, transaction, self.lease, after, actor, now)
            # As late as possible: if a resource fails, all its leases wait for its row at the same time. But
            # resources before work: recording a failure locks them in this order, too.
            transaction.allocations.touch_bookings([(key, self.reservation.id) for key in self.reasons])
            transaction.work.keep(claim)
            transaction.commit()
        for resource_id, reason in self.reasons.items():
            _logger.warning(
                "reservation loses a resource: reservation_id=%s resource=%s reason=%s",
                self.reservation.id,
                resource_id,
                reason,
            )
        return after

    @property
    def _window(self) -> Interval:
        """Return the window for which the resources are needed, without the part that has passed.

        The end may pass while a manager searches and stores; the window is then the last moment.
        """
        start = self.held[0].window.start if self.held else self.lease.start
        start = max(start, self.context.clock.now())
        return Interval(min(start, self.lease.end - _MOMENT), self.lease.end)

    def _allocation(self, resource_id: ResourceId, share: Share | None) -> Allocation:
        return Allocation(
            resource_id=resource_id,
            reservation_id=self.reservation.id,
            window=booked_window_of(self.context.plugins, self.reservation, self._window),
            share=share,
        )

    def _to_be_cleaned(self, now: datetime) -> Sequence[Allocation]:
        if not self.was_used or not self.context.settings.leases.cleaning_time:
            return []
        return [
            replace(
                each,
                window=Interval.at_least_an_instant(each.window.start, now),
                released_at=now,
            )
            for each in self.held
            if each.resource_id in self.reasons and (has_started(self.lease) or each.window.start < now)
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
