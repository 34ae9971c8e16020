"""Free slots over time, against brute force: every minute is examined on its own, as a request would be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from domain.test_start_times import BOOKINGS, HOSTS, OTHER, SLOT, STARTS, Held, make_index, units_at
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.busy_times import Minutes, Steps
from blazar.domain.capacity import Demand
from blazar.domain.need import Need
from blazar.domain.slot_times import SlotTimes
from blazar.domain.start_times import Starts

GROUPS = st.lists(st.integers(-1, 1), min_size=HOSTS, max_size=HOSTS)


def numbers_at_minutes(steps: Steps, count: int) -> list[int]:
    """Return the number of each minute."""
    which = np.searchsorted(steps.minutes, np.arange(count), side="right") - 1
    found: list[int] = steps.numbers[0][which].tolist()
    return found


@given(BOOKINGS, st.sampled_from([SLOT, OTHER]), STARTS, GROUPS)
def test_the_slots_of_all_minutes_are_those_of_each_minute(
    held: Sequence[Held], demand: Demand, starts: Starts, groups: Sequence[int]
) -> None:
    index = make_index(held)
    minutes = Minutes(
        first=starts.first,
        count=max(1, starts.count),
        begun=starts.begun,
        cleaning=starts.cleaning,
        now=starts.now,
    )
    group_of = np.array(groups)

    times = SlotTimes.read(index.bookings, index.inventories(), group_of >= 0, demand, minutes)
    totals, steps = times.totals(group_of, 2), times.count_busy(group_of, 2)

    single = Starts(
        first=minutes.first, count=minutes.count, duration=1, cleaning=minutes.cleaning, now=minutes.now
    )
    need = Need(least=1, most=100, demand=demand)
    for group in (0, 1):
        hosts = [each for each in range(HOSTS) if groups[each] == group]
        expected = [units_at(index, need, single, number, hosts) for number in range(minutes.count)]
        busy = numbers_at_minutes(steps[group], minutes.count)
        free = [totals[group] - each for each in busy]
        # A choice assumes that what is overdue stays throughout the reservation and the cleaning after it.
        assert all(each >= least for each, least in zip(free, expected, strict=True))
        assert free[minutes.begun :] == expected[minutes.begun :]
