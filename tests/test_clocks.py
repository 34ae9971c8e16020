"""The clock that tests turn by hand."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from clocks import EPOCH, ManualClock

SECOND = timedelta(seconds=1)


def test_the_clock_stands_until_it_is_advanced() -> None:
    clock = ManualClock()

    assert clock.now() == clock.now() == EPOCH
    assert clock.advance(SECOND) == clock.now() == EPOCH + SECOND


def test_waiting_takes_the_whole_timeout() -> None:
    clock = ManualClock()

    assert not clock.wait(threading.Event(), 5 * SECOND)
    assert clock.now() == EPOCH + 5 * SECOND


def test_waiting_for_what_has_happened_takes_no_time() -> None:
    clock, event = ManualClock(), threading.Event()
    event.set()

    assert clock.wait(event, 5 * SECOND)
    assert clock.now() == EPOCH


def test_the_clock_can_jump_back() -> None:
    clock = ManualClock()

    clock.set(EPOCH - SECOND)

    assert clock.now() == EPOCH - SECOND


def test_time_without_a_zone_and_negative_steps_are_refused() -> None:
    naive = datetime(2031, 1, 1, tzinfo=UTC).replace(tzinfo=None)

    with pytest.raises(ValueError, match="timezone"):
        ManualClock(naive)
    with pytest.raises(ValueError, match="timezone"):
        ManualClock().set(naive)
    with pytest.raises(ValueError, match="back"):
        ManualClock().advance(-SECOND)


def test_no_step_of_many_threads_is_lost() -> None:
    clock = ManualClock()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: clock.advance(SECOND), range(200)))

    assert clock.now() == EPOCH + 200 * SECOND
