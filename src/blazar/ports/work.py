"""Ports: planned work and claims in the database, and waking the reconcilers for it.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from blazar.domain.lease import LeaseId, LeaseStatus, ReservationId, ReservationStatus

_FIRST_TASKS = frozenset(
    {
        *("sweep", "refresh", "host-monitor", "check-floatingips", "take-stock", "plan-leases"),
        *("delete-answers", "delete-offers"),
    }
)
"""Keys that managers of other versions know."""
TASK_PREFIX = "task-"
"""The beginning of the keys of all further periodic tasks."""


def is_periodic_task(key: str) -> bool:
    """Return whether work with this key is a periodic task. No lease may have such an id."""
    return key in _FIRST_TASKS or key.startswith(TASK_PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to work on one key until ``deadline``; void once a claim with a higher number exists."""

    key: str
    number: int
    attempts: int
    due_at: datetime
    taken_from: str | None = None
    """The previous owner, whose claim expired; None if the key was unclaimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingReservation:
    """A reservation that waits, or is in error."""

    id: ReservationId
    resource_type: str
    status: ReservationStatus
    problem: str | None
    """None if its only problem is failed resources without a replacement."""
    since: datetime | None
    """Time of the last change of the reservation, at which this problem began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLease:
    """A lease that waits, with the reservations that explain why; there may be none."""

    id: LeaseId
    name: str
    project_id: str | None
    status: LeaseStatus
    is_deleting: bool
    end: datetime
    changed_at: datetime | None
    """Time of the last change of the lease."""
    due_at: datetime | None
    """Due time of its next or current reconcile pass; None if none is planned."""
    attempts: int
    """The number of consecutive failed passes."""
    owner: str | None
    claim_deadline: datetime | None
    reservations: tuple[WaitingReservation, ...] = ()

    @property
    def since(self) -> datetime | None:
        """Return when the lease began to wait, as far as is known."""
        known = [each.since for each in self.reservations if each.since is not None]
        return min(known, default=self.changed_at)

    def worker_at(self, now: datetime) -> str | None:
        """Return the manager that works on the lease; None if none has a valid claim."""
        return None if self.claim_deadline is None or self.claim_deadline <= now else self.owner

    def next_try(self, now: datetime) -> datetime | None:
        """Return when a manager continues automatically; None if it does not.

        A reservation in error is left alone until its lease ends or an operator or lessee changes the lease.
        """
        is_over = self.is_deleting or self.end <= now
        is_refused = all(each.status is ReservationStatus.ERROR for each in self.reservations)
        if self.reservations and is_refused and not self.attempts and not is_over:
            return None
        return self.due_at


class WorkStore(Protocol):
    """Planned reconcile passes of leases, and their claims."""

    def schedule(self, keys: Collection[str], due_at: datetime) -> None:
        """Schedule reconcile passes for these keys at *due_at*, unless an earlier one is planned.

        A key that is claimed is reconciled again after its claim is released.
        """

    def plan(self, dues: Mapping[str, datetime]) -> None:
        """Schedule keys that are not planned yet, each at its instant. Raises ConcurrentUpdate."""

    def list_unplanned(self) -> tuple[str, ...]:
        """Return leases without planned work that may need some; those that ended normally are omitted."""

    def is_due(self, key: str, now: datetime) -> bool:
        """Return whether a key is due or claimed."""

    def due_of(self, keys: Collection[str]) -> Mapping[str, datetime]:
        """Return when each of these keys is or was due; keys without planned work are omitted."""

    def list_waiting(self, before: datetime) -> tuple[WaitingLease, ...]:
        """Return the leases that wait, oldest first, in one statement.

        A lease waits if one of its reservations has a problem or holds failed resources without replacement,
        if its last reconcile pass failed, if a pass is due since *before*, or if its status says that
        an operation is in progress and the lease has not changed since *before*.
        """

    def next_due(self, now: datetime) -> datetime | None:
        """Return when the next key is or was due, or the next claim expires; None for never.

        A claim of a manager whose clock is behind *now* may be omitted until then.
        """

    def claim_due(self, owner: str, now: datetime, deadline: datetime, limit: int) -> tuple[Claim, ...]:
        """Return claims on due keys that are unclaimed or whose claim expired, most overdue first.

        Keys that other managers are claiming at the same time are omitted.
        """

    def lock_due_unclaimed(self, now: datetime, limit: int) -> tuple[str, ...]:
        """Return leases whose start or end is due and that are neither claimed nor marked as in progress.

        No manager can claim them until the transaction ends. Leases that another transaction has locked are
        omitted.
        """

    def take(self, key: str, owner: str, now: datetime, deadline: datetime) -> Claim | None:
        """Return a claim on a key, due or not; None if another owner has it."""

    def renew(self, claims: Collection[Claim], deadline: datetime) -> frozenset[str]:
        """Extend claims to *deadline*; return the keys whose claims are still valid."""

    def finish(self, claim: Claim, due_at: datetime | None, attempts: int) -> None:
        """Release a claim and schedule the next pass at *due_at*; None deletes the key.

        If the key was scheduled since it was claimed, the next pass is at the scheduled time.

        Raises:
            ConcurrentUpdate: The claim is void.
        """

    def forget(self, key: str) -> None:
        """Delete a key that needs no work. A claimed key stays; its claim holder deletes it with `finish`."""

    def free_all(self) -> None:
        """Void all claims: for a manager that starts and knows that no other is running."""

    def renew_claims(self) -> None:
        """Void all claims, also those that were given after a backup of the database that was restored."""

    def keep(self, claim: Claim) -> None:
        """Check a claim and lock it until the transaction ends. Raises ConcurrentUpdate if it is void."""


class Waker(Protocol):
    """Wakes the reconcilers of this process and of other managers; a wake may be lost or superfluous."""

    def wake(self) -> None:
        """Announce that work was committed."""
