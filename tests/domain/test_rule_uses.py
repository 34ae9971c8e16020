"""Cool-down and resource hours, compared with brute force over all minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.rules.uses import (
    Use,
    blocked_starts,
    earliest_start,
    excess_of,
    is_too_close,
    possible_moment,
    stacked_starts,
    windows_of_leases,
)

T0 = datetime(2031, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SPAN = 60
"""Minutes in which all uses lie."""

gaps = st.integers(1, 20).map(lambda each: each * MINUTE)


def window(start: int, end: int) -> Interval:
    return Interval(T0 + start * MINUTE, T0 + end * MINUTE)


def use(window: Interval, units: int) -> Use:
    return Use(
        lease_id="a",
        user_id=None,
        resource_type="t",
        resource_id=ResourceId("r"),
        window=window,
        units=units,
    )


windows = st.tuples(st.integers(0, SPAN - 1), st.integers(1, 30)).map(
    lambda each: window(each[0], min(SPAN, each[0] + each[1]))
)
uses = st.builds(replace, st.builds(use, windows, st.integers(1, 3)), lease_id=st.sampled_from("abc"))
some_uses = st.lists(uses, max_size=5)
periods = st.none() | gaps


def minutes_used(given_uses: Sequence[Use], now: int) -> list[int]:
    """Return the unit minutes in each minute, which is decisive at whole minutes only."""
    return [
        sum(each.units for each in given_uses if each.window.contains(T0 + minute * MINUTE))
        if minute >= now
        else 0
        for minute in range(2 * SPAN)
    ]


def sums(given_uses: Sequence[Use], period: timedelta | None, now: int) -> list[int]:
    """Return the unit minutes in all periods from now on that begin at a whole minute."""
    used, length = minutes_used(given_uses, now), 2 * SPAN if period is None else period // MINUTE
    return [sum(used[begin : begin + length]) for begin in range(now, 2 * SPAN)]


class TestDistances:
    @given(windows, windows, gaps)
    def test_far_enough_apart_or_one_in_the_other(
        self, one: Interval, other: Interval, gap: timedelta
    ) -> None:
        between = max(one.start, other.start) - min(one.end, other.end)
        is_nested = one.covers(other) or other.covers(one)

        assert is_too_close(one, other, gap) == (not is_nested and between < gap)
        assert is_too_close(one, other, gap) == is_too_close(other, one, gap)

    @given(windows, windows, gaps)
    def test_blocked_starts_are_those_that_are_too_close(
        self, asked: Interval, other: Interval, gap: timedelta
    ) -> None:
        blocked = [*blocked_starts(asked.duration, other, gap)]

        for minute in range(-SPAN, 2 * SPAN):
            start = T0 + minute * MINUTE
            is_close = is_too_close(Interval(start, start + asked.duration), other, gap)
            assert is_close == any(low < start < high for low, high in blocked)

    @given(windows, st.lists(windows, max_size=4), gaps)
    def test_the_earliest_start(self, asked: Interval, others: list[Interval], gap: timedelta) -> None:
        found = earliest_start(asked, others, gap)

        minute = 0
        while any(
            is_too_close(Interval(asked.start + minute * MINUTE, asked.end + minute * MINUTE), other, gap)
            for other in others
        ):
            minute += 1
        assert found == asked.start + minute * MINUTE

    def test_times_that_cannot_be_told_are_no_problem(self) -> None:
        forever = Interval(T0, datetime.max.replace(tzinfo=UTC))

        assert [*blocked_starts(forever.duration, forever, timedelta(days=9))]
        assert not is_too_close(forever, forever, timedelta(days=9))

    @given(some_uses)
    def test_all_uses_of_a_lease_are_one(self, found: list[Use]) -> None:
        merged = windows_of_leases(found)

        for lease_id in {each.lease_id for each in found}:
            own = [each.window for each in found if each.lease_id == lease_id]
            assert Interval(min(each.start for each in own), max(each.end for each in own)) in merged
        assert len(merged) <= 3


class TestHours:
    # The period with the most begins right after the fifth minute, when it has as much as before.
    @example([use(window(0, 8), 2)], [use(window(0, 11), 1)], 0, 6 * MINUTE, 0)
    @given(some_uses, some_uses, st.integers(0, 60), periods, st.integers(0, SPAN))
    def test_an_excess_that_grows(
        self, old: list[Use], new: list[Use], most: int, period: timedelta | None, now: int
    ) -> None:
        """Limits are counted in hours; one unit minute is a sixtieth of one."""
        before, after = (sums(each, period, now) for each in (old, new))
        if period is None:
            before, after = before[:1], after[:1]

        found = excess_of(old, new, most / 60, period, T0 + now * MINUTE)

        worse = [new for old, new in zip(before, after, strict=True) if new > most and new > old]
        if worse:
            assert found is not None
            # The period with the most may begin at a moment that is not permitted itself.
            assert found[1] * 60 >= max(worse) - 0.01
        elif found is not None:
            # A period between two whole minutes can have more than both; never by a whole minute of units.
            assert period is not None
            assert found[1] * 60 > most
            assert found[1] * 60 - max(after) < 15

    @given(some_uses, uses, st.integers(0, 90), periods)
    def test_starts_at_which_one_more_is_too_much(
        self, found: list[Use], more: Use, most: int, period: timedelta | None
    ) -> None:
        minutes = range(SPAN)
        starts = 60.0 * np.array(minutes, np.float64)

        refused = stacked_starts(found, starts, more, most / 60, period, T0)

        for minute in minutes:
            start = T0 + minute * MINUTE
            moved = Use(
                lease_id="new",
                user_id=None,
                resource_type="t",
                resource_id=ResourceId("r"),
                window=Interval(start, start + more.window.duration),
                units=more.units,
            )
            excess = excess_of(found, [*found, moved], most / 60, period, T0)
            base = 0 if period is None else max(sums(found, period, 0), default=0)
            if base <= most:  # otherwise, periods that the new use does not touch have too much
                assert bool(refused[minute]) == (excess is not None)

    @given(some_uses, uses, st.integers(0, 60), periods)
    def test_the_moment_from_which_it_is_permitted(
        self, found: list[Use], more: Use, most: int, period: timedelta | None
    ) -> None:
        after, latest = [*found, more], more.window.start

        moment = possible_moment(found, after, most / 60, period, T0, latest)

        instants = [T0 + minute * MINUTE for minute in range((latest - T0) // MINUTE + 1)]
        allowed = [each for each in instants if excess_of(found, after, most / 60, period, each) is None]
        if latest > T0:
            assert moment == (allowed[0] if allowed else None)
            assert allowed == instants[len(instants) - len(allowed) :]
