"""Claims on work: short-lived, renewed while steps meet their deadline, taken over otherwise."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.ports.clock import Clock
from blazar.ports.store import Store
from blazar.ports.work import Claim


class Interrupted(Exception):
    """The work must end at once: its claim expired, or the manager is stopping."""


@dataclass(slots=True)
class _Held:
    claim: Claim
    deadline: datetime
    step_began: datetime
    is_overdue: bool = False
    """Whether the step has passed its deadline, so that the claim is no longer renewed."""


class ClaimKeeper:
    """The claims of this process; thread-safe.

    The deadline is compared with this process's clock before every step, so that a manager that was paused
    stops working as soon as it resumes.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: str,
        duration: timedelta,
        step_limit: timedelta = timedelta(0),
    ) -> None:
        """Create a keeper without claims.

        Args:
            store: The store of the claims.
            clock: The clock of this process.
            owner: The name recorded in the claims.
            duration: Lifetime of a claim that is not renewed.
            step_limit: Maximum duration of one step, above which a claim is not renewed; zero for no limit.
        """
        self.owner = owner
        self._store = store
        self._clock = clock
        self._duration = duration
        self._step_limit = step_limit
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        self._stopping = False

    def take(self, limit: int) -> list[Claim]:
        """Return up to *limit* claims on work that is due, most overdue first.

        Work that another manager is claiming at the same moment is skipped, so that no manager waits.

        Raises:
            ConcurrentUpdate, Unavailable: The database cannot grant claims now.
        """
        now = self._clock.now()
        deadline = now + self._duration
        with self._store.begin() as transaction:
            claims = transaction.work.claim_due(self.owner, now, deadline, limit)
            transaction.commit()
        with self._lock:
            for claim in claims:
                self._held[claim.key] = _Held(claim, deadline, step_began=now)
        return list(claims)

    def check(self, claim: Claim) -> None:
        """Raise Interrupted if work on *claim* must not continue; otherwise begin to time a new step."""
        with self._lock:
            held, now = self._held.get(claim.key), self._clock.now()
            if held is None or held.claim != claim or now >= held.deadline or self._stopping:
                raise Interrupted(claim.key)
            held.step_began, held.is_overdue = now, False

    def forget(self, claim: Claim) -> None:
        """Stop renewing a claim that was released or lost."""
        with self._lock:
            held = self._held.get(claim.key)
            if held is not None and held.claim == claim:
                del self._held[claim.key]

    def renew(self) -> tuple[Claim, ...]:
        """Extend all claims that are still valid; drop the others.

        Returns:
            The claims whose step has passed its deadline since the last call. They are left to expire.
        """
        now = self._clock.now()
        overdue = self._note_overdue(now)
        with self._lock:
            claims = [held.claim for held in self._held.values() if not held.is_overdue]
        if not claims:
            return overdue
        deadline = now + self._duration
        with self._store.begin() as transaction:
            valid = transaction.work.renew(claims, deadline)
            transaction.commit()
        with self._lock:
            for claim in claims:
                held = self._held.get(claim.key)
                if held is None or held.claim != claim:
                    continue
                if claim.key in valid:
                    held.deadline = deadline
                else:
                    del self._held[claim.key]
        return overdue

    def _note_overdue(self, now: datetime) -> tuple[Claim, ...]:
        """Mark claims whose step takes too long; return those that were not marked before."""
        if not self._step_limit:
            return ()
        with self._lock:
            found = [
                held
                for held in self._held.values()
                if not held.is_overdue and now - held.step_began > self._step_limit
            ]
            for held in found:
                held.is_overdue = True
            return tuple(held.claim for held in found)

    def stop(self) -> None:
        """Interrupt all work before its next step."""
        with self._lock:
            self._stopping = True
