"""Free units with a grouping by start, and even distributions, against brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from domain.test_start_times import (
    BOOKINGS,
    HOSTS,
    MINUTE,
    NEEDS,
    STARTS,
    TREES,
    Held,
    check_units,
    make_index,
)
from hypothesis import given
from hypothesis import strategies as st
from samples import at

from blazar.domain import grouped_times
from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Bookings
from blazar.domain.funnel import count_units
from blazar.domain.grouped_times import GroupedTimes
from blazar.domain.grouped_units import distribute, most_spread, part_of
from blazar.domain.grouping import Grouping
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.need import Need
from blazar.domain.requirements import Requirement
from blazar.domain.start_times import Starts

RACKS = st.lists(st.sampled_from(["r1", "r2", "r3", None]), min_size=HOSTS, max_size=HOSTS)
GROUPINGS = st.sampled_from(
    [
        Grouping(same="rack"),
        Grouping(spread="rack"),
        Grouping(same="name"),
        Grouping(spread="name"),
        Grouping(same="kind", spread="rack"),
        Grouping(same="rack", spread="kind"),
        Grouping(same="rack", spread="name"),
    ]
)


def facts_of(number: int, rack: str | None) -> Mapping[str, str]:
    return {"kind": str(number % 2), "name": f"h{number}", **({} if rack is None else {"rack": rack})}


def named_index(held: Sequence[Held], racks: Sequence[str | None]) -> Availability:
    """Return an index of hosts in racks; those with an even number are of one kind."""
    index = make_index(held)
    for number, rack in enumerate(racks):
        key = ResourceId(str(number))
        bookings = [each.booking(place) for place, each in enumerate(held) if each.host == number]
        facts = facts_of(number, rack)
        index.put(
            Resource(id=key, generation=2, is_reservable=True, facts=facts, providers=TREES[0]), bookings
        )
    return index


def units_by_definition(
    index: Availability, need: Need, starts: Starts, start: int, racks: Sequence[str | None], asked: Grouping
) -> int:
    """Return the most units with a grouping at one start, from the units of each host alone."""
    units = [_units_of(index, need, starts, start, number) for number in range(HOSTS)]
    facts = [facts_of(number, rack) for number, rack in enumerate(racks)]
    hosts = [number for number in range(HOSTS) if all(key in facts[number] for key in asked.keys)]
    best = 0
    for value in {facts[each].get(asked.same or "") for each in hosts}:
        same = [each for each in hosts if facts[each].get(asked.same or "") == value]
        spread = {facts[each].get(asked.spread or "") for each in same}
        limit = -(-need.most // len(spread)) if asked.spread else None
        found = 0
        for other in spread:
            own = [units[each] for each in same if facts[each].get(asked.spread or "") == other]
            total = max(own) if need.is_together else sum(own)
            found += total if limit is None else min(limit, total)
        best = max(best, found)
    return best


def _units_of(index: Availability, need: Need, starts: Starts, start: int, number: int) -> int:
    cleaning = starts.cleaning * MINUTE
    alone = part_of(index, index.mask_of([ResourceId(str(number))]))
    slots = count_units(alone, need, starts.window(start), starts.now, cleaning)
    if need.is_together:
        return need.most if slots >= need.least else 0
    return slots


@given(BOOKINGS, NEEDS, STARTS, RACKS, GROUPINGS, st.sampled_from([1, 2**20]))
def test_the_units_of_all_starts_are_those_of_each_start(
    held: list[Held], need: Need, starts: Starts, racks: list[str | None], asked: Grouping, at_once: int
) -> None:
    if asked.spread is not None or need.demand is None:
        need = replace(need, is_together=False)
    index = named_index(held, racks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped_times, "_AT_ONCE", at_once)
        profile = GroupedTimes.read(index, need, starts, asked).profile()

    expected = [
        units_by_definition(index, need, starts, number, racks, asked) for number in range(starts.count)
    ]
    check_units(profile, need, starts, expected)
    increases = np.flatnonzero(np.diff(profile.units) > 0) + 1
    assert profile.releases[increases].all()


def _counted(calls: Counter[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **keys: Any) -> Any:
        calls[name] += 1
        return function(*arguments, **keys)

    return call


@pytest.mark.parametrize("asked", [Grouping(same="name"), Grouping(spread="name")])
@pytest.mark.parametrize("hosts", [3, 60])
def test_the_bookings_of_all_values_are_read_and_counted_once(
    monkeypatch: pytest.MonkeyPatch, asked: Grouping, hosts: int
) -> None:
    index = Availability()
    for number in range(hosts):
        facts = {"name": f"h{number}"}
        host = Resource(id=ResourceId(str(number)), generation=1, is_reservable=True, facts=facts)
        index.put(host, [Held(number, 2, 3, None, None).booking(number)])
    calls = Counter[str]()
    for owner, name in ((Bookings, "sorted_rows"), (Availability, "profile"), (grouped_times, "merged")):
        monkeypatch.setattr(owner, name, _counted(calls, name, getattr(owner, name)))

    span = Interval(at(0), at(0) + 10 * MINUTE)
    starts = Starts.within(span, MINUTE, now=at(0), cleaning_time=0 * MINUTE)
    found = GroupedTimes.read(index, Need(least=1, most=1), starts, asked).profile()

    free = 1 if asked.same else hosts
    assert found.units.tolist() == [free, free, 0, 0, 0, free, free, free, free, free]
    assert calls == {"sorted_rows": 1, "merged": 1}


AMOUNTS = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(AMOUNTS, st.integers(1, 6), st.integers(0, 4))
def test_most_spread_is_the_largest_number_within_its_own_limit(
    available: list[int], least: int, more: int
) -> None:
    possible = [
        units
        for units in range(least, least + more + 1)
        if sum(min(each, -(-units // len(available))) for each in available) >= units
    ]

    found = most_spread(np.array(available), Need(least=least, most=least + more))

    assert found == max(possible, default=0)


@given(AMOUNTS, st.data())
def test_a_distribution_is_as_even_as_possible(available: list[int], data: st.DataObject) -> None:
    units = data.draw(st.integers(0, sum(available)))
    nothing = np.zeros(len(available), np.int64)

    found = distribute(units, np.array(available), nothing, nothing).tolist()

    assert sum(found) == units
    assert all(each <= most for each, most in zip(found, available, strict=True))
    highest = max(found)
    for each, most in zip(found, available, strict=True):
        assert each >= highest - 1 or each == most


def test_a_part_of_a_part_has_what_both_have() -> None:
    index = named_index([], ["r1", "r1", "r2", None])
    masks = [index.mask_of(ResourceId(each) for each in ids) for ids in ("012", "123")]

    part = part_of(part_of(index, masks[0]), masks[1])

    assert np.flatnonzero(part.matching(Requirement())).tolist() == [1, 2]
    assert np.flatnonzero(index.matching(Requirement())).tolist() == [0, 1, 2, 3]
