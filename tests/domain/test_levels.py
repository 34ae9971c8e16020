"""Amounts over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.interval import Interval
from blazar.domain.levels import Levels

NOON = datetime(2031, 4, 5, 12, tzinfo=UTC)
PARTS = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8), st.integers(0, 5)), max_size=8)


def hour(number: int) -> datetime:
    return NOON + timedelta(hours=number)


def levels_of(parts: list[tuple[int, int, int]]) -> Levels:
    levels = Levels()
    for start, duration, amount in parts:
        levels.add(Interval(hour(start), hour(start + duration)), amount)
    return levels


def test_adjacent_windows_do_not_add_up() -> None:
    assert levels_of([(0, 2, 3), (2, 2, 4)]).peak() == 4
    assert levels_of([(0, 3, 3), (2, 2, 4)]).peak() == 7
    assert levels_of([]).peak() == 0


@given(PARTS)
def test_the_level_at_an_instant_is_the_sum_of_the_windows_that_contain_it(
    parts: list[tuple[int, int, int]],
) -> None:
    levels = levels_of(parts)
    instants = [hour(number) for number in range(17)]

    expected = [
        sum(amount for start, duration, amount in parts if start <= number < start + duration)
        for number in range(17)
    ]
    assert list(levels.at(instants)) == expected
    assert levels.peak() == max(expected)
