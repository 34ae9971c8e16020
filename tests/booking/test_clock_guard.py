"""A manager compares its clock with the database's, and stops acting while it is wrong."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from clocks import ManualClock, SharedClock
from telemetry.counting import Counts

from blazar.booking.clock_guard import ClockGuard
from blazar.domain.errors import Unavailable
from blazar.null_ports import NoMeter
from blazar.ports import metrics
from blazar.ports.clock import Clock, ClockReading

LIMIT = timedelta(seconds=2)


def guard_with(seconds: float, limit: timedelta = LIMIT, round_trip: float = 0) -> tuple[ClockGuard, Counts]:
    """Return a guard that has compared a clock which is ahead by so many seconds, and what was counted."""
    shared = ManualClock()
    own = ManualClock(shared.now() + timedelta(seconds=seconds))
    guard, counts = ClockGuard(own, SharedClock(shared, timedelta(seconds=round_trip)), limit), Counts()
    guard.compare(counts)
    return guard, counts


@pytest.mark.parametrize("seconds", [-3600, -2.1, -2, -0.5, 0, 1.9, 2.1])
def test_a_clock_is_wrong_beyond_the_limit_either_way(seconds: float) -> None:
    guard, counts = guard_with(seconds)

    assert bool(guard.problems()) == (abs(seconds) > 2)
    assert counts.gauges == {(metrics.CLOCK_DIFFERENCE_SECONDS.name,): pytest.approx(seconds)}
    if guard.problems():
        with pytest.raises(Unavailable, match="clock of this manager is wrong"):
            guard.check()
    else:
        guard.check()


def test_the_reason_names_the_direction_and_the_limit() -> None:
    assert guard_with(-5)[0].problems() == ("the clock is 5.0 s behind the database's (limit 2 s)",)
    assert guard_with(5)[0].problems() == ("the clock is 5.0 s ahead of the database's (limit 2 s)",)


def test_a_slow_answer_does_not_make_a_clock_wrong() -> None:
    assert guard_with(0, round_trip=60)[0].problems() == ()
    assert guard_with(3, round_trip=1.9)[0].problems() != ()
    assert guard_with(3, round_trip=2.1)[0].problems() == ()


def test_without_a_limit_the_difference_is_only_shown() -> None:
    guard, counts = guard_with(3600, limit=timedelta(0))

    assert guard.problems() == ()
    assert counts.gauges == {(metrics.CLOCK_DIFFERENCE_SECONDS.name,): pytest.approx(3600)}


def test_without_a_database_nothing_is_compared() -> None:
    guard = ClockGuard()
    guard.compare(NoMeter())
    guard.check()


def test_a_clock_that_is_set_right_is_right_again_and_each_turn_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shared, own = ManualClock(), ManualClock()
    guard = ClockGuard(own, SharedClock(shared), LIMIT)
    caplog.set_level(logging.WARNING)

    found = []
    for seconds in (0, 1.5, 1.6, 5, 6, 1.5, 0, 0):
        own.set(shared.now() + timedelta(seconds=seconds))
        guard.compare(NoMeter())
        found.append(bool(guard.problems()))

    assert found == [False, False, False, True, True, False, False, False]
    assert [record.getMessage() for record in caplog.records] == [
        "the clock differs from the database's: difference=1.500 limit=2",
        "the clock is wrong, so this manager stops: difference=5.000 limit=2",
        "the clock differs from the database's: difference=1.500 limit=2",
        "the clock is right again: difference=0.000 limit=2",
    ]


class Silent:
    """A database that answers once."""

    def __init__(self, shared: SharedClock) -> None:
        self._shared = shared
        self.is_silent = False

    def compare(self, clock: Clock) -> ClockReading:
        if self.is_silent:
            raise Unavailable("The database cannot be reached")
        return self._shared.compare(clock)


def test_what_was_known_holds_while_the_database_is_silent() -> None:
    shared = ManualClock()
    reference = Silent(SharedClock(shared))
    guard = ClockGuard(ManualClock(shared.now() + 2 * LIMIT), reference, LIMIT)
    guard.compare(NoMeter())

    reference.is_silent = True
    with pytest.raises(Unavailable):
        guard.compare(NoMeter())

    assert guard.problems() != ()
