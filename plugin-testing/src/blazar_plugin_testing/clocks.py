"""Clocks for tests."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from blazar.ports.clock import Clock, ClockReading

if TYPE_CHECKING:
    from blazar.ports.clock import ReferenceClock

EPOCH = datetime(2031, 1, 1, tzinfo=UTC)


class ManualClock:
    """A clock that advances only on request; thread-safe."""

    def __init__(self, now: datetime = EPOCH) -> None:
        if now.utcoffset() is None:
            raise ValueError("now must be timezone-aware")
        self._lock = threading.Lock()
        self._now = now.astimezone(UTC)

    def now(self) -> datetime:
        """Return the present instant of this clock."""
        with self._lock:
            return self._now

    def advance(self, duration: timedelta) -> datetime:
        """Advance by *duration*, which is not negative, and return the new instant."""
        if duration < timedelta(0):
            raise ValueError("duration must not be negative; use set() to go back")
        with self._lock:
            self._now += duration
            return self._now

    def set(self, now: datetime) -> None:
        """Set the clock to an instant, which may be in the past."""
        if now.utcoffset() is None:
            raise ValueError("now must be timezone-aware")
        with self._lock:
            self._now = now.astimezone(UTC)

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Advance by *timeout* at once, unless *event* is set; return whether it is set."""
        if event.is_set():
            return True
        self.advance(max(timeout, timedelta(0)))
        return event.is_set()


class SharedClock:
    """The database's clock; its answer takes *round_trip*, and it is read after half of that."""

    def __init__(self, clock: ManualClock, round_trip: timedelta = timedelta(0)) -> None:
        self._clock = clock
        self.round_trip = round_trip

    def compare(self, clock: Clock) -> ClockReading:
        """Return the readings of both clocks."""
        before = clock.now()
        return ClockReading(
            before=before, there=self._clock.now() + self.round_trip / 2, after=before + self.round_trip
        )


if TYPE_CHECKING:
    _: tuple[Clock, ReferenceClock] = (ManualClock(), SharedClock(ManualClock()))
