"""Clocks for tests."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blazar.ports.clock import Clock

EPOCH = datetime(2031, 1, 1, tzinfo=UTC)


class ManualClock:
    """A clock that stands still until it is told to go on; safe to share between threads."""

    def __init__(self, now: datetime = EPOCH) -> None:
        if now.utcoffset() is None:
            raise ValueError("now must be timezone-aware")
        self._lock = threading.Lock()
        self._now = now.astimezone(UTC)

    def now(self) -> datetime:
        """Return the instant at which this clock stands."""
        with self._lock:
            return self._now

    def advance(self, duration: timedelta) -> datetime:
        """Go on by *duration*, which is not negative, and return the new instant."""
        if duration < timedelta(0):
            raise ValueError("time does not go back; use set() to jump")
        with self._lock:
            self._now += duration
            return self._now

    def set(self, now: datetime) -> None:
        """Jump to an instant, be it in the past."""
        if now.utcoffset() is None:
            raise ValueError("now must be timezone-aware")
        with self._lock:
            self._now = now.astimezone(UTC)

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Go on by *timeout* at once, unless *event* is set; return whether it is set."""
        if event.is_set():
            return True
        self.advance(max(timeout, timedelta(0)))
        return event.is_set()


if TYPE_CHECKING:
    _: Clock = ManualClock()
