"""Healing: what is done about a lease whose resources have failed.

What has not started is moved to other resources, as few of them as possible. What is active is not taken
away from its lessee: only a resource that is idle is replaced. What a reservation has lacked from the
beginning, because it was promised twice where it was taken over from, is sought in the same way. Whoever
finds out that a resource has failed, or has come back, has the leases that hold it looked at; the look itself
begins here, from what is so now.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from blazar.booking.search import Found
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.domain.errors import CannotChange, CloudError, ConcurrentUpdate, Unavailable
from blazar.domain.lease import (
    Lease,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
)
from blazar.domain.lifecycle import Phase, reservation_phase
from blazar.ports.work import Claim
from blazar.reconcile.books import Books, read_books
from blazar.reconcile.claims import Interrupted
from blazar.reconcile.replacing import Replacing

_CLAIM_ATTEMPTS = 8
"""How often another resource is sought, because somebody else was faster."""
_SOON = timedelta(seconds=1)
"""What is given up before it is written down that something is missing wakes nobody: look once more."""
_NO_RESOURCES: frozenset[ResourceId] = frozenset()

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Healing:
    """What came of it: the lease and its books as they are now."""

    lease: Lease
    books: Books
    missing: set[ReservationId] = field(default_factory=set)
    """Reservations that hold failed resources in whose place there is nothing yet."""
    unclear: set[ReservationId] = field(default_factory=set)
    """Reservations of which the cloud did not say; nothing changes for them."""
    look_again: timedelta | None = None

    def look_after(self, pause: timedelta) -> None:
        """Have the lease looked at again after this time, or sooner."""
        if pause > timedelta(0):
            self.look_again = pause if self.look_again is None else min(self.look_again, pause)


def heal(
    context: Context,
    claim: Claim,
    actor: str,
    lease: Lease,
    phase: Phase,
    before_each: Callable[[], None],
) -> Healing:
    """Give a lease other resources for those that have failed, where that can be.

    Args:
        context: The context.
        claim: The right to work on the lease.
        actor: Who works, for the journal.
        lease: The lease as it was read last.
        phase: The phase that it is in.
        before_each: Called before every step on the cloud; what it raises ends the work.

    Raises:
        ConcurrentUpdate: The lease was changed meanwhile, or the claim was taken over.
    """
    healing = Healing(lease=lease, books=read_books(context, lease))
    for number, reservation in enumerate(lease.reservations):
        if not _is_alive(reservation, phase):
            continue
        failed = healing.books.failed(reservation)
        if (failed or reservation.missing_resources) and _is_due(context, healing, reservation):
            has_begun = phase is Phase.RUNNING
            patient = _Patient(context, claim, actor, before_each, healing, number, failed, has_begun)
            try:
                with context.trail.working_on(reservation_id=reservation.id):
                    patient.treat()
            except (ConcurrentUpdate, Interrupted, Unavailable):
                raise
            except Exception as error:
                # The rest of the lease does not depend on it.
                _logger.warning(
                    "reservation %s cannot be healed now: %s",
                    reservation.id,
                    error,
                    exc_info=not isinstance(error, CloudError),
                )
                healing.unclear.add(reservation.id)
                healing.look_after(context.settings.reconciler.longest_backoff)
    if healing.missing:
        is_known = all(each.missing_resources for each in lease.reservations if each.id in healing.missing)
        healing.look_after(context.settings.healing.interval if is_known else _SOON)
    return healing


def with_flags(lease: Lease, healing: Healing) -> Lease:
    """Return the lease with what is true of its resources now (design 7)."""
    states = healing.books.states
    reservations = []
    for each in lease.reservations:
        if each.id not in healing.unclear:
            still = (key for key in each.lost_resources if key in states and states[key].diagnosis.has_failed)
            is_alive = each.status in (ReservationStatus.PENDING, ReservationStatus.ACTIVE)
            each = replace(
                each,
                missing_resources=is_alive and each.id in healing.missing,
                lost_resources=frozenset(still) if is_alive else _NO_RESOURCES,
            )
        reservations.append(each)
    return replace(lease, reservations=tuple(reservations))


def _is_alive(reservation: Reservation, phase: Phase) -> bool:
    return (
        reservation.status in (ReservationStatus.PENDING, ReservationStatus.ACTIVE)
        and reservation_phase(reservation, phase) is not Phase.OVER
    )


def _is_due(context: Context, healing: Healing, reservation: Reservation) -> bool:
    """Return whether it is time; a failure may pass by itself before a distant start."""
    interval = context.settings.healing.interval
    ahead = healing.lease.start - context.clock.now()
    if not interval or ahead <= interval or reservation.missing_resources:
        return True
    healing.look_after(ahead - interval)
    return False


@dataclass(frozen=True, slots=True)
class _Patient:
    """A reservation, by its number in its lease, that holds failed resources or lacks some."""

    context: Context
    claim: Claim
    actor: str
    before_each: Callable[[], None]
    healing: Healing
    number: int
    failed: Mapping[ResourceId, str]
    has_begun: bool
    """The lessee may have some of it already, also before all of it was handed over."""

    @property
    def reservation(self) -> Reservation:
        """Return the reservation as it is now."""
        return self.healing.lease.reservations[self.number]

    def treat(self) -> None:
        """Replace what can be replaced; note whether something is missing then."""
        if not self.failed:
            self._complete()
            return
        missing = set(self._lost() if self.has_begun else self.failed)
        for reasons in self._portions(missing):
            if reasons.keys() <= missing and self._replace(reasons):
                missing -= reasons.keys()
        if missing:
            self.healing.missing.add(self.reservation.id)

    def _complete(self) -> None:
        """Have a reservation that is said to lack something get it, unless what has failed is back.

        It may have been taken over with less than it was promised.
        """
        if not self._replacing({}).is_enough() and not self._replace({}):
            self.healing.missing.add(self.reservation.id)

    def _lost(self) -> frozenset[ResourceId]:
        """Return which of the failed resources do not serve the lessee any more."""
        plugin = self.context.plugin_for(self.reservation.resource_type)
        assignment = self.healing.books.assign(self.context, self.healing.lease, self.reservation)
        return plugin.lost(self.context.cloud, assignment, self.failed.keys())

    def _portions(self, missing: set[ResourceId]) -> Iterator[Mapping[ResourceId, str]]:
        """Yield what to replace at a time: all together if nobody can use it, and then one by one."""
        if not self.has_begun and len(missing) > 1:
            yield {key: self.failed[key] for key in sorted(missing)}
        for key in sorted(missing):
            yield {key: self.failed[key]}

    def _replace(self, reasons: Mapping[ResourceId, str]) -> bool:
        def once(attempt: int) -> bool:
            replacing = self._replacing(reasons)
            found = replacing.find(attempt)
            if found is None or (reasons and self.has_begun and not self._is_given_up(replacing, found)):
                return False
            self.healing.lease = replacing.store(found, self._after(reasons), self.claim, self.actor)
            self.healing.books = read_books(self.context, self.healing.lease)
            return True

        return retrying(self.context, once, attempts=_CLAIM_ATTEMPTS)

    def _replacing(self, reasons: Mapping[ResourceId, str]) -> Replacing:
        held = self.healing.books.allocations[self.reservation.id]
        return Replacing(
            context=self.context,
            lease=self.healing.lease,
            reservation=self.reservation,
            held=held,
            reasons=reasons,
            avoided=frozenset(self.failed),
            was_used=self.has_begun,
        )

    def _is_given_up(self, replacing: Replacing, found: Found) -> bool:
        """Take from the lessee in the cloud what others will be promised; return whether nobody used it.

        Nothing is taken if the lessee would get nothing for it, even if what remains is enough: it may
        come back.
        """
        if not replacing.added(found):
            return False
        plugin = self.context.plugin_for(self.reservation.resource_type)
        assignment = self.healing.books.assign(self.context, self.healing.lease, self.reservation)
        # What comes in its place is made later, and what remains is not touched.
        kept = {**replacing.remaining, **found.chosen[0]}
        self.before_each()
        try:
            plugin.give_up(self.context.cloud, assignment, kept)
        except CannotChange as error:
            _logger.info("reservation %s keeps what has failed: %s", self.reservation.id, error)
        except CloudError as error:
            _logger.warning("reservation %s keeps what has failed for now: %s", self.reservation.id, error)
            self.healing.look_after(self.context.settings.reconciler.longest_backoff)
        else:
            return True
        return False

    def _after(self, reasons: Mapping[ResourceId, str]) -> Lease:
        reservations = list(self.healing.lease.reservations)
        if self.reservation.status is ReservationStatus.ACTIVE:
            lost = self.reservation.lost_resources | reasons.keys()
            reservations[self.number] = replace(self.reservation, lost_resources=lost)
        return replace(self.healing.lease, reservations=tuple(reservations))
