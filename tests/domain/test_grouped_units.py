"""Free units with a grouping by start, and even distributions, against brute force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
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

from blazar.domain.availability import Availability, Resource
from blazar.domain.funnel import count_units
from blazar.domain.grouped_units import distribute, grouped_profile, most_spread, part_of
from blazar.domain.grouping import Grouping
from blazar.domain.lease import ResourceId
from blazar.domain.need import Need
from blazar.domain.requirements import Requirement
from blazar.domain.start_times import Starts

RACKS = st.lists(st.sampled_from(["r1", "r2", "r3", None]), min_size=HOSTS, max_size=HOSTS)
GROUPINGS = st.sampled_from(
    [Grouping(same="rack"), Grouping(spread="rack"), Grouping(same="kind", spread="rack")]
)


def named_index(held: Sequence[Held], racks: Sequence[str | None]) -> Availability:
    """Return an index of hosts in racks; those with an even number are of one kind."""
    index = make_index(held)
    for number, rack in enumerate(racks):
        key = ResourceId(str(number))
        facts: Mapping[str, str] = {"kind": str(number % 2), **({} if rack is None else {"rack": rack})}
        bookings = [each.booking(place) for place, each in enumerate(held) if each.host == number]
        index.put(
            Resource(id=key, generation=2, is_reservable=True, facts=facts, providers=TREES[0]), bookings
        )
    return index


def units_by_definition(
    index: Availability, need: Need, starts: Starts, start: int, racks: Sequence[str | None], asked: Grouping
) -> int:
    """Return the most units with a grouping at one start, from the units of each host alone."""
    hosts = [_units_of(index, need, starts, start, number) for number in range(HOSTS)]
    best = 0
    for kind in ([0, 2], [1, 3]) if asked.same == "kind" else ([0, 1, 2, 3],):
        used = {racks[each] for each in kind} - {None}
        units = [[hosts[each] for each in kind if racks[each] == rack] for rack in used]
        if asked.same == "rack":
            best = max([best, *(max(each) if need.is_together else sum(each) for each in units)])
        elif used:
            limit = -(-need.most // len(used))
            best = max(best, sum(min(limit, sum(each)) for each in units))
    return best


def _units_of(index: Availability, need: Need, starts: Starts, start: int, number: int) -> int:
    cleaning = starts.cleaning * MINUTE
    alone = part_of(index, index.mask_of([ResourceId(str(number))]))
    slots = count_units(alone, need, starts.window(start), starts.now, cleaning)
    if need.is_together:
        return need.most if slots >= need.least else 0
    return slots


@given(BOOKINGS, NEEDS, STARTS, RACKS, GROUPINGS)
def test_the_units_of_all_starts_are_those_of_each_start(
    held: list[Held], need: Need, starts: Starts, racks: list[str | None], asked: Grouping
) -> None:
    if asked.spread is not None or need.demand is None:
        need = replace(need, is_together=False)
    index = named_index(held, racks)

    profile = grouped_profile(index, need, starts, asked)

    expected = [
        units_by_definition(index, need, starts, number, racks, asked) for number in range(starts.count)
    ]
    check_units(profile, need, starts, expected)
    increases = np.flatnonzero(np.diff(profile.units) > 0) + 1
    assert profile.releases[increases].all()


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
