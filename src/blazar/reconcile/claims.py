"""Claims on work: held for seconds, renewed while the work goes on, taken over when they run out."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.ports.clock import Clock
from blazar.ports.store import Store
from blazar.ports.work import Claim


class Interrupted(Exception):
    """The work must end at once: its claim ran out, or the manager is stopping."""


@dataclass(slots=True)
class _Held:
    claim: Claim
    deadline: datetime


class ClaimKeeper:
    """The claims that this process holds; safe for use by several threads.

    A deadline is compared with this process's own clock before every step, so that a manager that was
    paused stops by itself when it wakes up.
    """

    def __init__(self, store: Store, clock: Clock, owner: str, duration: timedelta) -> None:
        self.owner = owner
        self._store = store
        self._clock = clock
        self._duration = duration
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        self._stopping = False

    def take(self, limit: int) -> list[Claim]:
        """Return up to *limit* claims on work that is due, most overdue first.

        What another manager is taking in the same moment is left to it, so that none waits for another.

        Raises:
            ConcurrentUpdate, Unavailable: The database does not give them now.
        """
        now = self._clock.now()
        deadline = now + self._duration
        with self._store.begin() as transaction:
            claims = transaction.work.claim_due(self.owner, now, deadline, limit)
            transaction.commit()
        with self._lock:
            for claim in claims:
                self._held[claim.key] = _Held(claim, deadline)
        return list(claims)

    def check(self, claim: Claim) -> None:
        """Raise Interrupted if work on *claim* must not go on."""
        with self._lock:
            held = self._held.get(claim.key)
            is_valid = held is not None and held.claim == claim and self._clock.now() < held.deadline
            if not is_valid or self._stopping:
                raise Interrupted(claim.key)

    def forget(self, claim: Claim) -> None:
        """Stop renewing a claim that was given back or lost."""
        with self._lock:
            held = self._held.get(claim.key)
            if held is not None and held.claim == claim:
                del self._held[claim.key]

    def renew(self) -> None:
        """Move the deadlines of all claims that are still ours; forget those that are not."""
        with self._lock:
            claims = [held.claim for held in self._held.values()]
        if not claims:
            return
        deadline = self._clock.now() + self._duration
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

    def stop(self) -> None:
        """Interrupt all work at its next step."""
        with self._lock:
            self._stopping = True
