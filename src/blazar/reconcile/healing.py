"""Healing: replacing failed resources of a lease.

A reservation that has not started gets other resources, with as few changes as possible. From an active
reservation, only idle resources are taken. A reservation that lacks resources since an import, because they
were reserved twice, is completed in the same way. Code that detects the failure or recovery of a resource
only schedules the leases that hold it; healing starts here, from the present state.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from blazar.booking.assignments import release
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.search import Found
from blazar.domain.errors import CannotChange, CloudError, ConcurrentUpdate, Unavailable
from blazar.domain.lease import (
    Lease,
    Reservation,
    ReservationId,
    ReservationStatus,
    ResourceId,
)
from blazar.domain.lifecycle import Phase, reservation_phase
from blazar.plugins.capabilities import ServesDespiteFailure
from blazar.ports.work import Claim
from blazar.reconcile.claims import Interrupted
from blazar.reconcile.lease_snapshot import LeaseSnapshot, read_snapshot
from blazar.reconcile.pause import Pause
from blazar.reconcile.replacing import Replacing

_CLAIM_ATTEMPTS = 8
"""Attempts to find a replacement when concurrent requests are faster."""
_SOON = timedelta(seconds=1)
"""Pause before a second pass, because releases before the shortage is recorded do not wake the lease."""
_NO_RESOURCES: frozenset[ResourceId] = frozenset()

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Healing(Pause):
    """The result of healing: the lease and its snapshot as they are now."""

    lease: Lease
    snapshot: LeaseSnapshot
    missing: set[ReservationId] = field(default_factory=set)
    """Reservations with failed resources that have no replacement yet."""
    unclear: set[ReservationId] = field(default_factory=set)
    """Reservations whose state could not be read from the cloud; they stay unchanged."""


def heal(
    context: Context,
    claim: Claim,
    actor: str,
    lease: Lease,
    phase: Phase,
    check_claim: Callable[[], None],
) -> Healing:
    """Replace the failed resources of a lease where possible.

    Args:
        context: The context.
        claim: The claim on the lease.
        actor: The actor recorded in the journal.
        lease: The lease as last read.
        phase: The phase of the lease.
        check_claim: Called before every step on the cloud; an exception from it ends the work.

    Raises:
        ConcurrentUpdate: The lease was changed concurrently, or the claim was taken over.
    """
    healing = Healing(lease=lease, snapshot=read_snapshot(context, lease))
    for number, reservation in enumerate(lease.reservations):
        if not _is_alive(reservation, phase):
            continue
        failed = healing.snapshot.failed(reservation)
        if (failed or reservation.missing_resources) and _is_due(context, healing, reservation):
            has_begun = phase is Phase.RUNNING
            patient = _Patient(context, claim, actor, check_claim, healing, number, failed, has_begun)
            try:
                with context.log_context.working_on(reservation_id=reservation.id):
                    patient.treat()
            except (ConcurrentUpdate, Interrupted, Unavailable):
                raise
            except Exception as error:
                # The other reservations of the lease do not depend on this one.
                _logger.warning(
                    "cannot heal a reservation now: reservation_id=%s reason=%s",
                    reservation.id,
                    error,
                    exc_info=not isinstance(error, CloudError),
                )
                healing.unclear.add(reservation.id)
                healing.retry_within(context.settings.reconciler.longest_backoff)
    if healing.missing:
        is_known = all(each.missing_resources for each in lease.reservations if each.id in healing.missing)
        # Without an interval, only a change of a resource's health starts the next search.
        healing.retry_within((context.settings.healing.interval or None) if is_known else _SOON)
    return healing


def with_flags(lease: Lease, healing: Healing) -> Lease:
    """Return the lease with flags that match the present state of its resources."""
    states = healing.snapshot.states
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
    """Return whether healing is due; before a distant start, the failure may pass without it."""
    interval = context.settings.healing.interval
    ahead = healing.lease.start - context.clock.now()
    if not interval or ahead <= interval or reservation.missing_resources:
        return True
    healing.retry_within(ahead - interval)
    return False


@dataclass(frozen=True, slots=True)
class _Patient:
    """A reservation, by its position in the lease, that holds failed resources or lacks some."""

    context: Context
    claim: Claim
    actor: str
    check_claim: Callable[[], None]
    healing: Healing
    number: int
    failed: Mapping[ResourceId, str]
    has_begun: bool
    """Whether the lessee may already use some of the resources, even if not all were handed over."""

    @property
    def reservation(self) -> Reservation:
        """Return the reservation in its present state."""
        return self.healing.lease.reservations[self.number]

    def treat(self) -> None:
        """Replace what can be replaced; record whether resources are still missing."""
        if not self.failed:
            self._complete()
            return
        missing = set(self._lost() if self.has_begun else self.failed)
        for reasons in self._portions(missing):
            if reasons.keys() <= missing and self._replace(reasons):
                missing -= reasons.keys()
        if missing and not self._replace_all():
            self.healing.missing.add(self.reservation.id)

    def _complete(self) -> None:
        """Find resources for a reservation that is marked as incomplete, unless its own have recovered.

        An imported reservation may hold fewer resources than were reserved for it.
        """
        if not self._replacing({}).is_enough() and not self._replace({}):
            self.healing.missing.add(self.reservation.id)

    def _lost(self) -> frozenset[ResourceId]:
        """Return the failed resources that no longer serve the lessee."""
        plugin = self.context.plugin_for(self.reservation.resource_type)
        if not isinstance(plugin, ServesDespiteFailure):
            return frozenset(self.failed)
        assignment = self.healing.snapshot.assign(self.context, self.healing.lease, self.reservation)
        return plugin.lost(self.context.cloud, assignment, self.failed.keys())

    def _portions(self, missing: set[ResourceId]) -> Iterator[Mapping[ResourceId, str]]:
        """Yield the sets to replace: all at once if the lessee cannot use them yet, then one by one."""
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
            self.healing.snapshot = read_snapshot(self.context, self.healing.lease)
            return True

        return retrying(self.context, once, attempts=_CLAIM_ATTEMPTS)

    def _replace_all(self) -> bool:
        """Also replace the healthy resources if all must have the same value of a property."""
        grouping = self.reservation.grouping
        if self.has_begun or grouping is None or grouping.same is None:
            return False
        reason = f"the others, with the same {grouping.same}, have no replacement"
        held = self.healing.snapshot.allocations[self.reservation.id]
        return self._replace({**{each.resource_id: reason for each in held}, **self.failed})

    def _replacing(self, reasons: Mapping[ResourceId, str]) -> Replacing:
        held = self.healing.snapshot.allocations[self.reservation.id]
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
        """Take resources from the lessee in the cloud; return whether they were unused.

        Nothing is taken if no replacement was found, even if the remaining resources are enough, because the
        failed resource may recover.
        """
        if not replacing.added(found):
            return False
        plugin = self.context.plugin_for(self.reservation.resource_type)
        assignment = self.healing.snapshot.assign(self.context, self.healing.lease, self.reservation)
        # The replacement is built later; the remaining resources are not touched.
        kept = {**replacing.remaining, **found.chosen[0]}
        self.check_claim()
        try:
            release(plugin, self.context.cloud, assignment, kept)
        except CannotChange as error:
            _logger.info(
                "reservation keeps its failed resources: reservation_id=%s reason=%s",
                self.reservation.id,
                error,
            )
        except CloudError as error:
            _logger.warning(
                "reservation keeps its failed resources: reservation_id=%s reason=%s",
                self.reservation.id,
                error,
            )
            self.healing.retry_within(self.context.settings.reconciler.longest_backoff)
        else:
            return True
        return False

    def _after(self, reasons: Mapping[ResourceId, str]) -> Lease:
        reservations = list(self.healing.lease.reservations)
        if self.reservation.status is ReservationStatus.ACTIVE:
            lost = self.reservation.lost_resources | reasons.keys()
            reservations[self.number] = replace(self.reservation, lost_resources=lost)
        return replace(self.healing.lease, reservations=tuple(reservations))
