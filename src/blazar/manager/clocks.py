"""The system's clock, and one that runs faster for demonstrations."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Implements :class:`blazar.ports.clock.Clock` with the machine's own time."""

    def now(self) -> datetime:
        """Return the present instant."""
        return datetime.now(UTC)  # noqa: TID251 - this is the clock that all others ask

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait until *event* is set or *timeout* has passed."""
        return event.wait(timeout.total_seconds())


@dataclass(frozen=True, slots=True, kw_only=True)
class FastClock:
    """A clock that has run *speed* times as fast as the system's since *epoch*, and was right then.

    Two processes with the same epoch and speed show the same time.
    """

    epoch: datetime
    speed: float

    def now(self) -> datetime:
        """Return the present instant of this clock."""
        return self.epoch + (SystemClock().now() - self.epoch) * self.speed

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait until *event* is set or *timeout*, in this clock's time, has passed."""
        return event.wait(timeout.total_seconds() / self.speed)
