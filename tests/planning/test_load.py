"""The load of a pool over time, compared with a count at every instant."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from clocks import EPOCH
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.instants import micros
from blazar.domain.interval import Interval
from blazar.planning.load import Load, Use, load_of, merged, quantile

WINDOW = Interval(EPOCH, EPOCH + timedelta(microseconds=20))
FIRST = micros(EPOCH)

times = st.tuples(st.integers(-5, 25), st.integers(1, 12)).map(lambda each: (each[0], sum(each)))
uses = st.lists(st.tuples(times, st.integers(1, 3)))


def moved(found: list[tuple[tuple[int, int], int]]) -> list[Use]:
    return [(FIRST + start, FIRST + end, float(amount)) for (start, end), amount in found]


@given(uses)
def test_it_is_that_of_counting_at_every_instant(found: list[tuple[tuple[int, int], int]]) -> None:
    levels = sorted(
        sum(amount for (start, end), amount in found if start <= instant < end) for instant in range(20)
    )

    load = load_of(moved(found), WINDOW)

    assert load.peak == max(levels)
    assert abs(load.mean - sum(levels) / 20) < 1e-9
    assert load.usual == levels[18]  # at 19 of 20 instants, no more is in use


def test_nothing_is_in_use_without_uses() -> None:
    assert load_of([], WINDOW) == Load()


@given(st.lists(times))
def test_merged_times_have_the_same_instants_and_do_not_touch(found: list[tuple[int, int]]) -> None:
    together = merged(found)

    assert {each for one in together for each in range(*one)} == {
        each for one in found for each in range(*one)
    }
    assert all(one[1] < other[0] for one, other in pairwise(together))


@given(st.lists(st.integers(0, 9), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_the_smallest_value_that_enough_do_not_exceed(values: list[int], share: float) -> None:
    enough = [each for each in values if sum(one <= each for one in values) >= share * len(values) - 1e-9]

    assert quantile(values, share) == min(enough)


def test_there_is_no_quantile_of_nothing() -> None:
    assert quantile([], 0.5) == 0
