"""Comparison of a manager's clock with the database clock."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from enum import Enum

from blazar.domain.errors import Unavailable
from blazar.ports import metrics
from blazar.ports.clock import Clock, ClockReading, ReferenceClock
from blazar.ports.meter import Meter

_NONE = timedelta(0)

_logger = logging.getLogger(__name__)


class _Verdict(Enum):
    RIGHT = "right"
    NEAR = "more than half of the limit"
    WRONG = "wrong"


_MESSAGES = {
    _Verdict.RIGHT: (logging.WARNING, "the clock is right again: difference=%.3f limit=%g"),
    _Verdict.NEAR: (logging.WARNING, "the clock differs from the database's: difference=%.3f limit=%g"),
    _Verdict.WRONG: (logging.ERROR, "the clock is wrong, so this manager stops: difference=%.3f limit=%g"),
}


class ClockGuard:
    """Tracks whether this manager's clock is right; thread-safe.

    The managers of an installation share a database, so each compares its own clock with the database clock.
    Without a reference clock, the clock always counts as right.
    """

    def __init__(
        self, clock: Clock | None = None, reference: ReferenceClock | None = None, limit: timedelta = _NONE
    ) -> None:
        """Create a guard that has not compared the clocks yet.

        Args:
            clock: The clock of this manager.
            reference: The database clock; None to disable the comparison.
            limit: The difference above which the clock counts as wrong; zero for no limit.
        """
        self._clock = clock
        self._reference = reference
        self._limit = limit
        self._lock = threading.Lock()
        self._verdict = _Verdict.RIGHT
        self._problem = ""
        self._difference = _NONE

    def compare(self, meter: Meter) -> None:
        """Read both clocks and record whether they agree.

        Raises:
            Unavailable: The database does not respond; the previous result remains valid.
        """
        if self._clock is None or self._reference is None:
            return
        reading = self._reference.compare(self._clock)
        seconds, limit = reading.difference.total_seconds(), self._limit.total_seconds()
        meter.set(metrics.CLOCK_DIFFERENCE_SECONDS, seconds)
        verdict = self._judge(reading)
        side = "ahead of" if seconds > 0 else "behind"
        problem = f"the clock is {abs(seconds):.1f} s {side} the database's (limit {limit:g} s)"
        with self._lock:
            before, self._verdict = self._verdict, verdict
            # A slow response says nothing about a difference within its uncertainty.
            if abs(reading.difference - self._difference) > reading.uncertainty:
                self._difference = reading.difference
            self._problem = problem if verdict is _Verdict.WRONG else ""
        if verdict is not before:
            _logger.log(*_MESSAGES[verdict], seconds, limit)

    def _judge(self, reading: ClockReading) -> _Verdict:
        # A slow response makes the measured difference uncertain.
        certain = abs(reading.difference) - reading.uncertainty
        if not self._limit or certain <= self._limit / 2:
            return _Verdict.RIGHT
        return _Verdict.NEAR if certain <= self._limit else _Verdict.WRONG

    def problems(self) -> tuple[str, ...]:
        """Return why this manager must not act, for operators; empty if its clock is right. No I/O."""
        with self._lock:
            return (self._problem,) if self._problem else ()

    def difference(self) -> timedelta:
        """Return how far this manager's clock was ahead of the database's at the last comparison. No I/O."""
        with self._lock:
            return self._difference

    def check(self) -> None:
        """Return if this manager's clock is right. Raises Unavailable."""
        if self.problems():
            raise Unavailable(
                "The clock of this manager is wrong, so it does not change leases; try again later"
            )
