"""The simulated day: its clock and its limits."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.manager.clocks import FastClock

QUIET = timedelta(hours=24)
"""Time after the day in which no lease starts or ends, so that the state can be checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A period of the simulated time."""

    clock: FastClock
    start: datetime
    end: datetime

    def now(self) -> datetime:
        """Return the present simulated instant."""
        return self.clock.now()

    def minute(self) -> datetime:
        """Return the start of the present simulated minute."""
        return self.now().replace(second=0, microsecond=0)

    def at(self, share: float) -> datetime:
        """Return the instant at which this share of the day is over, from 0 to 1."""
        return self.start + (self.end - self.start) * share

    def hours(self, instant: datetime) -> float:
        """Return the simulated hours from the start of the day to *instant*."""
        return (instant - self.start) / timedelta(hours=1)

    def real_seconds(self, simulated: timedelta) -> float:
        """Return how long a simulated duration takes on the clock of the machine."""
        return simulated.total_seconds() / self.clock.speed

    def wait_until(self, instant: datetime, is_over: threading.Event) -> bool:
        """Wait until a simulated instant; return whether to continue, which is not so if *is_over* is set."""
        left = instant - self.now()
        if left <= timedelta(0):
            return not is_over.is_set()
        return not self.clock.wait(is_over, left)

    def outside_quiet(self, instant: datetime) -> datetime:
        """Return the instant itself, or one after the quiet time that it lies in."""
        return instant + QUIET if self.end < instant < self.end + QUIET else instant
