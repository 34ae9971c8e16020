"""Free amounts of resource classes over time, against brute force: every minute is summed on its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from domain.test_slot_times import numbers_at_minutes
from domain.test_start_times import BOOKINGS, HOSTS, STARTS, Held, make_index
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.amount_times import AmountTimes
from blazar.domain.busy_times import Minutes
from blazar.domain.instants import EPOCH
from blazar.domain.start_times import Starts

MINUTE = timedelta(minutes=1)
CLASSES = ("VCPU", "MEMORY_MB", "CUSTOM_UNKNOWN")
GROUPS = st.lists(st.integers(-1, 1), min_size=HOSTS, max_size=HOSTS)


def used_at(each: Held, number: int, minutes: Minutes, name: str, capacity: int) -> int:
    """Return the amount that a booking takes at a minute."""
    booking = each.booking(0)
    end = booking.window.end
    if booking.released_at is not None:
        end = max(end, booking.released_at)
    minute = EPOCH + (minutes.first + number) * MINUTE
    cleaning = minutes.cleaning * MINUTE
    overlaps = booking.window.start - cleaning < minute + MINUTE and minute < end + cleaning
    is_late = booking.released_at is None and end <= minutes.now and number < minutes.begun
    if not overlaps and not is_late:
        return 0
    return capacity if each.share is None else each.share.slots * dict(each.share.demand.amounts).get(name, 0)


@given(BOOKINGS, STARTS, GROUPS, st.sampled_from(CLASSES))
def test_the_amounts_of_all_minutes_are_those_of_each_minute(
    held: Sequence[Held], starts: Starts, groups: Sequence[int], name: str
) -> None:
    index, group_of = make_index(held), np.array(groups)
    held = [each for each in held if each.fate != "removed"]
    minutes = Minutes(
        first=starts.first,
        count=max(1, starts.count),
        begun=starts.begun,
        cleaning=starts.cleaning,
        now=starts.now,
    )
    capacities = {each: index.inventories().total(each) for each in CLASSES}

    times = AmountTimes.read(index.bookings, capacities, group_of >= 0, minutes).changes()
    totals, steps = times.totals(name, group_of, 2), times.count_busy(name, group_of, 2)

    for group in (0, 1):
        hosts = [each for each in range(HOSTS) if groups[each] == group]
        own = {host: int(capacities[name][host]) for host in hosts}
        assert totals[group] == sum(own.values())
        assert numbers_at_minutes(steps[group], minutes.count) == [
            sum(
                min(
                    own[host],
                    sum(
                        used_at(each, number, minutes, name, own[host]) for each in held if each.host == host
                    ),
                )
                for host in hosts
            )
            for number in range(minutes.count)
        ]


def test_no_groups() -> None:
    index = make_index([])
    minutes = Minutes(first=0, count=1, begun=0, cleaning=0, now=EPOCH)

    times = AmountTimes.read(index.bookings, {}, np.zeros(HOSTS, np.bool_), minutes).changes()

    assert times.count_busy("VCPU", np.full(HOSTS, -1), 0) == ()
