"""Port: the present time, waiting, and comparing clocks."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The only source of time. A test's clock stands still; the demo's clock runs fast."""

    def now(self) -> datetime:
        """Return the present instant, timezone-aware, in UTC."""

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait until *event* is set or *timeout*, in this clock's time, has passed.

        Returns:
            Whether the event is set.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReading:
    """One comparison of two clocks. This process read its own clock before and after the other one."""

    before: datetime
    there: datetime
    after: datetime

    @property
    def uncertainty(self) -> timedelta:
        """Return the largest possible error of the difference: half the round trip."""
        return max(timedelta(0), self.after - self.before) / 2

    @property
    def difference(self) -> timedelta:
        """Return how far this process's clock is ahead; negative if it is behind."""
        return self.before + self.uncertainty - self.there


class ReferenceClock(Protocol):
    """The clock that all managers share."""

    def compare(self, clock: Clock) -> ClockReading:
        """Return a comparison of this clock with *clock*. Raises Unavailable."""
