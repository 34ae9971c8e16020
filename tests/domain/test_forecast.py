"""Forecasts of free amounts from steps."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from blazar.domain.busy_times import Steps
from blazar.domain.forecast import forecast

MINUTE = timedelta(minutes=1)
STEPS = Steps(np.array([0, 10, 25, 40]), np.array([[3, 8, 10, 1]]))


def test_the_least_is_that_of_all_minutes_within_a_time() -> None:
    found = forecast(STEPS, 10, [MINUTE, 10 * MINUTE, 11 * MINUTE, 60 * MINUTE], 5)

    assert (found.total, found.free) == (10, 7)
    assert list(found.least.values()) == [7, 7, 2, 0]


@pytest.mark.parametrize(
    ("percent", "minutes"), [(0, None), (5, 25), (20, 25), (20.1, 10), (70, 10), (71, 0), (100, 0)]
)
def test_it_is_low_from_the_first_minute_with_less_than_the_percentage(
    percent: float, minutes: int | None
) -> None:
    found = forecast(STEPS, 10, [], percent)

    assert found.low_after == (None if minutes is None else minutes * MINUTE)


def test_of_nothing_nothing_is_low() -> None:
    found = forecast(Steps(np.array([0]), np.array([[0]])), 0, [MINUTE], 100)

    assert (found.free, dict(found.least), found.low_after) == (0, {MINUTE: 0}, None)
