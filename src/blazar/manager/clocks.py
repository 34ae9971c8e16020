"""The system clock, and a faster clock for demonstrations."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Implements :class:`blazar.ports.clock.Clock` with the machine's time."""

    def now(self) -> datetime:
        """Return the present instant."""
        return datetime.now(UTC)  # noqa: TID251 - the source of time for all other code

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait until *event* is set or *timeout* has passed."""
        return event.wait(timeout.total_seconds())


@dataclass(frozen=True, slots=True, kw_only=True)
class FastClock:
    """A clock that equals the system clock at *epoch* and runs *speed* times as fast.

    Two processes with the same epoch and speed show the same time.
    """

    epoch: datetime
    speed: float

    def now(self) -> datetime:
        """Return the present instant of this clock."""
        return self.at(SystemClock().now())

    def at(self, instant: datetime) -> datetime:
        """Return what this clock shows when the system clock shows *instant*."""
        return self.epoch + (instant - self.epoch) * self.speed

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait until *event* is set or *timeout*, in this clock's time, has passed."""
        return event.wait(timeout.total_seconds() / self.speed)
