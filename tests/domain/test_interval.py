"""Half-open windows of aware time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, at, window

from blazar.domain.interval import Interval

WINDOWS = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda each: window(each[0], sum(each)))
HALF_HOURS = [at(each / 2) for each in range(40)]


@given(WINDOWS, WINDOWS)
def test_windows_overlap_if_they_share_an_instant(one: Interval, other: Interval) -> None:
    shared = [each for each in HALF_HOURS if one.contains(each) and other.contains(each)]

    assert one.overlaps(other) == other.overlaps(one) == bool(shared)


@given(WINDOWS, WINDOWS)
def test_a_window_covers_another_if_it_has_all_of_its_instants(one: Interval, other: Interval) -> None:
    missing = [each for each in HALF_HOURS if other.contains(each) and not one.contains(each)]

    assert one.covers(other) == (not missing)


def test_windows_that_touch_do_not_overlap() -> None:
    assert not window(1, 2).overlaps(window(2, 3))
    assert not window(2, 3).overlaps(window(1, 2))


def test_the_start_is_inside_and_the_end_is_not() -> None:
    assert window(1, 2).contains(at(1))
    assert not window(1, 2).contains(at(2))


def test_a_window_lasts_from_its_start_to_its_end() -> None:
    assert window(1, 3.5).duration == 2.5 * HOUR


@pytest.mark.parametrize("end", [0, 1])
def test_a_window_that_does_not_end_after_its_start_is_refused(end: float) -> None:
    with pytest.raises(ValueError, match="end after"):
        window(1, end)


def test_time_without_a_zone_is_refused() -> None:
    naive = at(1).replace(tzinfo=None)

    with pytest.raises(ValueError, match="timezone"):
        Interval(naive, at(2))
    with pytest.raises(ValueError, match="timezone"):
        Interval(at(0), naive)


def test_the_same_instants_in_another_zone_are_the_same_window() -> None:
    zone = timezone(timedelta(hours=2))

    assert Interval(at(1).astimezone(zone), at(2).astimezone(zone)) == window(1, 2)


def test_a_margin_is_added_at_both_ends() -> None:
    assert window(3, 4).widened(2 * HOUR) == window(1, 6)
    assert window(3, 4).widened(timedelta(0)) == window(3, 4)


def test_a_margin_ends_where_the_calendar_does() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    nearly_all = Interval(first + HOUR, last - HOUR)

    assert nearly_all.widened(2 * HOUR) == Interval(first, last)
    assert Interval(first, last).widened(HOUR) == Interval(first, last)


def test_a_window_that_would_be_empty_gets_one_instant() -> None:
    assert Interval.at_least_an_instant(at(1), at(2)) == window(1, 2)
    for end in (at(0), at(1)):
        shortest = Interval.at_least_an_instant(at(1), end)
        assert shortest == Interval(at(1), at(1) + timedelta.resolution)


def test_the_part_after_an_instant() -> None:
    assert window(1, 3).after(at(2)) == window(2, 3)
    assert window(1, 3).after(at(0)) == window(1, 3)
    with pytest.raises(ValueError, match="must end after it starts"):
        window(1, 3).after(at(3))
