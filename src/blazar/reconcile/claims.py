"""Claims on work: held for seconds, renewed while the work goes on, taken over when they run out."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.domain.errors import BlazarError
from blazar.ports.clock import Clock
from blazar.ports.store import Store
from blazar.ports.work import Claim

_SPARE = 8
"""How many more are looked at than are wanted."""

_logger = logging.getLogger(__name__)


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
        """Return up to *limit* claims on work that is due.

        Another manager sees the same work as the most urgent; for what is lost to it, the next is taken.
        """
        now = self._clock.now()
        deadline = now + self._duration
        with self._store.read() as transaction:
            candidates = transaction.work.list_due(now, limit + _SPARE)
        taken: list[Claim] = []
        for candidate in candidates:
            if len(taken) == limit:
                break
            try:
                claim = self._claim(candidate, now, deadline)
            except BlazarError as error:
                if not taken:
                    raise
                # What is held has to be worked on, as it is renewed until then.
                _logger.warning("fewer claims than wanted: %s", error)
                break
            if claim is not None:
                taken.append(claim)
        return taken

    def _claim(self, candidate: Claim, now: datetime, deadline: datetime) -> Claim | None:
        with self._store.begin() as transaction:
            claim = transaction.work.claim(candidate, self.owner, now, deadline)
            transaction.commit()
        if claim is not None:
            with self._lock:
                self._held[claim.key] = _Held(claim, deadline)
        return claim

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
